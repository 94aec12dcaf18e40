"""`tf.nest`: Python structures of tensors, such as the states of recurrent cells (python/util/nest.py, 1.15)."""

from __future__ import annotations

from collections.abc import Callable

from converter.analysis.call import Call, Handler
from converter.analysis.python.following import follow
from converter.analysis.rows import below, table
from converter.analysis.tensors.nests import may_be_nest, part_of
from converter.analysis.values import Constant, Host, Mapping, Number, Record, Sequence, Tensor, Value

MODULES = ("nest.", "contrib.framework.nest.", "python.util.nest.", "python.framework.nest.")


def _flatten(call: Call) -> Value:
    """The leaves of a structure in order, those of a dict in the order of its keys."""
    structure = call.get(0, "structure")
    leaves = _leaves(structure) if structure is not None else None
    if leaves is None:
        return Host(call.values(), call.name, call.node)
    many = isinstance(structure, Tensor) and may_be_nest(structure)
    return Sequence(leaves, mutable=True, many=many or (isinstance(structure, Sequence) and structure.many))


def _leaves(value: Value) -> list[Value] | None:
    """The leaves of a value; None where a part of it is not known."""
    parts = [value]
    if isinstance(value, Tensor):
        return [part_of(value), part_of(value)] if may_be_nest(value) else [value]
    if isinstance(value, Sequence):
        parts = value.elements
    elif isinstance(value, Mapping) and all(isinstance(key, Constant) for key, _ in value.pairs):
        parts = [part for _, part in sorted(value.pairs, key=lambda pair: str(getattr(pair[0], "value", "")))]
    elif isinstance(value, (Host, Mapping)):
        return None
    else:
        return parts
    found: list[Value] = []
    for part in parts:
        inner = _leaves(part)
        if inner is None:
            return None
        found += inner
    return found


def _map_structure(call: Call) -> Value:
    """A structure like the first one, of what the function gives for the leaves of all."""
    function, structures = call.get(0, "func"), call.args[1:]
    if function is None or not structures or not all(_is_like(structures[0], other) for other in structures):
        return Host(call.values(), call.name, call.node)
    return _mapped(lambda parts: follow(call, function, parts), structures)


def _mapped(function: Callable[[list[Value]], Value], structures: list[Value]) -> Value:
    first = structures[0]
    if isinstance(first, Sequence):
        each = [one.elements for one in structures if isinstance(one, Sequence)]
        elements = [_mapped(function, list(parts)) for parts in zip(*each, strict=True)]
        if isinstance(first, Record):
            return Record(first.fields, elements)
        return Sequence(elements, first.mutable, first.many)
    if isinstance(first, Mapping):
        rest = [one for one in structures if isinstance(one, Mapping)]
        return Mapping(
            [(key, _mapped(function, [part for one in rest if (part := one.get(key))])) for key, _ in first.pairs]
        )
    return function(structures)


def _is_like(one: Value, two: Value) -> bool:
    """Whether two structures have the same form, all of it known."""
    if isinstance(one, Sequence) and isinstance(two, Sequence):
        alike = len(one.elements) == len(two.elements) and one.many == two.many
        return alike and all(map(_is_like, one.elements, two.elements))
    if isinstance(one, Mapping) and isinstance(two, Mapping):
        known = all(isinstance(key, Constant) for key, _ in (*one.pairs, *two.pairs))
        alike = known and len(one.pairs) == len(two.pairs)
        return alike and all(_is_like(v, two.get(k) or Host()) for k, v in one.pairs)
    return isinstance(one, Tensor) and isinstance(two, Tensor) and not may_be_nest(one) and not may_be_nest(two)


def _pack(call: Call) -> Value:
    """A structure like the one that is given, with the leaves of a list in its places."""
    structure, given = call.get(0, "structure"), call.get(1, "flat_sequence")
    known = isinstance(given, Sequence) and not given.unmeasured
    if structure is None or not isinstance(given, Sequence) or not known or _form(structure) != len(given.elements):
        return Host(call.values(), call.name, call.node)
    leaves = iter(given.elements)
    return _mapped(lambda _: next(leaves), [structure])


def _form(structure: Value) -> int | None:
    """The number of leaves of a structure that is known to the end: a tensor, a number, or lists and tuples of them."""
    if isinstance(structure, Sequence):
        parts = [_form(part) for part in structure.elements]
        return None if structure.unmeasured or None in parts else sum(part for part in parts if part is not None)
    number = isinstance(structure, (Number, Constant))
    return 1 if number or (isinstance(structure, Tensor) and not may_be_nest(structure)) else None


CALLS: dict[str, Handler] = table(
    (below(MODULES, "flatten"), _flatten),
    (below(MODULES, "map_structure"), _map_structure),
    (below(MODULES, "pack_sequence_as"), _pack),
)
