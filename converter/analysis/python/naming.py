"""Binding of names, and the names under which a number is known."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from converter.analysis.counts.size_names import named_batch
from converter.analysis.flow.undo import StateChange
from converter.analysis.frames import Place
from converter.analysis.values import Frame, Number, Value

if TYPE_CHECKING:
    from converter.analysis.walk import Walk


def bind_name(walk: Walk, name: str, value: Value, node: ast.AST) -> None:
    """Binds a name in the frame that Python would choose, and notes the write."""
    frame = walk.frame
    if name in frame.globals:
        found = frame.closure.lookup(name) if frame.closure else None
        frame = found[0] if found else frame.module
    bind_in(walk, frame, name, value, node)


def bind_in(walk: Walk, frame: Frame, name: str, value: Value, node: ast.AST) -> None:
    """Binds a name in a frame: in that of a module, where a statement sets an attribute of the module."""
    if frame is not walk.frame:
        walk.undo_log.append(StateChange(frame, name, frame.locals.get(name)))
    if frame.locals.get(name) is not value:
        frame.bound[name] = walk.clock
    frame.locals[name] = value
    if not value.label:
        value.label = name
    name_numbers(walk, name, value)
    walk.write(Place("name", frame.uid, name, frame=frame), value, node)


def name_numbers(walk: Walk, name: str, value: Value) -> None:
    """Remembers the names under which a number is known: a batch size is often named so."""
    if isinstance(value, Number) and len(value.linear) == 1 and value.origins == value.linear:
        (origin,) = value.linear
        walk.facts.origin_names.setdefault(origin.key, set()).add(name)
    elif isinstance(value, Number) and value.chosen and named_batch([name]):
        options = list(value.options())  # `sizes[args.model]`: each of them is the batch size of some run
        given = [v for v in options if isinstance(v, Number) and is_given(v)]
        for origin in [o for v in given for o in v.origins] if len(given) == len(options) else ():
            walk.facts.origin_names.setdefault(origin.key, set()).add(name)


def is_given(value: Value) -> bool:
    """Whether a number is written out or given by the user, and not that of a single example."""
    kinds = {origin.key[0] for origin in value.origins} if isinstance(value, Number) else set()
    return bool(kinds) and kinds <= {"literal", "flag"} and getattr(value, "value", None) != 1


def defaults_of(walk: Walk, args: ast.arguments) -> dict[str, Value]:
    """The values of a function's defaults, by the names of the parameters."""
    defaults: dict[str, Value] = {}
    positional = [*args.posonlyargs, *args.args]
    for parameter, node in zip(positional[len(positional) - len(args.defaults) :], args.defaults, strict=True):
        defaults[parameter.arg] = walk.evaluate(node)
        name_numbers(walk, parameter.arg, defaults[parameter.arg])
    for parameter, default in zip(args.kwonlyargs, args.kw_defaults, strict=True):
        if default is not None:
            defaults[parameter.arg] = walk.evaluate(default)
    return defaults
