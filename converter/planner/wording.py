"""Findings of passes and checks: they name a message, which stands on the page of its code in `rules.checks`."""

from __future__ import annotations

import ast

from converter.analysis.facts import Facts
from converter.diagnostics import Diagnostic, Refusal
from converter.planner.plan_faults import PlanFault
from converter.planner.writing.findings import at_node
from converter.rule import Message, message


def finding(facts: Facts, node: ast.AST, case: PlanFault | str, **about: object) -> Diagnostic:
    """The finding for a case at a node.

    case: what a pass found; a check names a message by its code, with the message's name where the page has several:
    "TMG341", "TMG207 counts_rows". about: the fields of the message.
    """
    said = message_for(case)
    return at_node(facts, node, said.code, *said.of(about), said.severity)


def refuse(facts: Facts, node: ast.AST, case: PlanFault, **about: object) -> Refusal:
    """The finding as an exception, which ends the planning of the current value or loop."""
    return Refusal(finding(facts, node, case, **about))


def message_for(case: PlanFault | str) -> Message:
    """The message of a case, or by its key."""
    return message(case.name if isinstance(case, PlanFault) else case)
