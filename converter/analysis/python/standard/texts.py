"""Methods of texts that are written in the script: `'resnet_v1'.split('_')[0]` tells which class a factory takes."""

from __future__ import annotations

import ast

from converter.analysis.call import Call, Handler
from converter.analysis.values import Bound, Constant, Number, Sequence, Value

CUTS = ("lstrip", "partition", "replace", "rpartition", "rsplit", "rstrip", "split", "strip")
ASKS_OR_SPELLS = ("capitalize", "endswith", "isdigit", "lower", "startswith", "title", "upper")


def spelled(value: Value) -> str | None:
    """A text, or the number of a turn as a text; None for numbers that the script says: these may be batch sizes."""
    known = value.value if isinstance(value, Constant) or (isinstance(value, Number) and not value.origins) else None
    return str(known) if isinstance(known, (str, int)) else None


def _format(call: Call) -> Value:
    """`'conv{}'.format(i)` of known texts and turns; unknown for all others."""
    from converter.analysis.python.calling import unknown

    receiver, given = call.receiver, [*map(spelled, call.args)]
    assert isinstance(receiver, Constant)
    starred = any(isinstance(argument, ast.Starred) for argument in call.node.args)
    plain = isinstance(receiver.value, str) and ":" not in receiver.value and "!" not in receiver.value
    if plain and None not in given and not call.kwargs and not starred:
        try:
            return Constant(str(receiver.value).format(*given))
        except (IndexError, KeyError, ValueError, AttributeError):
            pass
    return unknown(call.walk, Bound(receiver, "format"), call.args, call.kwargs, call.node, "")


def _method(call: Call) -> Value:
    """What a method of a known text gives for known arguments; unknown for all others."""
    from converter.analysis.python.calling import unknown

    receiver, name = call.receiver, call.name.rpartition(".")[2]
    assert isinstance(receiver, Constant)
    given = [argument.value for argument in call.args if isinstance(argument, (Constant, Number))]
    starred = any(isinstance(argument, ast.Starred) for argument in call.node.args)
    known = isinstance(receiver.value, str) and len(given) == len(call.args) and not call.kwargs
    if not known or any(isinstance(a, Number) and a.value is None for a in call.args) or starred:
        return unknown(call.walk, Bound(receiver, name), call.args, call.kwargs, call.node, "")
    try:
        made = getattr(receiver.value, name)(*given)
    except (TypeError, ValueError):
        return unknown(call.walk, Bound(receiver, name), call.args, call.kwargs, call.node, "")
    if isinstance(made, (list, tuple)):
        return Sequence([Constant(part) for part in made], mutable=isinstance(made, list))
    return Constant(made)


CALLS: dict[str, Handler] = {
    "Constant.format": _format,
    **{f"Constant.{name}": _method for name in (*CUTS, *ASKS_OR_SPELLS)},
}
