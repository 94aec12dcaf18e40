"""Gradients that each tower clips."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from converter.diagnostics import Diagnostic
from converter.syntax.lint.towers import TowerLoop, TowerLoops
from converter.syntax.script import names_bound

_CLIPPING = ("tf.clip_by_global_norm", "tf.clip_by_norm", "tf.clip_by_value", "tf.clip_by_average_norm")


def find(towers: TowerLoops) -> Iterator[Diagnostic]:
    """Find gradients that are clipped inside the loop."""
    for loop in towers.loops:
        for call in loop.calls:
            if loop.of(call) in _CLIPPING and call.args and _is_gradient(loop, call):
                yield towers.finding(call, "TMG406")


def _is_gradient(loop: TowerLoop, call: ast.Call) -> bool:
    """Whether a call is given gradients: by name, or by the comprehension that it stands in."""
    known = set(loop.gradients)
    for around in loop.script.above(call):
        for part in getattr(around, "generators", ()):
            if loop.takes_gradients(part.iter, loop.gradients):
                known |= names_bound(part.target)
    return loop.takes_gradients(call.args[0], known)
