"""What names, attributes and items of containers stand for."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from converter.analysis.frames import Place
from converter.analysis.inputs.embedded_data import used_by_python
from converter.analysis.python.imports import canonical
from converter.analysis.tensors import moving, shaping
from converter.analysis.tensors.size_names import named_batch_size
from converter.analysis.tensors.sparse import is_sparse
from converter.analysis.tensors.windows import window
from converter.analysis.values import (
    LISTED,
    Absent,
    Bound,
    Choice,
    Class,
    Constant,
    Count,
    Function,
    Host,
    Input,
    Instance,
    Mapping,
    Module,
    Number,
    Record,
    Sequence,
    ShapeOf,
    Symbol,
    Tensor,
    Typed,
    Value,
    needed,
    opaque,
)

if TYPE_CHECKING:
    from converter.analysis.walk import Walk

SETTINGS = ("json.", "yaml.", "toml.", "configparser.", "ConfigParser.")  # modules that read files of settings


def _name(walk: Walk, node: ast.Name) -> Value:
    found = walk.frame.lookup(node.id)
    if found is None:
        return Symbol("builtins", node.id)
    frame, value = found
    walk.read(Place("name", frame.uid, node.id, frame=frame), value, node)
    return value


def _attribute(walk: Walk, node: ast.Attribute) -> Value:
    return get_attribute(walk, walk.evaluate(node.value), node.attr, node)


def get_attribute(walk: Walk, holder: Value, name: str, node: ast.AST) -> Value:
    """What `holder.name` stands for."""
    if isinstance(holder, Symbol):
        dotted = f"{holder.name}.{name}" if holder.name else name
        if holder.library == "tf" and canonical(dotted) == "app.flags.FLAGS":
            return walk.flags
        return Symbol(holder.library, canonical(dotted) if holder.library == "tf" else dotted)
    if isinstance(holder, Module):
        return _module_attribute(walk, holder, name, node)
    if isinstance(holder, Record) and (element := holder.field(name)) is not None:
        walk.read(Place("attr", holder.uid, name, holder=holder), element, node)
        return element
    if isinstance(holder, (Instance, Class, Typed)):
        value = _own_attribute(walk, holder, name, node)
        if value is not None:
            return value
    if isinstance(holder, (Count, Number)) and name == "value":
        return holder
    if isinstance(holder, Function) and name == "__name__":
        return Constant(holder.name)
    if isinstance(holder, Tensor) and name == "shape":
        return ShapeOf(holder)
    if isinstance(holder, Tensor) and name in ("op", "name"):
        walk.effect("graph name", name, holder, node)
    if isinstance(holder, Tensor) and is_sparse(holder):
        if name in ("values", "indices"):
            return Tensor(opaque("it has any number of entries for each row of a sparse tensor"), (holder,), None, name)
        if name == "dense_shape":
            return ShapeOf(holder)
    if isinstance(holder, Tensor) and name in ("values", "op", "initial_value", "initialized_value"):
        return Tensor(holder.batch, (holder,), holder.dims, name)
    if isinstance(holder, (Tensor, Sequence, Mapping, ShapeOf, Count, Constant, Bound)):
        return Bound(holder, name)
    used_by_python(walk, [holder], node)
    return _setting(walk, holder, name, node) or Host((holder,), name, node)


def _setting(walk: Walk, holder: Value, name: object, node: ast.AST) -> Value | None:
    """The batch size that a file of settings holds; None for anything else."""
    if not isinstance(holder, Host) or not isinstance(name, str) or not named_batch_size([name]):
        return None
    if not any(isinstance(v, Host) and v.call.startswith(SETTINGS) for v in needed([holder]).values()):
        return None
    return _library_attribute(walk, walk.settings, name, node)


def _module_attribute(walk: Walk, holder: Module, name: str, node: ast.AST) -> Value:
    value = holder.frame.locals.get(name)
    if value is None:
        return Host((holder,), name, node)
    walk.read(Place("name", holder.frame.uid, name, frame=holder.frame), value, node)
    return value


def _own_attribute(walk: Walk, holder: Instance | Class | Typed, name: str, node: ast.AST) -> Value | None:
    from converter.analysis.python.calling import call_function

    place = Place("attr", holder.uid, name, holder=holder)
    own = holder.state if isinstance(holder, Typed) else holder.attributes
    if name in own and not isinstance(holder, Class):
        walk.read(place, own[name], node)
        return own[name]
    cls = holder.cls if isinstance(holder, Instance) else holder
    found = cls.find(name) if isinstance(cls, Class) else None
    if isinstance(found, Typed) and found.kind == "property" and isinstance(found.args[0], Function):
        return call_function(walk, found.args[0], [holder], {}, node)
    if isinstance(found, Typed) and found.kind in ("staticmethod", "classmethod"):
        function = found.args[0]
        assert isinstance(function, Function)
        return function if found.kind == "staticmethod" else Bound(cls if cls is not None else holder, name, function)
    if isinstance(found, Function):
        return Bound(holder, name, found) if isinstance(holder, Instance) else found
    if isinstance(found, Choice) and isinstance(holder, Instance):
        return Choice([Bound(holder, name, f) for f in found.options if isinstance(f, Function)])
    if found is not None and isinstance(cls, Class):
        owner = next(c for c in cls.lineage() if name in c.attributes)
        walk.read(Place("attr", owner.uid, name, holder=owner), found, node)
        return found
    if isinstance(holder, Typed) and holder.kind == "Super":
        return _base_method(holder, name)
    if isinstance(holder, Typed):
        return _library_attribute(walk, holder, name, node)
    if isinstance(holder, Instance) and name == "__class__" and holder.cls is not None:
        return holder.cls
    if isinstance(holder, Instance):
        walk.read(place, Absent(), node)
        return Bound(holder, name)
    return None


def _base_method(holder: Typed, name: str) -> Value:
    instance, owner = holder.args
    for base in owner.bases if isinstance(owner, Class) else ():
        found = base.find(name) if isinstance(base, Class) else None
        if isinstance(found, Function):
            return Bound(instance, name, found)
    return Bound(holder, name)


def _library_attribute(walk: Walk, holder: Typed, name: str, node: ast.AST) -> Value:
    if holder.kind in ("Namespace", "Flags", "Settings"):
        value = flag_value(walk, holder, name, node)
        walk.read(Place("attr", holder.uid, name, holder=holder), value, node)
        return value
    return Bound(holder, name)


def flag_value(walk: Walk, holder: Typed, name: str, node: ast.AST) -> Number:
    """What a flag stands for before the script sets it."""
    origin = walk.origin(node, "flag", name)
    return Number(None, frozenset((origin,)), frozenset((origin,)), (holder,))


def item_place(holder: Value, key: Value) -> Place:
    """The place of an item of a container, by the key's value or else by its identity: with a "?" in front."""
    if isinstance(key, Number) and key.value is None:
        return Place("item", holder.uid, "?", holder=holder)
    known = repr(getattr(key, "value", key.uid))
    return Place("item", holder.uid, known if hasattr(key, "value") else f"?{known}", holder=holder)


def _subscript(walk: Walk, node: ast.Subscript) -> Value:
    holder = walk.evaluate(node.value)
    if isinstance(holder, Input) and holder.op.endswith("get_next") and not _cuts(holder, node.slice):
        chosen = walk.evaluate(node.slice)
        if isinstance(chosen, Constant) and isinstance(chosen.value, str):
            return entry_of(walk, holder, chosen.value, node)
        return holder.another()  # one of several components
    if isinstance(holder, Tensor):
        taken = moving.subscript(walk, holder, node.slice)
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else []
        rows = parts[0] if parts else None
        whole = isinstance(rows, ast.Slice) and not (rows.lower or rows.upper or rows.step)
        return (window(walk, holder, taken.inputs[1:], len(parts)) if whole else None) or taken
    key = walk.evaluate(node.slice)
    used_by_python(walk, [holder], node)
    value = get_item(walk, holder, key, node)
    walk.read(item_place(holder, key), value, node)
    return value


def entry_of(walk: Walk, batch: Input, key: str, node: ast.AST) -> Input:
    """A component of a batch that came in as a dict; it is there from when the batch is."""
    if key not in batch.entries:
        made = batch.entries[key] = batch.another()
        made.site, made.time, made.node, made.scopes = batch.site, batch.time, batch.node, batch.scopes
        walk.facts.tensors.append(made)
        walk.facts.inputs.append(made)
    walk.read(item_place(batch, Constant(key)), batch.entries[key], node)
    return batch.entries[key]


def _cuts(batch: Input, index: ast.expr) -> bool:
    """Whether an index goes into a tensor, and does not pick one of those that came in together."""
    return batch.dims is not None or isinstance(index, ast.Tuple)


def get_item(walk: Walk, holder: Value, key: Value, node: ast.AST) -> Value:
    """What `holder[key]` stands for."""
    if isinstance(holder, Mapping):
        return holder.get(key) or any_of([v for _, v in holder.pairs], (holder, key))
    if isinstance(holder, ShapeOf):
        cut = node.slice if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice) else None
        return shaping.dimension(holder, key) if cut is None else _dimensions(walk, holder, cut, key)
    if isinstance(holder, Sequence):
        note_position(walk, holder)
        if holder.many:
            if not (isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice)):
                return any_of(holder.elements[:1], (holder, key))
            part = Sequence(holder.elements, holder.mutable, many=True)
            part.inputs = (*part.inputs, holder, key)
            return part
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
            return _slice_of(walk, holder, node.slice)
        if (
            isinstance(key, Number)
            and isinstance(key.value, int)
            and -len(holder.elements) <= key.value < len(holder.elements)
        ):
            return holder.elements[key.value]
        return any_of(holder.elements, (holder, key))
    if isinstance(holder, Instance) and holder.cls is not None:
        from converter.analysis.python.calling import call_method

        found = call_method(walk, holder, "__getitem__", [key], node)
        if found is not None:
            return found
    return _setting(walk, holder, getattr(key, "value", None), node) or Host((holder, key), "[]", node)


def note_position(walk: Walk, holder: Value) -> None:
    """Notes that entries of a list of the graph's variables are told apart by the order in which these were made."""
    entries = holder.elements if isinstance(holder, Sequence) else []
    if any(isinstance(entry, Tensor) and entry.op == LISTED for entry in entries):
        walk.facts.told_by_position = True


def _dimensions(walk: Walk, shape: ShapeOf, cut: ast.Slice, key: Value) -> Value:
    """`x.get_shape()[1:]`: the entries of a shape; of an unknown one only the last is known to be one."""
    if shape.tensor.rank is not None:
        return _slice_of(walk, Sequence(iterate(shape, None)), cut)
    begin = walk.evaluate(cut.lower) if cut.lower is not None else None
    last = getattr(begin, "value", None) == -1 and cut.upper is None and cut.step is None
    return Sequence([shaping.dimension(shape, Number(-1))]) if last else Host((shape, key))


def any_of(candidates: list[Value], inputs: tuple[Value, ...]) -> Value:
    """One of several values, it is not known which; a value of Python where there are none."""
    from converter.analysis.python.joins import join

    if not candidates:
        return Host(inputs)
    value = candidates[0]
    for candidate in candidates[1:]:
        value = join(value, candidate)
    return value


def _slice_of(walk: Walk, holder: Sequence, node: ast.Slice) -> Value:
    bounds = []
    for part in (node.lower, node.upper, node.step):
        value = walk.evaluate(part) if part is not None else Constant(None)
        known = getattr(value, "value", None)
        if part is not None and not isinstance(known, int):
            result = Sequence(holder.elements, holder.mutable, many=bool(holder.elements))
            result.inputs = (*result.inputs, holder, value)
            return result
        bounds.append(known)
    return Sequence(holder.elements[slice(*bounds)], holder.mutable).like(holder)


def _slice(walk: Walk, node: ast.Slice) -> Value:
    parts = [walk.evaluate(part) for part in (node.lower, node.upper, node.step) if part is not None]
    return Host(parts, "slice", node)


def iterate(value: Value, length: int | None) -> list[Value]:
    """The values that unpacking or a loop gives, as many as are known to differ."""
    if isinstance(value, Sequence):
        return value.elements * (length or 2) if value.many and value.elements else list(value.elements)
    if isinstance(value, Mapping):
        return [key for key, _ in value.pairs]
    if isinstance(value, ShapeOf):
        rank = value.tensor.rank if value.tensor.rank is not None else length
        return [shaping.dimension(value, Number(i)) for i in range(rank or 1)]
    if isinstance(value, Input) and (value.op.endswith("get_next") or value.op.startswith("train.")):
        return [value.another() for _ in range(length or 2)]  # components of an iterator's or a queue's batch
    if isinstance(value, Tensor):
        parts = moving.unstacked(value)
        return [Tensor(parts.batch, (value,), parts.dims, "unstack") for _ in range(length or 2)]
    if isinstance(value, Host) and value.call == "run" and (several := _fetched(value)):
        rest = [v for v in value.inputs if v is not several]
        return [Host((*rest, fetch), "run", value.node) for fetch in several.elements]
    return [Host((value,), "item", getattr(value, "node", None)) for _ in range(length or 2)]


def _fetched(run: Host) -> Sequence | None:
    """The list of what a run fetches, if it is one."""
    return next((v for v in run.inputs if isinstance(v, Sequence) and not v.many), None)


ITEMS: dict[type[ast.expr], Callable[[Walk, Any], Value]] = {
    ast.Name: _name,
    ast.Attribute: _attribute,
    ast.Subscript: _subscript,
    ast.Slice: _slice,
}
