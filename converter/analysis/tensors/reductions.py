"""Means, sums and other reductions, over the batch axis or over other axes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from converter.analysis.reasons import Why
from converter.analysis.tensors.algebra import is_shared_out, not_linear
from converter.analysis.tensors.moving import axis_numbers, positive
from converter.analysis.values import (
    Batch,
    How,
    Lengths,
    Number,
    Sequence,
    Tensor,
    Value,
    opaque,
)

if TYPE_CHECKING:
    pass


def reduce(tensor: Tensor, axis: Value | None, how: How, keep: bool, why: Why = Why.NEITHER, about: str = "") -> Tensor:
    """reduce_mean, reduce_sum and their like; `how` is "other" for those that are neither."""
    axes = axis_numbers(axis)
    batch = tensor.batch
    inputs = (tensor,) if axis is None else (tensor, axis)
    if batch.kind in ("free", "opaque"):
        return Tensor(batch, inputs, _reduced(tensor.lengths, axes, keep), "reduce")
    if batch.kind == "reduced":
        kept = batch if how in ("mean", "sum") or tensor.rank == 0 else not_linear(batch)
        return Tensor(kept, inputs, _reduced(tensor.lengths, axes, keep), "reduce")
    if isinstance(axes, str) and _begin_behind(axis, batch.axis):
        return Tensor(batch, inputs, None, "reduce")
    if isinstance(axes, str):
        return Tensor(opaque(Why.AXIS, "a reduction"), inputs, None, "reduce")
    front = None if axes is None else [positive(a, tensor.rank, batch.axis) for a in axes]
    dims = _reduced(tensor.lengths, axes, keep)
    if front is None or batch.axis in front:
        over = batch.over if how == "mean" else None
        if how == "sum" and is_shared_out(tensor):
            how = "mean"
        result = Batch("reduced", how=how, why=why, about=about, over=over)
        if batch.packed == "minor" and front is not None and len(front) == 1 and how != "mean":
            result = Batch("reduced", how=how, why=why, about=about)
        return Tensor(result, inputs, dims, "reduce")
    shift = 0 if keep else sum(1 for a in front if a is not None and 0 <= a < batch.axis)
    return Tensor(replace(batch, axis=batch.axis - shift), inputs, dims, "reduce")


def _begin_behind(axes: Value | None, batch_axis: int) -> bool:
    """True if the axes are all axes behind the batch axis: `range(1, x.shape.ndims)`."""
    turns = axes.elements if isinstance(axes, Sequence) and axes.many else []
    begins = {e.inputs[0] if isinstance(e, Number) and e.value is None and len(e.inputs) == 2 else e for e in turns}
    return bool(begins) and all(
        isinstance(b, Number) and isinstance(b.value, int) and b.value > batch_axis for b in begins
    )


def _reduced(dims: Lengths, axes: tuple[int, ...] | None | str, keep: bool) -> Lengths:
    if isinstance(axes, str):
        return None
    if axes is None:
        return () if not keep else None if dims is None else (1,) * len(dims)
    if dims is None:
        return None
    gone = {a % len(dims) for a in axes if -len(dims) <= a < len(dims)}
    return tuple(1 if i in gone else d for i, d in enumerate(dims) if keep or i not in gone)
