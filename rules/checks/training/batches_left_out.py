"""Larger batches take fewer rows of the data: a loop leaves out some of them, or equal parts do not divide the rows."""

from __future__ import annotations

from converter.planner.batch_size.epochs import batches_left_out, batches_that_fail
from converter.planner.batch_size.reshaped import in_equal_parts
from converter.planner.cases import Placed
from converter.planner.checking import each

CODES = ("TMG345",)

left_out = each(
    Placed,
    "TMG345 left_out",
    lambda case: dict.fromkeys(batches_left_out(case.size_reads)),
    batch="per-gpu",
)
failing = each(
    Placed, "TMG345 failing", lambda case: dict.fromkeys(batches_that_fail(case.size_reads)), batch="per-gpu"
)
equal = each(
    Placed,
    "TMG345 equal_parts",
    lambda case: dict.fromkeys(in_equal_parts(case.facts, case.size.scaled)),
    batch="per-gpu",
)
