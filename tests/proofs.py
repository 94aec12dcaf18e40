"""What a proof of a few steps leaves open, as its report says: what the whole run, its end, or chance decide."""

from __future__ import annotations

from pathlib import Path

from converter.conversion import convert
from converter.options import Options
from converter.source import read
from converter.verify import CheckResult, Report, VerifySettings, verify

# Checks that say by themselves when they could not look: nothing was fed or drawn alike, nothing was
# clipped, the script was ended before.
BEYOND_THE_STEPS = frozenset(
    {
        "data",
        "data of evaluations",
        "an epoch's end",
        "beside the steps",
        "changed gradients",
        "printed values",
        "initial values",
    }
)


def skipped(report: Report) -> set[str]:
    """The checks of the steps themselves that were not made.

    Where the weights after the steps depend on the last digits of the first ones, as now and then with
    Adam and unseeded initial weights, no two runs of the original agree: that is the script, not the proof.
    """
    left = {check.name for check in report.checks if check.status == "skipped" and not _by_chance(check)}
    return left - BEYOND_THE_STEPS


def _by_chance(check: CheckResult) -> bool:
    return check.name == "weights" and check.detail.startswith("the original itself ends")


def proof_of(
    single: Path, python: str, folder: Path, options: Options, change: tuple[str, str] = ("", ""), epochs: int = 0
) -> Report:
    """The verification of a script's conversion, in which a text may be changed."""
    conversion = convert(read(str(single)), options)
    assert conversion.text is not None and change[0] in conversion.text
    (folder / "multi.py").write_text(conversion.text.replace(*change) if change[0] else conversion.text)
    return verify(single, folder / "multi.py", VerifySettings(python=python, epochs=epochs))


def verdict_of(
    text: str, python: str, folder: Path, options: Options, change: tuple[str, str] = ("", ""), epochs: int = 0
) -> str:
    """What verify says of a conversion, in which a text may be changed, and what fails."""
    (folder / "single.py").write_text(text)
    report = proof_of(folder / "single.py", python, folder, options, change, epochs)
    failed = [check.name for check in report.checks if check.status == "failed"]
    return " ".join([report.verdict, *failed[:1]])
