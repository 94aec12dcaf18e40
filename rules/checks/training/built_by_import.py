"""Models that statements at the top of an imported module build: a module is executed once, and no tower after it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from converter.analysis.values import Tensor
from converter.diagnostics import Diagnostic
from converter.planner.cases import Placed
from converter.planner.checking import check
from converter.planner.wording import finding

CODES = ("TMG214",)


@check(Placed)
def imported_in_towers(case: Placed) -> Iterator[Diagnostic]:
    """Imports among the statements of the towers which make tensors of the batch that the loss needs."""
    for region in case.regions:
        made = [v for v in region.needed.values() if isinstance(v, Tensor) and v.batch.kind != "free"]
        building = {region.block.statement(tensor.site) for tensor in made}
        for index in sorted(region.tower):
            stmt = region.block.body[index]
            if index in building and isinstance(stmt, (ast.Import, ast.ImportFrom)):
                module = getattr(stmt, "module", None) or stmt.names[0].name
                yield finding(case.facts, stmt, "TMG214 built_by_import", module=module)
