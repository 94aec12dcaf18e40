"""The fields of named tuples and of data classes."""

from __future__ import annotations

import ast

from converter.analysis.values import Class, Constant, Host, Record, Sequence, Typed, Value


def fields_of(made: Value) -> tuple[str, ...] | None:
    """The fields of a named tuple or of a class that inherits from one; None for anything else."""
    if isinstance(made, Class):
        own = {"__init__", "__new__"} & set(made.attributes)
        return next((f for b in made.bases if (f := fields_of(b)) is not None), None) if not own else None
    fields = made.state.get("fields") if isinstance(made, Typed) and made.kind == "NamedTuple" else None
    if not isinstance(fields, Sequence) or not all(isinstance(f, Constant) for f in fields.elements):
        return None
    return tuple(str(f.value) for f in fields.elements if isinstance(f, Constant))


def make_record(cls: Value, fields: tuple[str, ...], args: list[Value], kwargs: dict[str, Value]) -> Record:
    """A record of a named tuple, as it is called; a field without a value has its default, which is not followed."""
    given = {**dict(zip(fields, args, strict=False)), **kwargs}
    return Record(fields, [given.get(f) or Host() for f in fields], cls)


def is_record_of(record: Record, cls: Value) -> bool | None:
    """Whether a record is one of a named tuple, or of a class that is derived from it; None where that is not known."""
    made = [*record.cls.lineage()] if isinstance(record.cls, Class) else [record.cls]
    bases = [base for one in made if isinstance(one, Class) for base in one.bases]
    named = [one for one in (*made, *bases) if isinstance(one, Typed)]
    asked = cls if isinstance(cls, (Class, Typed)) and fields_of(cls) is not None else None
    return any(one is asked for one in (*made, *bases)) if named and asked is not None else None


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
    return any(isinstance(value, ast.Constant) and not value.value for value in told)
