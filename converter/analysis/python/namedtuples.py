"""The fields of named tuples."""

from __future__ import annotations

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


def make_record(fields: tuple[str, ...], args: list[Value], kwargs: dict[str, Value]) -> Record:
    """A record of a named tuple, as it is called; a field without a value has its default, which is not followed."""
    given = {**dict(zip(fields, args, strict=False)), **kwargs}
    return Record(fields, [given.get(f) or Host() for f in fields])
