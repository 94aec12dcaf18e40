"""Expressions that are read as inputs, or as settings, because of their feeds."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from converter.analysis.facts import OWN, SIZE
from converter.analysis.frames import Place
from converter.analysis.inputs.feeds import is_zero_state
from converter.analysis.tensors.sparse import PART
from converter.analysis.traits import Trait, has
from converter.analysis.values import (
    FED,
    FREE,
    Count,
    Input,
    Instance,
    Mapping,
    Number,
    Sequence,
    ShapeOf,
    Tensor,
    Value,
    needed,
    tensors_in,
)

if TYPE_CHECKING:
    from converter.analysis.walk import Walk


def decided(walk: Walk, value: Value, node: ast.expr) -> Value:
    """The value of an expression as the decisions of this walk have it, with where and when it was made.

    A tower's part of a placeholder stays that: they were taken for the whole one.
    """
    if node not in walk.decisions or (isinstance(value, Tensor) and value.op == PART):
        return walk.stamp(value, node)
    axis = walk.decisions[node]
    if axis == SIZE:
        return _fed_size(walk, value, node)
    if axis == OWN:
        return _own(walk, value, node)
    if isinstance(value, Tensor):
        value = with_axis(value, axis)
    elif isinstance(value, Sequence) and is_zero_state(node):
        value = _decided_nest(value, axis)
    elif isinstance(value, Sequence):
        for element in value.elements:  # what comes out of a queue together
            if isinstance(element, Input) and element.ambiguous:
                with_axis(element, axis)
    return walk.stamp(value, node)


def _own(walk: Walk, value: Value, node: ast.expr) -> Value:
    """An input, or all inputs that a call gives together, of which each tower has its own."""
    if isinstance(value, Tensor):
        value = with_axis(value, OWN)
    for part in tensors_in(value):
        if isinstance(part, Input):
            part.own()
    return walk.stamp(value, node)


def after_branches(walk: Walk, value: Value, stmt: ast.stmt) -> Value:
    """The value of a name after two branches: an input, or a list or dict of inputs, if the decisions say so."""
    if stmt in walk.decisions:
        value = _decided_join(value, walk.decisions[stmt])
    return joined_by(walk, value, stmt)


def _decided_join(value: Value, axis: int | None) -> Value:
    """A value that two branches made, with its tensors for inputs; what was there before them stays."""
    if value.site is not None:
        return value
    if isinstance(value, Tensor) and value.batch.kind == "example":
        return with_axis(value, axis)
    if isinstance(value, Sequence):
        value.elements = [_decided_join(element, axis) for element in value.elements]
    elif isinstance(value, Mapping):
        value.pairs = [(key, _decided_join(element, axis)) for key, element in value.pairs]
    return value


def joined_by(walk: Walk, value: Value, node: ast.AST) -> Value:
    """The value of several branches, or of several returns, is made where they meet: an object with what it holds."""
    parts = value.elements if isinstance(value, Sequence) and value.site is None else ()
    made = [v for v in (value, *parts) if isinstance(v, Instance) and v.site is None]
    walk.stamp(value, node)
    for one in made:  # one of two objects
        options = [option.attributes for option in one.inputs if isinstance(option, Instance)]
        for name, part in one.attributes.items():
            place = Place("attr", one.uid, name, holder=one)
            if len(options) == 2:
                walk.maybe(place, options[0].get(name), options[1].get(name), part)
            walk.write(place, part, node)
    return value


def _decided_nest(value: Sequence, axis: int | None) -> Sequence:
    """The state of a recurrent net that is fed: each of its tensors is an input."""
    elements: list[Value] = []
    for element in value.elements:
        if isinstance(element, Sequence):
            element = _decided_nest(element, axis)
        elif isinstance(element, Tensor):
            made = [element, *(t for v in element.inputs for t in tensors_in(v))]  # also the states of two cells
            size = [v for tensor in made for v in tensor.inputs if isinstance(v, Number)][:1]
            element = with_axis(element, axis)
            if isinstance(element, Input):
                element.shape = Sequence(size)
        elements.append(element)
    return Sequence(elements, value.mutable, value.many).like(value)


def _fed_size(walk: Walk, value: Value, node: ast.expr) -> Number:
    """A placeholder for the number of examples: a batch size that is known when the graph runs."""
    origins = frozenset((walk.origin(node, FED),))
    number = Number(None, origins, origins, (walk.stamp(value, node),))
    walk.facts.fed_sizes.append(number)
    walk.stamp(number, node)
    return number


def with_axis(value: Tensor, axis: int | None) -> Tensor:
    """A placeholder, or a tensor that is fed like one, with the batch axis that its feeds show."""
    if not isinstance(value, Input):
        fed = Input(FED, value.dims, _fixed_shape(value), "")
        fed.inputs, value = (value,), fed
    value.ambiguous = False
    if axis == OWN:
        value.own()
    elif axis is not None:
        value.shard(axis)
    else:
        value.batch, value.roots = FREE, frozenset()
    return value


def _fixed_shape(value: Tensor) -> Value | None:
    """The shape of the inputs that a tensor is made of, where it has their fixed number of rows; else None."""
    inputs = [root for root in value.roots if isinstance(root, Input)]
    measured = any(isinstance(v, (Count, ShapeOf)) for v in needed([value]).values())
    return inputs[0].shape if inputs and all(map(_is_fixed, inputs)) and not measured else None


def _is_fixed(value: Input) -> bool:
    """True if the input's number of rows is fixed: outputs of queues, and shapes without an open dimension."""
    entries = value.shape.elements if isinstance(value.shape, Sequence) else []
    rows = bool(entries) and isinstance(entries[0], Number) and entries[0].value != -1
    return rows and (has(value.op, Trait.FROM_QUEUE) or (value.dims is not None and None not in value.dims[1:]))
