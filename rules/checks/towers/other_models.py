"""Models that the same training step trains, and that are built beside the towers."""

from __future__ import annotations

from collections.abc import Iterator

from converter.analysis.values import Tensor
from converter.diagnostics import Diagnostic
from converter.planner.cases import Placed
from converter.planner.checking import check
from converter.planner.steps import executions, is_run
from converter.planner.wording import finding

CODES = ("TMG277",)


@check(Placed)
def beside_the_towers(case: Placed) -> Iterator[Diagnostic]:
    """Models whose loss no statement of the towers computes a part of."""
    regions = [group.region for group in case.groups]
    run = any(is_run(step) for step in case.steps)
    for step in executions(case.facts, case.steps):
        parts = [v for v in step.behind.values() if isinstance(v, Tensor) and v.site is not None]
        batched = step not in case.steps and step.loss.batch.kind != "free" and is_run(step) >= run
        if not batched or any(r.in_any_tower(v.site) or v.node in r.inline for v in parts if v.site for r in regions):
            continue
        chain = [site.stmt for site in step.site.chain()]
        yield finding(case.facts, chain[1] if len(chain) > 1 else step.call, "TMG277")
