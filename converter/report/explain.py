"""A rule as text."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from converter.rule import Rule

_WIDTH = 88
_DOES = {
    "conversion": "The pattern is converted.",
    "refusal": "The file is refused: nothing is written, and the exit status is 2.",
    "warning": "The file is converted, with a warning that leaves something to decide.",
    "input": "A finding about the file itself.",
}


def explain(rule: Rule) -> str:
    """A rule under the headings What it does, Why, Before, After, References; empty ones are left out."""
    does = f"{rule.title[:1].upper()}{rule.title[1:]}. {_DOES[rule.kind]}"
    sections = (
        ("What it does", textwrap.fill(does, _WIDTH)),
        ("Why", textwrap.fill(rule.reason, _WIDTH)),
        ("Before", rule.before),
        ("After", rule.after),
        ("References", "\n".join(rule.references)),
    )
    shown = [f"{title}\n{textwrap.indent(body.rstrip(), '    ')}\n" for title, body in sections if body]
    return "\n".join([f"{rule.code}: {rule.title}\n", *shown])


def table(rules: Sequence[Rule]) -> str:
    """Code, kind and title of every rule, one a line."""
    return "\n".join(f"{rule.code}  {rule.kind:<10}  {rule.title}" for rule in rules)
