"""How a handler goes into code of the script: functions that a call is given, and methods of its objects."""

from __future__ import annotations

from converter.analysis.call import Call
from converter.analysis.python.calling import call_method, call_value, unknown
from converter.analysis.values import Instance, Value


def follow(call: Call, function: Value, args: list[Value], kwargs: dict[str, Value] | None = None) -> Value:
    """What a function that the call is given returns for these arguments."""
    return call_value(call.walk, function, args, kwargs or {}, call.node)


def follow_method(
    call: Call, own: Instance, name: str, args: list[Value], kwargs: dict[str, Value] | None = None
) -> Value | None:
    """What a method of an object of the script returns; None if it has no such method."""
    return call_method(call.walk, own, name, args, call.node, kwargs)


def not_followed(call: Call, function: Value, name: str = "") -> Value:
    """What the call gives if it is one into code that is not known; name: what messages call the function."""
    return unknown(call.walk, function, call.args, call.kwargs, call.node, name)
