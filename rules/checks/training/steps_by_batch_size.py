"""A number of steps is divided by a batch size that grows."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from converter.planner.batch_size.intervals import divided_steps
from converter.planner.cases import Placed
from converter.planner.checking import each

CODES = ("TMG387",)


def _ratios(case: Placed) -> Iterable[ast.AST]:
    return divided_steps(case.facts, case.regions, case.steps, case.size.scaled)


steps_by_batch_size = each(Placed, "TMG387", _ratios, batch="per-gpu")
