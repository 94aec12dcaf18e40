"""Paths outside of the scripts' folders that several runs change: such runs disturb each other at the same time.

A script that empties `/tmp/logs` and makes it anew does so in each run of a verification. Where one of the runs fails
and others have changed the same paths, both scripts run again, one after the other: what remains is no race.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace

from converter.verify.checks.figures import Facts, listing
from converter.verify.data import CheckResult, LedgerLine, Report
from converter.verify.runs.converted_alone import NAME as BARE

FILES = "files that both scripts use"


def shared(told: Iterable[Facts | None]) -> tuple[str, ...]:
    """The paths that two runs or more have changed, or tried to.

    told: what each run said of paths outside (child/tmgprobe/process/outside.py); None of one that was ended before it
        could: it is taken to do what the others do.
    """
    runs = [None if one is None else {*one.get("paths", ()), *one.get("tried", ())} for one in told]
    known = [paths for paths in runs if paths is not None]
    if None in runs:
        return tuple(sorted(set().union(*known)))
    found = set()
    for place, paths in enumerate(known):
        others = [f"{other}{os.sep}" for several in known[:place] + known[place + 1 :] for other in several]
        for path in paths:  # the same, or one lies within the other
            own = f"{path}{os.sep}"
            found |= {path} if any(own.startswith(other) or other.startswith(own) for other in others) else set()
    return tuple(sorted(found))


def with_paths(report: Report, paths: Sequence[str]) -> Report:
    """The report of scripts that ran one after the other because of these paths.

    An error that names such a path is no fault of the conversion: an earlier run left something there.
    """
    names = listing(dict.fromkeys(paths), 3)
    why = f"{names}, outside of the scripts' folders, is changed by both"
    said = f"{why}: they ran again, one after the other"
    report = replace(report, notes=(*report.notes, said), ledger=(*report.ledger, LedgerLine("unchecked", FILES, said)))
    if report.verdict == "passed":
        return report
    checks = tuple(_left_open(check, paths) for check in report.checks)
    failed = [check.detail for check in checks if check.status == "failed"]
    if failed or not any(path in report.reason for path in paths):
        return replace(report, checks=checks, reason="; ".join(dict.fromkeys(failed[:3])) or report.reason)
    return replace(report, verdict="not comparable", checks=checks, reason=f"{report.reason} ({why})")


def _left_open(check: CheckResult, paths: Sequence[str]) -> CheckResult:
    """A check of the run by itself that fails because of files that earlier runs have left."""
    if check.name == BARE and check.status == "failed" and any(path in check.detail for path in paths):
        return replace(check, status="skipped", detail=f"{check.detail}, which other runs change, too")
    return check
