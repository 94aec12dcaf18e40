"""A session of another file, or of a caller, keeps its configuration."""

from __future__ import annotations

from collections.abc import Iterator

from converter.diagnostics import Diagnostic
from converter.planner.cases import Placed
from converter.planner.checking import check
from converter.planner.wording import finding

CODES = ("TMG306", "TMG351")


@check(Placed)
def session_of_a_caller(case: Placed) -> Iterator[Diagnostic]:
    """A session that is handed to the code that trains."""
    if case.facts.sessions or not case.facts.runs:
        return
    run = next(iter(case.facts.runs_of(case.steps)), None)
    if run is not None:
        yield finding(case.facts, run.call, "TMG351")


@check(Placed)
def sessions_left(case: Placed) -> Iterator[Diagnostic]:
    """Sessions in files that may not change."""
    for session in case.facts.sessions if not case.sources.several else ():
        if case.facts.path_of(session.call):
            yield finding(case.facts, session.call, "TMG306")
