"""What the analysis finds in a small script, as plain data."""

from __future__ import annotations

import ast
from textwrap import dedent

from converter.analysis import read_facts
from converter.analysis.facts import Facts
from converter.analysis.values import Batch, Constant, Host, Mapping, Number, Sequence, Tensor, Value
from converter.options import Options

HEAD = "import tensorflow as tf\n"


def facts_of(script: str, options: Options | None = None) -> Facts:
    """The facts of a script, of which the import of TensorFlow is left out."""
    return read_facts("script.py", ast.parse(HEAD + dedent(script)), options or Options())


def value_of(script: str, name: str = "result") -> Value:
    """What a name stands for at the end of a script."""
    return facts_of(script).module.locals[name]


def batch(value: Batch) -> str:
    """A batch in a word or two: "free", "example 0", "mean", "sum", "other", "opaque"."""
    if value.kind == "reduced":
        return value.how
    return f"example {value.axis}" if value.kind == "example" else value.kind


def shown(value: Value) -> object:
    """A value as plain data: tensors as their batches, what is not known as "?"."""
    if isinstance(value, Tensor):
        return batch(value.batch)
    if isinstance(value, (Constant, Number)):
        return "?" if isinstance(value, Number) and value.value is None else value.value
    if isinstance(value, Sequence):
        return [*map(shown, value.elements), *(["..."] if value.many else [])]
    if isinstance(value, Mapping):
        return {shown(key): shown(part) for key, part in value.pairs}
    return f"host {value.call}".strip() if isinstance(value, Host) else type(value).__name__


def inputs(facts: Facts) -> dict[str, str]:
    """Each input by its name in the script, with where its batch lies."""
    return {value.label: batch(value.batch) for value in facts.inputs}


def effects(facts: Facts) -> list[str]:
    """The kinds of effects, in their order, without the ones that most scripts have."""
    return [effect.kind.name for effect in facts.effects if effect.kind.name not in ("UNFOLLOWED", "ESCAPE")]
