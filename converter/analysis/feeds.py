"""Tells batches from settings by what is fed to placeholders that do not say."""

from __future__ import annotations

from converter.analysis.facts import Facts
from converter.analysis.values import Constant, Host, Input, Number, Sequence, Value
from converter.options import Options

Decisions = dict[tuple[int, int], int | None]  # a placeholder's line and column -> batch axis, None: shared


def decide_inputs(facts: Facts, options: Options) -> Decisions:
    """For each placeholder that is to be read in another way than the walk did: its batch axis, or None."""
    decisions: Decisions = {}
    fed: dict[int, list[Value]] = {}
    for run in facts.runs:
        for key, value in run.feeds:
            fed.setdefault(key.uid, []).append(value)
    axes = dict(options.batch_axes)
    asked = False
    for value in facts.inputs:
        where = (getattr(value.node, "lineno", 0), getattr(value.node, "col_offset", 0))
        if value.label in options.shared:
            decisions[where], asked = None, True
        elif value.label in axes:
            decisions[where], asked = axes[value.label], True
        elif value.ambiguous and any(_is_batch(v) for v in fed.get(value.uid, ())) and not value.dims:
            decisions[where], asked = 0, True
        elif value.ambiguous:
            decisions[where] = None
    return decisions if asked else {}


def _is_batch(value: Value) -> bool:
    """Whether what is fed comes out of a data set, and not out of a number."""
    if isinstance(value, (Number, Constant)):
        return False
    if isinstance(value, Host):
        return value.call in ("[]", "slice", "item", "next_batch") or bool(value.inputs)
    return isinstance(value, Sequence) and bool(value.elements) and any(_is_batch(e) for e in value.elements)
