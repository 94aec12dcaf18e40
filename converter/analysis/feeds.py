"""Tells batches from settings by what is fed to placeholders that do not say."""

from __future__ import annotations

import ast

from converter.analysis.facts import Facts
from converter.analysis.values import Host, Input, Sequence, Tensor, Value, needed
from converter.options import Options

Decisions = dict[ast.AST, int | None]  # expression -> batch axis, None: shared


ARITHMETIC = ("add", "subtract", "multiply", "divide", "pow", "mod")
ARRAYS = ("images", "labels", "data", "target", "targets", "values", "reshape", "astype", "array", "asarray", "copy",
          "transpose", "loadtxt", "genfromtxt", "load", "toarray", "flatten", "ravel", "get", "x", "y")  # fmt: skip


def fed_tensors(facts: Facts) -> Decisions:
    """Tensors that are fed though they are no placeholders: batches enter the graph there."""
    found: Decisions = {}
    trained = {step.result.uid for step in facts.train_steps}
    for run in facts.runs:
        if not run.feeds or not trained & set(needed(run.fetches)):
            continue
        for key, _ in run.feeds:
            if (
                isinstance(key, Tensor)
                and not isinstance(key, Input)
                and key.batch.kind == "example"
                and key.node is not None
            ):
                found[key.node] = key.batch.axis
    return found


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
        where = value.node
        if where is None:
            continue
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
    if isinstance(value, Sequence):
        return bool(value.elements)
    if not isinstance(value, Host) or is_one_example(value):
        return False
    name = value.call.rpartition(".")[2].lower()
    if value.call == "[]":
        return any(isinstance(v, Host) and v.call in ("slice", "[]") or _is_batch(v) for v in value.inputs[1:])
    if value.call in ARITHMETIC:
        return any(_is_batch(v) for v in value.inputs)
    if "batch" in name or name in ARRAYS or value.call.startswith(("numpy.", "sklearn.", "pandas.", "scipy.")):
        return True
    return value.call == "item" and any(_is_batch(v) for v in value.inputs)
