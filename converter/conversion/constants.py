"""Constants that conditions rest on, such as `use_crf = True`: a conversion should hold for their other values too.

A script with such constants is read twice: as it stands, and with its constants like flags, so that both branches of
their conditions are followed. Where that leads to a refusal, or to a batch that the towers must share, conditions
take the value that is written, and a warning says so.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from converter.conversion.reading import Reading

if TYPE_CHECKING:
    from converter.analysis.facts import Facts
    from converter.analysis.flow.constants import Constant
    from converter.planner.outcome import Refused
    from converter.planner.passes import Decided

    Outcome = tuple[Decided | Refused, Reading]

MOST = 8  # constants that are tried one by one


def with_constants(first: Reading, decided: Callable[[Reading], Outcome]) -> Outcome:
    """The plans of a script, for as many values of its constants as can be; decided: makes the plans of a reading."""
    from converter.planner.host.one_value import one_value
    from converter.planner.passes import Decided

    best = decided(first)
    constants = list(_that_matter(best[1].facts))
    if not isinstance(best[0], Decided) or not constants:
        return best
    made = decided(first.with_constants(constants))
    if _is_as_good(made, best):
        return made
    opened: set[Constant] = set()
    kept = dict.fromkeys(constants, made)
    for constant in constants if 1 < len(constants) <= MOST else ():
        made = decided(first.with_constants({*opened, constant}))
        if _is_as_good(made, best):
            best = made
            opened.add(constant)
            del kept[constant]
        else:
            kept[constant] = made
    plans, read = best
    assert isinstance(plans, Decided)
    warnings = one_value(read.facts, {key: outcome for key, (outcome, _) in kept.items()})
    return replace(plans, findings=(*plans.findings, *warnings)), read


def _that_matter(facts: Facts) -> dict[Constant, None]:
    """The constants that decide what is built, bound or run."""
    stmts = [stmt for node, taken in facts.decided.items() if taken.matters(node) for stmt in taken.constants]
    return {facts.constants[stmt]: None for stmt in sorted(stmts, key=lambda stmt: stmt.lineno)}


def _is_as_good(made: Outcome, before: Outcome) -> bool:
    """Whether there are plans, and they do not share the batch where those before did not."""
    from converter.planner.passes import Decided

    plans, others = made[0], before[0]
    if not isinstance(plans, Decided) or not isinstance(others, Decided):
        return False
    return plans.plans[0].options.batch == others.plans[0].options.batch
