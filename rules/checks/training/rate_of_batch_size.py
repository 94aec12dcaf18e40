"""The script computes its learning rate from the batch size."""

from __future__ import annotations

from collections.abc import Iterator

from converter.analysis.values import Number
from converter.diagnostics import Diagnostic
from converter.planner.cases import Placed
from converter.planner.checking import check
from converter.planner.wording import finding

CODES = ("TMG341",)


@check(Placed, batch="per-gpu")
def rate_of_batch_size(case: Placed) -> Iterator[Diagnostic]:
    """Optimizers whose learning rate is a multiple of a batch size that grows. Says so once for each."""
    for call, rate in {site.call: site.value for site in case.facts.rates}.items():
        if isinstance(rate, Number) and rate.linear & case.size.scaled:
            yield finding(case.facts, call, "TMG341")
