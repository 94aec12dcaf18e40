"""The fields of named tuples and of data classes."""

from __future__ import annotations

import ast

from converter.analysis.values import Class, Constant, Host, Instance, Record, Sequence, Symbol, Typed, Value

WITH_TYPES = ("typing", "NamedTuple")  # `class Batch(typing.NamedTuple):` has a field for each annotated name


def fields_of(made: Value) -> tuple[str, ...] | None:
    """The fields of a named tuple or of a class that inherits from one; None for anything else."""
    if isinstance(made, Class):
        if {"__init__", "__new__"} & set(made.attributes):
            return None
        if any(isinstance(base, Symbol) and (base.library, base.name) == WITH_TYPES for base in made.bases):
            return tuple(_parameters(made.node))
        return next((f for b in made.bases if (f := fields_of(b)) is not None), None)
    fields = made.state.get("fields") if isinstance(made, Typed) and made.kind == "NamedTuple" else None
    if not isinstance(fields, Sequence) or not all(isinstance(f, Constant) for f in fields.elements):
        return None
    return tuple(str(f.value) for f in fields.elements if isinstance(f, Constant))


def make_record(cls: Value, fields: tuple[str, ...], args: list[Value], kwargs: dict[str, Value]) -> Record:
    """A record of a named tuple, as it is called; the defaults of `collections.namedtuple` are not followed."""
    given = {**dict(zip(fields, args, strict=False)), **kwargs}
    defaults = cls if isinstance(cls, Class) else None
    return Record(fields, [given.get(f) or (defaults and defaults.find(f)) or Host() for f in fields], cls)


def is_record_of(record: Record, cls: Value) -> bool | None:
    """Whether a record is one of a named tuple, or of a class that is derived from it; None where that is not known."""
    made = [*record.cls.lineage()] if isinstance(record.cls, Class) else [record.cls]
    bases = [base for one in made if isinstance(one, Class) for base in one.bases]
    known = [one for one in (record.cls, cls) if one is not None and fields_of(one) is not None]
    return any(one is cls for one in (*made, *bases)) if len(known) == len((record.cls, cls)) else None


def fields_of_dataclass(made: Class) -> tuple[str, ...] | None:
    """The parameters of the `__init__` that `@dataclass` writes into a class; None where it writes none."""
    lineage = list(made.lineage())
    for cls in lineage:
        if "__init__" in cls.attributes:
            return None
        if _is_dataclass(cls):
            bases = [base for base in reversed(list(cls.lineage())) if _is_dataclass(base)]
            return tuple(dict.fromkeys(name for base in bases for name in _parameters(base.node)))
    return None


def is_frozen(holder: Value | None) -> bool:
    """Whether nothing can be assigned to an object's attributes: its class says `@dataclass(frozen=True)`."""
    lineage = holder.cls.lineage() if isinstance(holder, Instance) and holder.cls is not None else ()
    decorators = [d for cls in lineage for d in cls.node.decorator_list if isinstance(d, ast.Call)]
    return any(k.arg == "frozen" and not _is_false(k.value) for d in decorators for k in d.keywords)


def _is_dataclass(cls: Class) -> bool:
    return any(_named(d) == "dataclass" and not _says_no(d) for d in cls.node.decorator_list)


def _parameters(cls: ast.ClassDef) -> list[str]:
    """The annotated names of a class: `size: int = 8`, but no `ClassVar`, and no `field(init=False)`."""
    fields = [s for s in cls.body if isinstance(s, ast.AnnAssign) and isinstance(s.target, ast.Name)]
    return [
        s.target.id
        for s in fields
        if isinstance(s.target, ast.Name) and _annotated(s.annotation) != "ClassVar" and not _says_no(s.value)
    ]


def _annotated(annotation: ast.expr) -> str:
    return _named(annotation.value if isinstance(annotation, ast.Subscript) else annotation)


def _named(node: ast.expr) -> str:
    """The last part of a name, or of the name of what is called."""
    node = node.func if isinstance(node, ast.Call) else node
    return node.id if isinstance(node, ast.Name) else getattr(node, "attr", "")


def _says_no(node: ast.expr | None) -> bool:
    """Whether a call is told `init=False`."""
    told = [k.value for k in node.keywords if k.arg == "init"] if isinstance(node, ast.Call) else []
    return any(map(_is_false, told))


def _is_false(told: ast.expr) -> bool:
    return isinstance(told, ast.Constant) and not told.value
