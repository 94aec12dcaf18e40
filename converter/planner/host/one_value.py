"""Warnings of constants for whose written value alone a conversion holds."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from converter.analysis.facts import Facts
from converter.analysis.flow.constants import Constant
from converter.diagnostics import Diagnostic
from converter.planner.outcome import Refused
from converter.planner.plan_faults import PlanFault
from converter.planner.wording import finding


def one_value(facts: Facts, kept: Mapping[Constant, object]) -> Iterator[Diagnostic]:
    """One warning for each of these constants; kept: with the outcome if both branches are followed."""
    said = set()
    for node, taken in facts.decided.items():
        for stmt in sorted(taken.constants, key=lambda stmt: stmt.lineno):
            constant = facts.constants[stmt]
            if constant not in kept or constant in said or not taken.matters(node):
                continue
            said.add(constant)
            outcome, written, at = kept[constant], ast.unparse(stmt), node.test.lineno
            if isinstance(outcome, Refused):
                code, line = outcome.findings[0].code, outcome.findings[0].line
                yield finding(facts, stmt, PlanFault.ONE_VALUE_REFUSED, written=written, at=at, code=code, line=line)
            else:
                yield finding(facts, stmt, PlanFault.ONE_VALUE_SHARED, written=written, at=at)
