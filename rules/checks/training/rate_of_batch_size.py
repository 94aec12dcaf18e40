"""The script computes its learning rate from the batch size."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from converter.analysis.counts.degrees import degree_in
from converter.analysis.counts.reading import SIZE, GraphTermReader
from converter.analysis.traits import Trait, has
from converter.analysis.values import Number, Tensor, Value
from converter.diagnostics import Diagnostic
from converter.planner.cases import Placed
from converter.planner.checking import check
from converter.planner.wording import finding

CODES = ("TMG341",)

FACTORS = {
    Fraction(1): "N times as large",
    Fraction(-1): "1/N of what it was",
    Fraction(1, 2): "sqrt(N) times as large",
    Fraction(-1, 2): "1/sqrt(N) of what it was",
}


@check(Placed, batch="per-gpu")
def rate_of_batch_size(case: Placed) -> Iterator[Diagnostic]:
    """Optimizers whose learning rate follows a batch size that grows. Says so once for each."""
    reading = GraphTermReader(frozenset(case.size.scaled), lambda _: None)
    for call, rate in {site.call: site.value for site in case.facts.rates}.items():
        if rate is None or (isinstance(rate, Tensor) and any(region.in_tower(rate.site) for region in case.regions)):
            continue  # one that a tower computes counts the rows of its share
        terms = reading.of(_at_first(rate))
        if not any(atom == SIZE for monomial, _ in terms for atom, _ in monomial):
            continue  # nor where it only decides, by a number of steps, which of several rates it is
        factor = FACTORS.get(degree_in(terms) or Fraction(0), "another one")
        yield finding(case.facts, call, "TMG341", factor=factor)


def _at_first(rate: Value) -> Value:
    """The learning rate that a schedule begins with; any other rate as it is."""
    given = rate.operands if isinstance(rate, Tensor) and has(rate.op, Trait.SCHEDULES) else ()
    return given[0] if given and isinstance(given[0], (Number, Tensor)) else rate
