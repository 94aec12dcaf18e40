"""Named tuples, and what is made of them."""

from __future__ import annotations

from converter.analysis.call import Call, Handler
from converter.analysis.python.builtins import BUILTINS
from converter.analysis.values import Class, Constant, Host, Mapping, Record, Sequence, Typed, Value


def _namedtuple(call: Call) -> Value:
    """`collections.namedtuple(name, fields)`: a class that makes records."""
    made = call.typed("NamedTuple")
    fields = call.get(1, "field_names")
    if isinstance(fields, Constant) and isinstance(fields.value, str):
        made.state["fields"] = Sequence([Constant(f) for f in fields.value.replace(",", " ").split()])
    elif isinstance(fields, Sequence) and not fields.many:
        made.state["fields"] = Sequence(fields.elements)
    return made


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


def _call(call: Call) -> Value:
    fields = fields_of(call.receiver) if call.receiver is not None else None
    if fields is None:
        return Host(call.values(), "namedtuple", call.node)
    return make_record(fields, call.args, call.kwargs)


def _replace(call: Call) -> Value:
    record = call.receiver
    assert isinstance(record, Record)
    return Record(record.fields, [call.kwargs.get(f, e) for f, e in zip(record.fields, record.elements, strict=False)])


def _as_dict(call: Call) -> Value:
    record = call.receiver
    assert isinstance(record, Record)
    return Mapping([(Constant(f), e) for f, e in zip(record.fields, record.elements, strict=False)])


RECORDS: dict[str, Handler] = {
    "collections.namedtuple": _namedtuple,
    "collections.OrderedDict": BUILTINS["dict"],
    "NamedTuple.__call__": _call,
    "Record._replace": _replace,
    "Record._asdict": _as_dict,
}
