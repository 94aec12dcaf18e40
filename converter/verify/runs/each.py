"""Verifies the conversion for each choice that the command line of the original offers."""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from converter.verify.data import Check, Entry, Progress, Report, Settings
from converter.verify.processes.interpreters import Interpreters, opened
from converter.verify.run import verify
from converter.verify.runs.flags import CHOICES, Choice, choices_of

MOST = 24  # choices that are run


def verify_each(
    single: Path,
    multi: Path,
    settings: Settings,
    tell: Callable[[Progress], None] | None = None,
    pool: Interpreters | None = None,
) -> Report:
    """The report with the arguments as given, and one more check for each choice: a run with that choice added.

    All of them share the settings' time. A choice with which the original itself comes to no training step, because its
    data are missing or it only tests, says nothing of the conversion: it is reported. One that cannot be compared for
    another reason makes the whole not comparable.
    """
    until = time.monotonic() + settings.timeout
    with opened(pool) as interpreters:
        report = verify(single, multi, settings, None, tell, interpreters)
        choices = choices_of(single, settings.args)
        checks: list[Check] = []
        verdicts: list[str] = []
        for choice in choices[:MOST]:
            left = until - time.monotonic()
            if left <= 1:
                break
            asked = replace(settings, args=(*settings.args, *choice.args), timeout=left, also=())
            found = verify(single, multi, asked, None, None, interpreters)
            checks.append(_check(choice, found))
            verdicts.append("passed" if found.untrained else found.verdict)
    return _concluded(report, checks, verdicts, choices)


def _name(choice: Choice) -> str:
    return f"with {shlex.join(choice.args)}"


def _check(choice: Choice, found: Report) -> Check:
    if found.verdict == "passed":
        return Check(_name(choice), "passed", found.reason)
    if found.verdict == "failed":
        return Check(_name(choice), "failed", f"{found.reason} ({choice.place})")
    if found.untrained:
        return Check(_name(choice), "skipped", f"the original itself does not train with it: {found.reason}")
    return Check(_name(choice), "skipped", found.reason)


def _concluded(report: Report, checks: list[Check], verdicts: Sequence[str], choices: tuple[Choice, ...]) -> Report:
    failed = [check for check in checks if check.status == "failed"]
    open_ = [check for check, verdict in zip(checks, verdicts, strict=True) if verdict == "not comparable"]
    verdict, reason = report.verdict, report.reason
    if failed and verdict != "failed":
        verdict, reason = "failed", f"{failed[0].name}: {failed[0].detail}"
    elif open_ and verdict == "passed":
        verdict, reason = "not comparable", f"{open_[0].name}: {open_[0].detail}"
    return replace(
        report,
        verdict=verdict,
        reason=reason,
        checks=(*report.checks, *checks),
        ledger=(*(entry for entry in report.ledger if entry.what != CHOICES), *_entries(checks, choices)),
        command=report.command.replace("tf-multigpu verify", "tf-multigpu verify --each-choice", 1),
    )


def _entries(checks: list[Check], choices: tuple[Choice, ...]) -> Iterator[Entry]:
    same = [check.name for check in checks if check.status == "passed"]
    if same:
        yield Entry("same", CHOICES, f"{len(same)} of {len(choices)}: {', '.join(same)}")
    for check in checks:
        if check.status != "passed":
            yield Entry("wrong" if check.status == "failed" else "unchecked", check.name, check.detail)
    for choice in choices[len(checks) :]:
        why = "the time is up" if len(checks) < MOST else f"only {MOST} choices are run"
        yield Entry("unchecked", _name(choice), f"{why} ({choice.place})")
    detail = "each was made alone: what two of them do together, and values that no branch names, was not run"
    yield Entry("unchecked", CHOICES, detail if choices else "no flag with a choice was found")
