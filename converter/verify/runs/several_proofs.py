"""Several proofs of the same two scripts: for other numbers of towers, and for each choice of the command line.

`verify --whole` is all of it: every step, whole runs, another number of towers and each choice, as far as the time
allows.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from converter.dataclass import dataclass
from converter.verify.checks.figures import listing
from converter.verify.data import CheckResult, LedgerLine, Progress, Report, VerifyError, VerifySettings
from converter.verify.ledger import NUMBERS
from converter.verify.processes.interpreters import Interpreters, opened
from converter.verify.run import command_line, verify
from converter.verify.runs.flags import CHOICES, choices_of

MOST = 24  # choices that are run
FIRST = 0.75  # of the time, at most, for the first of several proofs
STEPS = 3  # that each further proof of `--whole` compares


@dataclass(frozen=True)
class _Proof:
    """One more proof. name: of its check; place: `file:line` of the flag whose choice it is, "" for other towers."""

    name: str
    settings: VerifySettings
    place: str = ""

    @property
    def topic(self) -> str:
        """What it belongs to in the ledger."""
        return CHOICES if self.place else NUMBERS


@dataclass(frozen=True)
class _Done:
    """A proof with its check, and the verdict that counts for the whole."""

    proof: _Proof
    check: CheckResult
    verdict: str


def verify_more(
    single: Path,
    multi: Path,
    settings: VerifySettings,
    tell: Callable[[Progress], None] | None = None,
    pool: Interpreters | None = None,
) -> Report:
    """The report with the settings as given, and one more check for each number of towers and each choice.

    All of them share the settings' time. A choice with which the original itself comes to no training step, because its
    data are missing or it only tests, says nothing of the conversion: it is reported, as is one that the time is too
    short for. A proof that cannot be made for another reason makes the whole not comparable.
    """
    until = time.monotonic() + settings.timeout
    first = replace(settings, timeout=settings.timeout * FIRST, steps="all") if settings.whole else settings
    with opened(pool) as interpreters:
        report = verify(single, multi, first, None, tell, interpreters)
        proofs = list(_proofs(single, settings, report))
        done: list[_Done] = []
        for proof in proofs[:MOST] if report.checks else ():
            left = until - time.monotonic()
            if left <= 1:
                break
            asked = replace(proof.settings, timeout=left)
            try:
                found = verify(single, multi, asked, None, None, interpreters)
            except VerifyError as problem:
                found = Report("not comparable", str(problem), asked.gpus or report.gpus, report.batch, 0)
            done.append(_done(proof, found))
    report = _concluded(report, done, proofs, settings)
    report = replace(report, command=command_line(single, multi, settings))
    return replace(report, reason=_reach(report, done, proofs)) if settings.whole else report


def _proofs(single: Path, settings: VerifySettings, report: Report) -> Iterator[_Proof]:
    """The further proofs, in the order in which they are made."""
    like = replace(settings, also=(), whole=False, each_choice=False, more_gpus=())
    like = replace(like, steps=STEPS, epochs=0) if settings.whole else like
    for gpus in settings.more_gpus or ((report.gpus + 1,) if settings.whole else ()):
        yield _Proof(f"with {gpus} tower{'' if gpus == 1 else 's'}", replace(like, gpus=gpus))
    if settings.whole and report.gpus > 1 and report.batch == "per-gpu" and 1 not in settings.more_gpus:
        yield _Proof("with 1 tower", replace(like, gpus=1, steps="all"))  # which does all that the original does
    if single.suffix == ".ipynb" or not (settings.each_choice or settings.whole):
        return  # a notebook has no command line
    for choice in choices_of(single, settings.args):
        asked = replace(like, args=(*settings.args, *choice.args), constants=choice.constants)
        yield _Proof(choice.name, asked, choice.place)


def _done(proof: _Proof, found: Report) -> _Done:
    """What a further proof comes to; one that says nothing of the conversion does not count against it."""
    open_ = (found.untrained and proof.place) or found.late
    status, reason = found.status, found.reason
    if status == "failed" and proof.place:
        reason += f" ({proof.place})"
    elif status == "skipped" and found.untrained and proof.place:
        reason = f"the original itself does not train with it: {reason}"
    elif status == "passed" and proof.settings.steps == "all":
        left = [check.detail for check in found.checks if check.name == "whole run" and check.status != "passed"]
        status, reason = ("skipped", f"its whole run is not compared: {left[0]}") if left else (status, reason)
    return _Done(proof, CheckResult(proof.name, status, reason), "passed" if open_ else found.verdict)


def _concluded(report: Report, done: Sequence[_Done], proofs: Sequence[_Proof], settings: VerifySettings) -> Report:
    failed = [one.check for one in done if one.check.status == "failed"]
    open_ = [one.check for one in done if one.verdict == "not comparable"]
    verdict, reason = report.verdict, report.reason
    if failed and verdict != "failed":
        verdict, reason = "failed", f"{failed[0].name}: {failed[0].detail}"
    elif open_ and verdict == "passed":
        verdict, reason = "not comparable", f"{open_[0].name}: {open_[0].detail}"
    topics = {CHOICES} if settings.each_choice or settings.whole else set()
    topics |= {NUMBERS} if any(proof.topic == NUMBERS for proof in proofs) else set()
    return replace(
        report,
        verdict=verdict,
        reason=reason,
        checks=(*report.checks, *(one.check for one in done)),
        ledger=(
            *(entry for entry in report.ledger if entry.what not in topics),
            *_entries(report, done, proofs, topics),
        ),
    )


def _entries(report: Report, done: Sequence[_Done], proofs: Sequence[_Proof], topics: set[str]) -> Iterator[LedgerLine]:
    for topic in (NUMBERS, CHOICES):
        same = [one.check.name for one in done if one.check.status == "passed" and one.proof.topic == topic]
        of = sum(proof.topic == topic for proof in proofs)
        if same:
            yield LedgerLine("same", topic, f"{len(same)} of {of}: {', '.join(same)}")
    for one in done:
        if one.check.status != "passed":
            yield one.check.entry()
    for proof in proofs[len(done) :]:
        why = "the time is up (--timeout)" if len(done) < MOST else f"only {MOST} choices are run"
        yield LedgerLine("unchecked", proof.name, f"{why} ({proof.place})" if proof.place else why)
    if CHOICES in topics:
        detail = (
            "each was made alone, and two flags together that one branch asks for: what others do together, and "
            "values that no branch names, was not run"
        )
        found = any(proof.place for proof in proofs)
        yield LedgerLine("unchecked", CHOICES, detail if found else "no flag with a choice was found")
    if NUMBERS in topics:
        ran = [report.gpus, *(one.proof.settings.gpus for one in done if one.proof.topic == NUMBERS)]
        detail = f"{listing(map(str, ran), len(ran))} towers were run: what holds for another number shows with --gpus"
        yield LedgerLine("unchecked", NUMBERS, detail)


def _reach(report: Report, done: Sequence[_Done], proofs: Sequence[_Proof]) -> str:
    """The reason of a whole proof: what was reached, and what the time was too short for."""
    if report.verdict != "passed":
        return report.reason
    all_steps = any(entry.what == "all steps" for entry in report.ledger)
    whole = [check for check in report.checks if check.name in ("whole run", "after the epochs")]
    parts = {
        "all steps": all_steps,
        "whole runs": [(check.name, check.status) for check in whole] == [("whole run", "passed")],
        **{one.proof.name: one.check.status == "passed" for one in done},
        **dict.fromkeys((proof.name for proof in proofs[len(done) :]), False),
    }
    reached, left = ([name for name, is_so in parts.items() if is_so == wanted] for wanted in (True, False))
    words = f"; reached: {listing(reached, len(reached))}" if reached else ""
    return report.reason + words + (f"; not: {listing(left, len(left))}" if left else "")
