"""The values of names, attributes and items."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Literal

from converter.analysis.arrays.shapes import is_new_axis
from converter.analysis.frames import Place
from converter.analysis.inputs.embedded_data import used_by_python
from converter.analysis.library import attributes, handlers, member, naming, objects
from converter.analysis.python.calling import call_function, call_method
from converter.analysis.python.containers import any_of, entry_of, item_place, known_item
from converter.analysis.python.inheriting import inherited
from converter.analysis.python.joins import is_callable
from converter.analysis.python.settings import (
    flag_value,
    note_setting,
    read_from_file,
    set_attribute,
    settings_of,
    unseen_setting,
)
from converter.analysis.python.several_classes import methods_of_each
from converter.analysis.tensors import moving, shaping
from converter.analysis.tensors.windows import window
from converter.analysis.traits import Trait, has
from converter.analysis.values import (
    ATTRIBUTES,
    ENTRIES,
    KEPT_PROPERTY,
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
)

if TYPE_CHECKING:
    from converter.analysis.walk import Walk


def _name(walk: Walk, node: ast.Name) -> Value:
    found = walk.frame.lookup(node.id)
    if found is None:
        return _imported_with_all(walk, node.id) or Symbol("builtins", node.id)
    frame, value = found[0], walk.function_taken(found[1])
    walk.read(Place("name", frame.uid, node.id, frame=frame), value, node)
    note_setting(walk, frame, node.id, value, node)
    return value


def _imported_with_all(walk: Walk, name: str) -> Symbol | None:
    """A function that `from tensorflow.contrib.layers import *` binds, where the rules know it."""
    found = (member(symbol, name) for symbol in reversed(walk.stars.get(walk.frame.module.uid, [])))
    return next((symbol for symbol in found if symbol.name in handlers()), None)


def _attribute(walk: Walk, node: ast.Attribute) -> Value:
    return get_attribute(walk, walk.evaluate(node.value), node.attr, node)


def get_attribute(walk: Walk, holder: Value, name: str, node: ast.AST) -> Value:
    """The value of `holder.name`."""
    if isinstance(holder, Symbol):
        symbol = member(holder, name)
        own = objects().get(symbol.name) if symbol.library == naming().library else None
        return symbol if own is None else own(walk)
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
    if isinstance(holder, Choice):
        found = [get_attribute(walk, option, name, node) for option in holder.options]
        if all(isinstance(value, Number) or is_callable(value) for value in found):
            return any_of(found, ())
    if isinstance(holder, Function) and name == "__name__":
        return Constant(holder.name)
    if isinstance(holder, (Tensor, ShapeOf)) and (attribute := attributes().get(_known_as(holder, name))):
        known = attribute(walk, holder, node)
        if known is not None:
            return known
    if isinstance(holder, (Tensor, Sequence, Mapping, ShapeOf, Count, Constant, Bound)):
        return Bound(holder, name)
    used_by_python(walk, [holder], node)
    return read_from_file(walk, holder, name, node) or Host((holder,), name, node)


def _known_as(holder: Tensor | ShapeOf, name: str) -> str:
    """The name under which the rules have an attribute: that of a tensor by itself."""
    return name if isinstance(holder, Tensor) else f"{type(holder).__name__}.{name}"


def _module_attribute(walk: Walk, holder: Module, name: str, node: ast.AST) -> Value:
    if name == "__dict__":
        return Typed(ENTRIES, name, [holder], {}, None)
    value = holder.frame.locals.get(name)
    if value is None:
        return Host((holder,), name, node)
    walk.read(Place("name", holder.frame.uid, name, frame=holder.frame), value, node)
    note_setting(walk, holder.frame, name, value, node)
    return value


def _own_attribute(walk: Walk, holder: Instance | Class | Typed, name: str, node: ast.AST) -> Value | None:
    place = walk.attribute_of(holder, name)
    own = holder.state if isinstance(holder, Typed) else holder.attributes
    if name in own and not isinstance(holder, Class):
        value = walk.function_taken(own[name])
        walk.read(place, value, node)
        note_setting(walk, holder, name, value, node)
        return value
    cls = holder.cls if isinstance(holder, Instance) else holder
    found = cls.find(name) if isinstance(cls, Class) else None
    if isinstance(found, Typed) and found.kind == "property" and isinstance(found.args[0], Function):
        return call_function(walk, found.args[0], [holder], {}, node)
    if isinstance(found, Typed) and found.kind == KEPT_PROPERTY and isinstance(holder, Instance):
        function = found.args[0]
        assert isinstance(function, Function)
        set_attribute(walk, holder, name, call_function(walk, function, [holder], {}, node), node)
        return _own_attribute(walk, holder, name, node)
    if isinstance(found, Typed) and (method := _of_class(found, name, cls if cls is not None else holder)) is not None:
        return method
    if isinstance(holder, Instance) and (methods := methods_of_each(holder, name, walk.options_taken(holder))):
        return methods[0] if len(methods) == 1 else Choice(methods)
    if isinstance(found, Function):
        return Bound(holder, name, found) if isinstance(holder, Instance) else found
    if found is not None and isinstance(cls, Class):
        if isinstance(holder, Instance):  # what is assigned to the object later stands in front of the class's
            walk.read(place, Absent(), node)
        owner = next(c for c in cls.lineage() if name in c.attributes)
        walk.read(Place("attr", owner.uid, name, holder=owner), found, node)
        note_setting(walk, owner, name, found, node)
        return found
    if isinstance(holder, Typed) and holder.kind == "Super":
        return _base_method(holder, name)
    if setting := unseen_setting(walk, holder, name, node):
        return setting
    if isinstance(holder, Typed):
        return _library_attribute(walk, holder, name, node)
    if name == "__dict__":
        return Typed(ENTRIES, name, [holder], {}, None)
    if isinstance(holder, Instance) and name == "__class__" and holder.cls is not None:
        return holder.cls
    if isinstance(holder, Instance):
        walk.read(place, Absent(), node)
        return inherited(holder, name) or Bound(holder, name)
    return None


def _of_class(found: Typed, name: str, cls: Value) -> Value | None:
    """A method that is called without an object: by its class, or like a function; None for anything else."""
    function = found.args[0] if found.kind in ("staticmethod", "classmethod") else None
    if not isinstance(function, Function):
        return None
    return function if found.kind == "staticmethod" else Bound(cls, name, function)


def _base_method(holder: Typed, name: str) -> Value:
    instance, owner = holder.args
    cls = instance.cls if isinstance(instance, Instance) and instance.cls is not None else instance
    for base in owner.bases if isinstance(owner, Class) else ():
        found = base.find(name) if isinstance(base, Class) else None
        if isinstance(found, Function):
            return Bound(instance, name, found) if isinstance(instance, Instance) else found
        if isinstance(found, Typed) and (method := _of_class(found, name, cls)) is not None:
            return method
    method = inherited(instance, name) if isinstance(instance, Instance) else None
    if method is not None:
        return method
    inherits = isinstance(instance, Instance) and f"{instance.kind}.{name}" in handlers()
    return Bound(instance if inherits else holder, name)


def _library_attribute(walk: Walk, holder: Typed, name: str, node: ast.AST) -> Value:
    if holder.kind == "Namespace" and name == "__dict__":
        return Typed(ENTRIES, name, [holder], {}, None)
    if holder.kind in ("Namespace", "Flags", "Settings"):
        value = flag_value(walk, holder, name, node)
        walk.read(Place("attr", holder.uid, name, holder=holder), value, node)
        return value
    if attribute := attributes().get(f"{holder.kind}.{name}"):
        known = attribute(walk, holder, node)
        if known is not None:
            return known
    return Bound(holder, name)


def _subscript(walk: Walk, node: ast.Subscript) -> Value:
    holder = walk.evaluate(node.value)
    if isinstance(holder, Input) and has(holder.op, Trait.NEXT_BATCH) and not _cuts(holder, node.slice):
        chosen = walk.evaluate(node.slice)
        if isinstance(chosen, Constant) and isinstance(chosen.value, str):
            return entry_of(walk, holder, chosen.value, node)
        if isinstance(chosen, Tensor):  # no component has a tensor for its number: a row of a batch of unknown shape
            return moving.subscript(holder, [moving.Index("one", chosen)])
        return holder.another()  # one of several components
    if isinstance(holder, Tensor):
        taken = moving.subscript(holder, _index(walk, holder, node.slice))
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else []
        rows = bool(parts) and _is_full_slice(parts[0])
        return (window(walk.facts, holder, taken.inputs[1:], len(parts)) if rows else None) or taken
    key = walk.evaluate(node.slice)
    settings = settings_of(holder)
    if settings is not None and isinstance(key, Constant) and isinstance(key.value, str):
        return get_attribute(walk, settings, key.value, node)
    used_by_python(walk, [holder], node)
    value = get_item(walk, holder, key, node)
    walk.read(item_place(holder, key), value, node)
    note_setting(walk, holder, getattr(key, "value", None), value, node)
    return value


def _index(walk: Walk, tensor: Tensor, node: ast.expr) -> Iterator[moving.Index]:
    """The entries of an index, each evaluated when it is asked for."""
    parts = list(node.elts) if isinstance(node, ast.Tuple) else [node]
    for part in parts:
        if isinstance(part, ast.Constant) and part.value is Ellipsis:
            yield moving.Index("rest", behind=len([p for p in parts if not is_new_axis(p)]) - 1)
        elif is_new_axis(part):
            yield moving.Index("new")
        else:
            value = walk.evaluate(part)
            kind = _kind(walk, tensor, part, value)
            pieces = kind == "slice" and any(shaping.is_fraction(walk.facts, bound) for bound in value.inputs)
            yield moving.Index(kind, value, pieces=pieces)


def _kind(
    walk: Walk, tensor: Tensor, part: ast.expr, value: Value
) -> Literal["one", "slice", "first", "others", "whole", "reversed"]:
    """What an entry of an index takes from its axis of a tensor; value: that of the entry."""
    if not isinstance(part, ast.Slice):
        return "one"
    if _is_full_slice(part):
        return "whole"
    if not (part.lower or part.upper) and getattr(value.inputs[0], "value", None) == -1:
        return "reversed"
    both = part.step is not None or (part.lower is not None and part.upper is not None)
    whole_batches = tensor.batch.kind == "example" and tensor.batch.packed == "minor"
    if both or not whole_batches or not shaping.is_one_batch(walk.facts, value.inputs[0]):
        return "slice"
    return "first" if part.lower is None else "others"


def _is_full_slice(node: ast.expr) -> bool:
    return isinstance(node, ast.Slice) and not (node.lower or node.upper or node.step)


def get_item(walk: Walk, holder: Value, key: Value, node: ast.AST) -> Value:
    """The value of `holder[key]`."""
    name = getattr(key, "value", None)
    if isinstance(holder, Instance) and holder.kind == ATTRIBUTES and isinstance(name, str):
        return get_attribute(walk, holder, name, node)
    missing = isinstance(holder, Mapping) and holder.get(key) is None
    if missing and (setting := unseen_setting(walk, holder, name, node)):
        return setting
    known = known_item(walk, holder, key, node)
    if known is None and isinstance(holder, Instance) and holder.cls is not None:
        known = call_method(walk, holder, "__getitem__", [key], node)
    return known or read_from_file(walk, holder, name, node) or Host((holder, key), "[]", node)


def _cuts(batch: Input, index: ast.expr) -> bool:
    """True if an index cuts a tensor; False if it picks a component of a pipeline's batch."""
    return batch.dims is not None or isinstance(index, ast.Tuple)


def _slice(walk: Walk, node: ast.Slice) -> Value:
    parts = [walk.evaluate(part) for part in (node.lower, node.upper, node.step) if part is not None]
    return Host(parts, "slice", node)


ITEMS: dict[type[ast.expr], Callable[[Walk, Any], Value]] = {
    ast.Name: _name,
    ast.Attribute: _attribute,
    ast.Subscript: _subscript,
    ast.Slice: _slice,
}
