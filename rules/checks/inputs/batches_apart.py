"""A loss takes the examples of two batches of different sizes, each cut by its own number of rows."""

from __future__ import annotations

from collections.abc import Iterator

from converter.analysis.values import Input
from converter.diagnostics import Diagnostic
from converter.planner.batch_size.fed.row_counts_alike import inputs_with_other_row_counts, unsure
from converter.planner.cases import Placed
from converter.planner.checking import check
from converter.planner.wording import finding

CODES = ("TMG342",)


@check(Placed)
def batches_apart(case: Placed) -> Iterator[Diagnostic]:
    """Losses behind which inputs lie that a run feeds different numbers of rows, or may feed them."""
    doubtful = unsure(case.facts) if case.regions else frozenset()
    for region in case.regions:
        unlike = inputs_with_other_row_counts(case.facts, region.needed.values())
        for step in case.steps:
            inputs = [value for value in step.loss.roots if isinstance(value, Input)]
            pairs = [(a, b) for a in inputs for b in inputs if a.uid < b.uid]
            known = next((pair for pair in pairs if (pair[0].uid, pair[1].uid) in unlike), None)
            pair = known or next((pair for pair in pairs if (pair[0].uid, pair[1].uid) in doubtful), None)
            if pair is not None and step.loss.uid in region.needed and region.in_tower(step.loss.site):
                first, second = map(_called, pair)
                key = "TMG342 known" if known else "TMG342 unsure"
                yield finding(case.facts, step.call, key, first=first, second=second)
                break


def _called(value: Input) -> str:
    line = getattr(value.node, "lineno", None)
    return value.label or (f"the input of line {line}" if line else "an input")
