"""Lengths that are set against the number of examples: they are as many as these, wherever they come from."""

from __future__ import annotations

from collections.abc import Iterator

from converter.analysis.tensors.algebra import as_tensor
from converter.analysis.traits import Trait, has
from converter.analysis.values import Sequence, Tensor, Told, Value, tensors_in


def equated(tensor: Tensor) -> Iterator[Told]:
    """The lengths that the script says, and that an operation sets against the number of its examples.

    Its result has the length that its operands share along the examples' axis. What goes beside the examples without
    being combined with them (labels, states, conditions) has one row for each.
    """
    rows = [t for value in tensor.inputs for t in tensors_in(value) if t.roots and t.batch.kind == "example"]
    beside = has(tensor.op, Trait.BESIDE_ROWS) and not _is_along_another_axis(tensor)
    along = [t for value in tensor.inputs for t in _made_without_input(value) if beside or has(t.op, Trait.HAS_DEFAULT)]
    lengths = [t.lengths[0] for t in map(_by_default, along) if t.lengths]
    axis = tensor.batch.axis if tensor.batch.kind == "example" else 0
    if tensor.batch.kind in ("example", "opaque"):
        lengths += (tensor.lengths or ())[axis : axis + 1]
    known = {id(length) for row in rows for length in row.lengths or ()}
    yield from (length for length in lengths if rows and isinstance(length, Told) and id(length) not in known)


def _is_along_another_axis(tensor: Tensor) -> bool:
    """Whether a call says that it goes along another axis than that of the rows."""
    axes = [keyword.value for keyword in getattr(tensor.node, "keywords", ()) if keyword.arg == "axis"]
    return any(getattr(axis, "value", None) != 0 for axis in axes)


def _made_without_input(value: Value) -> Iterator[Tensor]:
    """The tensors of a value that are made without an input, through tuples of states."""
    parts = value.elements if isinstance(value, Sequence) and any(tensors_in(value)) else [value]
    tensors = (t for part in parts for t in (tensors_in(part) if isinstance(part, Sequence) else [as_tensor(part)]))
    yield from (t for t in tensors if not t.roots)


def _by_default(tensor: Tensor) -> Tensor:
    """What a placeholder is that is not fed."""
    return as_tensor(tensor.inputs[0]) if has(tensor.op, Trait.HAS_DEFAULT) and tensor.inputs else tensor
