"""Random draws on the host whose number changes with the batch size."""

from __future__ import annotations

from collections.abc import Iterator

from converter.diagnostics import Diagnostic
from converter.planner.cases import Placed
from converter.planner.checking import check
from converter.planner.host.random_draws import drawn_from_buffers, shuffled_batches
from converter.planner.writing.findings import warn

CODES = ("TMG347", "TMG348")

DRAWS = (  # what finds them, with the code, the message and the hint
    (
        shuffled_batches,
        "TMG347",
        "whole batches are put into a random order here: larger ones are fewer, and come in another order from the "
        "same seed",
        "shuffle the examples, and cut them into batches then, if their order matters",
    ),
    (
        drawn_from_buffers,
        "TMG348",
        "a step draws N times as many rows here from what the script collects: not those that N steps would draw, "
        "and there must be as many before the first step",
        "collect N times as many before the first step, and between steps, where the ratio of both matters",
    ),
)


@check(Placed)
def drawn(case: Placed) -> Iterator[Diagnostic]:
    """Batches in a random order, and rows drawn from what the script collects, if the batch grows."""
    for found_by, code, message, hint in DRAWS if case.options.batch == "per-gpu" else ():
        for node in found_by(case.facts, case.size.scaled):
            yield warn(case.facts, node, code, message, hint)
