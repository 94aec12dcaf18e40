"""How the loop's function writes a name, an attribute or an item."""

from __future__ import annotations

import ast
from collections.abc import Container, Iterator

from converter.analysis.frames import Place
from converter.analysis.values import Class, Frame, Instance, Module, Value, options_in


def spelling(frame: Frame, place: Place) -> str | None:
    """The expression for a place in a frame's own names, None where it cannot be reached from there."""
    if place.kind == "name":
        if place.frame is frame:
            return place.key
        seen = frame.lookup(place.key) if place.frame is not None else None
        if seen is not None and seen[0] is place.frame:
            return place.key
        if place.frame is None or place.frame.closure is not None:
            return None  # a local of another function
        module = _module(frame, place.frame)
        return module and f"{module}.{place.key}"
    holder = reach(frame, place.holder)
    if holder is None or (place.kind == "item" and place.key.startswith("?")):
        return None
    if place.kind == "attr" and _is_private_elsewhere(frame, place.key):
        return None
    return f"{holder}.{place.key}" if place.kind == "attr" else f"{holder}[{place.key}]"


def reach(frame: Frame, holder: Value | None, depth: int = 2, but: Container[str] = ()) -> str | None:
    """An expression that reaches an object from a frame; None if there is none.

    but: names that do not stand for it where it is asked for.
    """
    if holder is None:
        return None
    holders: list[tuple[str, Instance | Module]] = []
    for name, value in _visible(frame):
        if name in but:
            continue
        if value is holder or (isinstance(value, Instance) and options_in(frame, value) == (holder,)):
            return name
        if depth and isinstance(value, (Instance, Module)):
            holders.append((name, value))
    for name, value in holders:
        for attribute, inner in (value.attributes if isinstance(value, Instance) else value.frame.locals).items():
            if inner is holder and not _is_private_elsewhere(frame, attribute):
                return f"{name}.{attribute}"
    return None


def _is_private_elsewhere(frame: Frame, name: str) -> bool:
    """Whether an attribute has another name in a frame's code: `self.__x` is one of the class in whose text it stands.

    Source: "Private name mangling", The Python Language Reference, 6.2.1.
    """
    if not name.startswith("__") or name.endswith("__"):
        return False
    scope: Frame | None = frame
    while scope is not None and not isinstance(scope.owner, Class):
        scope = scope.closure
    own = ast.walk(scope.owner.node) if scope is not None and isinstance(scope.owner, Class) else ()
    return not any(isinstance(node, ast.Attribute) and node.attr == name for node in own)


def _module(frame: Frame, imported: Frame) -> str | None:
    """The name by which a frame's code knows the module of another file, None where it has none for it."""
    scope: Frame | None = frame
    while scope is not None:
        for name, value in scope.locals.items():
            if isinstance(value, Module) and value.frame is imported and (name, value) in _visible(frame):
                return name
        scope = scope.closure
    return None


def _visible(frame: Frame) -> Iterator[tuple[str, Value]]:
    """The names that a frame can read, with their values: its own first, then those of enclosing functions."""
    yield from frame.locals.items()
    known, scope = set(frame.locals), frame.closure
    while scope is not None:
        seen = [n for n in scope.locals if n not in known and scope.bound.get(n, 0) <= frame.began]
        yield from ((n, scope.locals[n]) for n in seen)
        known.update(seen)
        scope = scope.closure


def whole_names(text: str) -> tuple[str, str, str]:
    """Candidates for the name of an input's whole batch, beside which the input's own name means a tower's shard."""
    name = leaf(text)
    return f"full_{name}" if "batch" in name.lower() else f"{name}_batch", f"all_{name}", f"whole_{name}"


def leaf(text: str) -> str:
    """A name for what an expression stands for: `images` for `self.images`, `heads_0` for `heads[0]`."""
    tail = text.rpartition(".")[2] if not text.endswith("]") else text.partition("[")[2].strip("'\"]")
    clean = "".join(c if c.isalnum() else "_" for c in tail).strip("_")
    if clean.isidentifier():
        return clean
    if text.endswith("]") and clean:
        return f"{leaf(text.partition('[')[0])}_{'_'.join(filter(None, clean.split('_')))}"
    return "value"
