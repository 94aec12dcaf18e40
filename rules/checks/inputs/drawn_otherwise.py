"""Random draws on the host whose number changes with the batch size, if the batch grows."""

from __future__ import annotations

from converter.planner.cases import Placed
from converter.planner.checking import each
from converter.planner.host.random_draws import drawn_from_buffers, shuffled_batches

CODES = ("TMG347", "TMG348")

shuffled = each(Placed, "TMG347", lambda case: shuffled_batches(case.facts, case.size.scaled), batch="per-gpu")
drawn = each(Placed, "TMG348", lambda case: drawn_from_buffers(case.facts, case.size.scaled), batch="per-gpu")
