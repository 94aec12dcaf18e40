"""Constants that conditions rest on, such as `use_crf = True`: a conversion should hold for their other values too.

A script with such constants is read twice: as it stands, and with its constants like flags, so that both branches of
their conditions are followed. Where that leads to a refusal, or to a batch that the towers must share, conditions
take the value that is written, and a warning says so.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from converter.conversion.reading import Reading
from converter.diagnostics import Diagnostic

if TYPE_CHECKING:
    from converter.planner.outcome import Refused
    from converter.planner.passes import Decided

    Outcome = tuple[Decided | Refused, Reading]

MOST = 8  # constants that are tried one by one


def with_constants(first: Reading, decided: Callable[[Reading], Outcome]) -> Outcome:
    """The plans of a script, for as many values of its constants as can be; decided: makes the plans of a reading."""
    from converter.planner.passes import Decided

    best = decided(first)
    facts = best[1].facts
    constants = [facts.constants[stmt] for stmt in facts.decided]
    if not isinstance(best[0], Decided) or not constants:
        return best
    made = decided(first.with_constants(constants))
    if _is_as_good(made, best):
        return made
    opened: set[tuple[str, str, str]] = set()
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
    warnings = _warnings(read, {key: outcome for key, (outcome, _) in kept.items()})
    return replace(plans, findings=(*plans.findings, *warnings)), read


def _is_as_good(made: Outcome, before: Outcome) -> bool:
    """Whether there are plans, and they do not share the batch where those before did not."""
    from converter.planner.passes import Decided

    plans, others = made[0], before[0]
    if not isinstance(plans, Decided) or not isinstance(others, Decided):
        return False
    return plans.plans[0].options.batch == others.plans[0].options.batch


def _warnings(read: Reading, kept: dict[tuple[str, str, str], Decided | Refused]) -> Iterator[Diagnostic]:
    """That conditions take the written value of these constants, and what hinders following both branches."""
    from converter.planner.found import Found
    from converter.planner.outcome import Refused
    from converter.planner.wording import finding

    facts = read.facts
    for stmt, test in facts.decided.items():
        outcome = kept.get(facts.constants[stmt])
        if outcome is None or not isinstance(stmt, ast.Assign):
            continue
        written = ast.unparse(stmt)
        if isinstance(outcome, Refused):
            code, line = outcome.findings[0].code, outcome.findings[0].line
            yield finding(facts, stmt, Found.ONE_VALUE_REFUSED, written=written, at=test.lineno, code=code, line=line)
        else:
            yield finding(facts, stmt, Found.ONE_VALUE_SHARED, written=written, at=test.lineno)
