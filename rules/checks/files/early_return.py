"""Another script may return early from the function that builds the model."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from converter.diagnostics import Diagnostic
from converter.planner.cases import Shared
from converter.planner.checking import check
from converter.planner.questions.statements import returns
from converter.planner.region.region import Region
from converter.planner.writing.findings import at_user

CODES = ("TMG263",)


@check(Shared)
def returns_in_front_of_the_loss(case: Shared) -> Iterator[Diagnostic]:
    """Other scripts that import a model which may return early, before statements that cannot keep their order."""
    ends = [s for region in case.regions for stmts in region.behind.values() for s in stmts if returns(s)]
    ends += [stmt for region in case.regions for stmt in _moved_up(region) if returns(stmt)]
    if ends and case.users:
        where = f"{case.facts.shown(ends[0])}:{ends[0].lineno}"
        yield at_user(
            case.facts,
            case.users[0],
            "TMG263",
            f"it imports the model, which may return at {where}, in front of the loss",
            "return after the loss there, or give this script a function of its own",
        )


def _moved_up(region: Region) -> list[ast.stmt]:
    """Statements that stand in front of the loop, and stood behind some of the towers' statements."""
    return [region.block.body[i] for i in sorted(region.before) if i > min(region.tower)]
