"""Attributes of tensors: their shapes, their names, and the parts of sparse ones."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from converter.analysis.call import Attribute
from converter.analysis.effects import EffectKind
from converter.analysis.reasons import Why
from converter.analysis.tensors.nests import may_be_nest, part_of
from converter.analysis.tensors.sparse import is_sparse
from converter.analysis.values import ShapeOf, Tensor, Value, opaque

if TYPE_CHECKING:
    from converter.analysis.walk import Walk


def _shape(walk: Walk, tensor: Tensor, node: ast.AST) -> Value:
    return ShapeOf(tensor)


def _name(walk: Walk, tensor: Tensor, node: ast.AST) -> None:
    walk.effect(EffectKind.GRAPH_NAME, "name", tensor, node)


def _operation(walk: Walk, tensor: Tensor, node: ast.AST) -> Value:
    walk.effect(EffectKind.GRAPH_NAME, "op", tensor, node)
    return Tensor(tensor.batch, (tensor,), tensor.lengths, "op")


def _values(walk: Walk, tensor: Tensor, node: ast.AST) -> Value:
    """The attribute `values` of IndexedSlices or of a sparse tensor."""
    if is_sparse(tensor):
        return Tensor(opaque(Why.SPARSE_ENTRIES), (tensor,), None, "values")
    return Tensor(tensor.batch, (tensor,), tensor.lengths, "values")


def _indices(walk: Walk, tensor: Tensor, node: ast.AST) -> Value | None:
    return Tensor(opaque(Why.SPARSE_ENTRIES), (tensor,), None, "indices") if is_sparse(tensor) else None


def _dense_shape(walk: Walk, tensor: Tensor, node: ast.AST) -> Value | None:
    return ShapeOf(tensor) if is_sparse(tensor) else None


def _like(op: str) -> Attribute:
    """The attribute is a tensor like the one that has it."""
    return lambda walk, tensor, node: Tensor(tensor.batch, (tensor,), tensor.lengths, op)


def _part(walk: Walk, tensor: Tensor, node: ast.AST) -> Value | None:
    """`state.c` of a cell that is not known: tensors by themselves have no such part."""
    return part_of(tensor) if may_be_nest(tensor) else None


ATTRIBUTES: dict[str, Attribute] = {
    "shape": _shape,
    "name": _name,
    "op": _operation,
    "values": _values,
    "indices": _indices,
    "dense_shape": _dense_shape,
    "initial_value": _like("initial_value"),
    "initialized_value": _like("initialized_value"),
    **dict.fromkeys(("c", "h", "cell_state"), _part),
}
