"""Tensors without a batch that are made of the batch size, as `tf.constant(batch_size)` is."""

from __future__ import annotations

from collections.abc import Container

from converter.analysis.traits import Trait, has
from converter.analysis.values import Number, Sequence, Tensor, Value, Variable, needed


def is_made_of_size(value: Value, sizes: Container[tuple[object, ...]]) -> bool:
    """Whether a tensor without a batch takes a number that is, or is computed from, one of these batch sizes."""
    if not isinstance(value, Tensor) or value.batch.kind != "free":
        return False
    given = [v for i in value.inputs for v in (i, *(i.elements if isinstance(i, Sequence) else ()))]
    return any(isinstance(v, Number) and any(o.key in sizes for o in v.origins) for v in given)


def may_be_made_again(value: Value, sizes: Container[tuple[object, ...]]) -> bool:
    """Whether a tensor is computed from such tensors, all of which each tower may make for itself.

    One that is fed, or keeps its value, is the same in all towers.
    """
    if not isinstance(value, Tensor) or value.batch.kind != "free":
        return False
    behind = [v for v in needed([value]).values() if isinstance(v, Tensor) and is_made_of_size(v, sizes)]
    return bool(behind) and not any(isinstance(v, Variable) or has(v.op, Trait.HAS_DEFAULT) for v in behind)
