"""A rule as text."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from converter.rule import Rule

_WIDTH = 88


def explain(rule: Rule) -> str:
    """A rule under the headings What it does, Why, Before, After, References; empty ones are left out."""
    sections = (
        ("What it does", _filled(rule.does)),
        ("Why", _filled(rule.reason)),
        ("Before", rule.before),
        ("After", rule.after),
        ("References", "\n".join(rule.references)),
    )
    shown = [f"{title}\n{textwrap.indent(body.rstrip(), '    ')}\n" for title, body in sections if body]
    return "\n".join([f"{rule.code}: {rule.title}\n", *shown])


def _filled(text: str) -> str:
    """A paragraph whose options and paths stay whole."""
    return textwrap.fill(text, _WIDTH, break_on_hyphens=False, break_long_words=False)


def table(rules: Sequence[Rule]) -> str:
    """Code, kind and title of every rule, one a line."""
    return "\n".join(f"{rule.code}  {rule.kind:<10}  {rule.title}" for rule in rules)
