"""A session of another file, or of a caller, keeps its configuration."""

from __future__ import annotations

from collections.abc import Iterator

from converter.diagnostics import Diagnostic
from converter.planner.cases import Placed
from converter.planner.checking import check
from converter.planner.writing.findings import warn

CODES = ("TMG306", "TMG351")


@check(Placed)
def session_of_a_caller(case: Placed) -> Iterator[Diagnostic]:
    """A session that is handed to the code that trains."""
    if case.facts.sessions or not case.facts.runs:
        return
    run = next(iter(case.facts.runs_of(case.steps)), None)
    if run is not None:
        yield warn(
            case.facts,
            run.call,
            "TMG351",
            "the session of this training step is made by other code, and keeps its configuration",
            "give it tf.ConfigProto(allow_soft_placement=True) where it is made",
        )


@check(Placed)
def sessions_left(case: Placed) -> Iterator[Diagnostic]:
    """Sessions in files that may not change."""
    for session in case.facts.sessions if not case.sources.several else ():
        if case.facts.path_of(session.call):
            yield warn(
                case.facts,
                session.call,
                "TMG306",
                "this session in another file keeps its configuration",
                "give it allow_soft_placement=True, or convert with --output-dir or --in-place",
            )
