"""Gradients of towers are added where their mean is meant."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from converter.diagnostics import Diagnostic
from converter.syntax.lint.towers import TowerLoop, TowerLoops
from converter.syntax.script import names_read

_ADDING = ("tf.add_n", "tf.reduce_sum", "tf.accumulate_n", "sum")


def find(towers: TowerLoops) -> Iterator[Diagnostic]:
    """Find gradients or losses of towers that are added and not divided by their number."""
    for loop in towers.loops:
        scaled = [name for name, put in loop.appended.items() if any(loop.scales(one) for one in put)]
        if scaled or any(loop.scales(call.args[0]) for call in loop.gradient_calls if call.args):
            continue
        for call in towers.after(loop):
            if loop.of(call).endswith((".apply_gradients", ".minimize", ".compute_gradients")) and call.args:
                given = towers.script.value(call.args[0])
                if isinstance(given, ast.Call) and _adds(towers, loop, given):
                    yield towers.finding(given, "TMG401")


def _adds(towers: TowerLoops, loop: TowerLoop, call: ast.Call) -> bool:
    """Whether a call adds what the towers put into a list, and neither it nor what it calls divides."""
    if not names_read(call) & set(loop.appended):
        return False
    reached = [node for arg in call.args for node in ast.walk(arg)] + list(towers.reached([call]))
    if any(isinstance(n, ast.BinOp) and isinstance(n.op, ast.Mult | ast.Div) for n in reached):
        return False
    called = [loop.of(node) for node in reached if isinstance(node, ast.Call)]
    unknown = [
        name for name in called if not name.startswith(("tf.", ".")) and towers.script.functions.get(name) is None
    ]
    averages = any("mean" in name or name in ("tf.divide", "tf.multiply", "tf.scalar_mul", "tf.div") for name in called)
    return not averages and set(unknown) <= _KNOWN and any(name in _ADDING for name in called)


_KNOWN = {"sum", "zip", "list", "len", "range", "enumerate", "print", "isinstance", "all", "any"}
