"""`functools.reduce` and the functions of `operator` that scripts give to it."""

from __future__ import annotations

import ast
from functools import partial

from converter.analysis.call import Call, Handler
from converter.analysis.python.calling import call_value, unknown
from converter.analysis.python.operators import binary
from converter.analysis.values import Sequence, Symbol, Value

OPERATORS: dict[str, ast.operator] = {
    "add": ast.Add(),
    "sub": ast.Sub(),
    "mul": ast.Mult(),
    "truediv": ast.Div(),
    "floordiv": ast.FloorDiv(),
    "mod": ast.Mod(),
}


def _reduce(call: Call) -> Value:
    """What a function makes of the first two elements, then of that and the third, and so on."""
    function, over, start = call.get(0, "function"), call.get(1, "iterable", "sequence"), call.get(2, "initial")
    if function is None or not isinstance(over, Sequence) or over.unmeasured or not (over.elements or start):
        return unknown(call.walk, Symbol("functools", "reduce"), call.args, call.kwargs, call.node, call.name)
    first, *rest = [*([start] if start is not None else []), *over.elements]
    for element in rest:
        first = call_value(call.walk, function, [first, element], {}, call.node)
    return first


def _operator(call: Call, op: ast.operator) -> Value:
    if len(call.args) != 2:
        return unknown(call.walk, Symbol("", call.name), call.args, call.kwargs, call.node, call.name)
    return binary(call.walk, op, call.args[0], call.args[1], call.node)


CALLS: dict[str, Handler] = {
    **dict.fromkeys(("builtins.reduce", "functools.reduce", "six.moves.reduce"), _reduce),
    **{f"operator.{name}": partial(_operator, op=op) for name, op in OPERATORS.items()},
}
