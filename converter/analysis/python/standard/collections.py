"""The collections module: named tuples and ordered dicts."""

from __future__ import annotations

from converter.analysis.call import Call, Handler
from converter.analysis.python.containers import iterate
from converter.analysis.python.namedtuples import fields_of, make_record
from converter.analysis.python.standard.builtins import make_dict
from converter.analysis.values import Constant, Host, Mapping, Record, Sequence, Value


def _namedtuple(call: Call) -> Value:
    """`collections.namedtuple(name, fields)`: a class that makes records; `typing` gives each field a type, too."""
    made = call.typed("NamedTuple")
    fields = call.get(1, "field_names", "fields")
    if isinstance(fields, Constant) and isinstance(fields.value, str):
        made.state["fields"] = Sequence([Constant(f) for f in fields.value.replace(",", " ").split()])
    elif isinstance(fields, Sequence) and not fields.many:
        made.state["fields"] = Sequence([f.elements[0] if isinstance(f, Sequence) else f for f in fields.elements])
    return made


def _call(call: Call) -> Value:
    fields = fields_of(call.receiver) if call.receiver is not None else None
    if fields is None:
        return Host(call.values(), "namedtuple", call.node)
    assert call.receiver is not None
    return make_record(call.receiver, fields, call.args, call.kwargs)


def _make(call: Call) -> Value:
    """`Out._make(values)`: a record of values that are given as one sequence."""
    fields = fields_of(call.receiver) if call.receiver is not None else None
    if fields is None or not call.args:
        return Host(call.values(), "namedtuple", call.node)
    assert call.receiver is not None
    return make_record(call.receiver, fields, iterate(call.args[0], len(fields)), {})


def with_parts(call: Call) -> Value:
    """A record with some of its parts changed."""
    record = call.receiver
    assert isinstance(record, Record)
    replaced = [call.kwargs.get(f, e) for f, e in zip(record.fields, record.elements, strict=False)]
    return Record(record.fields, replaced, record.cls)


def _as_dict(call: Call) -> Value:
    record = call.receiver
    assert isinstance(record, Record)
    return Mapping([(Constant(f), e) for f, e in zip(record.fields, record.elements, strict=False)])


CALLS: dict[str, Handler] = {
    "collections.namedtuple": _namedtuple,
    "typing.NamedTuple": _namedtuple,
    "collections.OrderedDict": make_dict,
    "NamedTuple.__call__": _call,
    "NamedTuple._make": _make,
    "Record._replace": with_parts,
    "Record._asdict": _as_dict,
}
