"""Tells batches from settings by what is fed to placeholders that do not say."""

from __future__ import annotations

import ast

from converter.analysis.facts import Facts
from converter.analysis.values import Constant, Host, Input, Number, Sequence, Tensor, Value
from converter.options import Options

Decisions = dict[tuple[int, int, int, int], int | None]  # where an expression stands -> batch axis, None: shared


def fed_tensors(facts: Facts) -> Decisions:
    """Tensors that are fed though they are no placeholders: batches enter the graph there."""
    found: Decisions = {}
    for run in facts.runs:
        for key, _ in run.feeds:
            if isinstance(key, Tensor) and not isinstance(key, Input) and key.batch.kind == "example" and key.node is not None:
                found[position(key.node)] = key.batch.axis
    return found


def position(node: ast.AST) -> tuple[int, int, int, int]:
    return tuple(getattr(node, name, 0) or 0 for name in ("lineno", "col_offset", "end_lineno", "end_col_offset"))  # type: ignore[return-value]


def decide_inputs(facts: Facts, options: Options) -> Decisions:
    """For each placeholder that is to be read in another way than the walk did: its batch axis, or None."""
    decisions: Decisions = fed_tensors(facts)
    fed: dict[int, list[Value]] = {}
    for run in facts.runs:
        for key, value in run.feeds:
            fed.setdefault(key.uid, []).append(value)
    axes = dict(options.batch_axes)
    asked = bool(decisions)
    for value in facts.inputs:
        where = position(value.node) if value.node is not None else (0, 0, 0, 0)
        if value.label in options.shared:
            decisions[where], asked = None, True
        elif value.label in axes:
            decisions[where], asked = axes[value.label], True
        elif value.ambiguous and any(_is_batch(v) for v in fed.get(value.uid, ())) and not value.dims:
            decisions[where], asked = 0, True
        elif value.ambiguous:
            decisions[where] = None
    return decisions if asked else {}


def is_one_example(value: Value) -> bool:
    """Whether a fed value is what a loop over a data set gives: an example without a batch axis."""
    if not isinstance(value, Host) or value.call != "item":
        return False
    source = value.inputs[0] if value.inputs else None
    return not (isinstance(source, Host) and ("batch" in source.call.lower() or source.call in ("item", "run")))


def _is_batch(value: Value) -> bool:
    """Whether what is fed comes out of a data set, and not out of a number."""
    if isinstance(value, (Number, Constant)):
        return False
    if isinstance(value, Host):
        return not is_one_example(value) and (value.call in ("[]", "slice", "next_batch") or bool(value.inputs))
    return isinstance(value, Sequence) and bool(value.elements) and any(_is_batch(e) for e in value.elements)
