"""Messages for the cases that passes find: a pass names the case and its place, `rules.checks` has the message.

A file of `rules.checks` has them in `WORDS`, and the page of their code stands beside it.
"""

from __future__ import annotations

import ast
from functools import cache

from converter.analysis.facts import Facts
from converter.dataclass import dataclass
from converter.diagnostics import Diagnostic, Refusal, Severity
from converter.planner.plan_faults import PlanFault
from converter.planner.writing.findings import at_node
from converter.rule import rule_modules


@dataclass(frozen=True)
class Words:
    """The message and advice for a case.

    message: with {names} in place of what the pass says about the case. hint: the smallest edit that helps.
    severity: an error for a code of refusals, a warning for one of warnings, if nothing else is given.
    """

    code: str
    message: str
    hint: str
    severity: Severity | None = None


def finding(facts: Facts, node: ast.AST, case: PlanFault, **about: str | int) -> Diagnostic:
    """The finding for a case at a node; about: what its words name."""
    words = all_words()[case]
    severity = words.severity or ("error" if words.code.startswith("TMG2") else "warning")
    return at_node(facts, node, words.code, words.message.format(**about), words.hint.format(**about), severity)


def refuse(facts: Facts, node: ast.AST, case: PlanFault, **about: str | int) -> Refusal:
    """The finding as an exception, which ends the planning of the current value or loop."""
    return Refusal(finding(facts, node, case, **about))


@cache
def all_words() -> dict[PlanFault, Words]:
    """The words for every case, found by walking `rules.checks`."""
    known: dict[PlanFault, Words] = {}
    for module in rule_modules("checks"):
        for case, words in getattr(module, "WORDS", {}).items():
            if case in known:
                raise ValueError(f"worded twice: {case}")
            known[case] = words
    return known
