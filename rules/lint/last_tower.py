"""Values of one tower that are reported as if they were all towers'."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from converter.diagnostics import Diagnostic
from converter.syntax.lint.feeds import fetched, is_fed_one_slice
from converter.syntax.lint.towers import TowerLoop, TowerLoops


def find(towers: TowerLoops) -> Iterator[Diagnostic]:
    """Find values of one tower that are summarised or fetched behind the loop."""
    for loop in towers.loops:
        made = loop.results
        runs = [call for call in towers.after(loop) if loop.of(call) == ".run"]
        whole = {n.id: call for call in runs if is_fed_one_slice(loop, call) for n in fetched(call)}
        for call in towers.after(loop):
            for name in _reported(loop, call):
                if name.id not in made or towers.binds_again(loop, name) or _has_own_rows(loop, call, name.id):
                    continue
                if name.id in whole and name.id in loop.of_first:
                    yield towers.finding(name, "TMG408 fed_elsewhere", name=name.id, line=whole[name.id].lineno)
                else:
                    yield towers.finding(name, "TMG408 reported", name=name.id)


def _reported(loop: TowerLoop, call: ast.Call) -> Iterator[ast.Name]:
    """The names that a call fetches in a session, or puts into a summary."""
    name = loop.of(call)
    if name in ("tf.summary.scalar", "tf.summary.histogram"):
        yield from (part for part in call.args[1:2] if isinstance(part, ast.Name))
    elif name == ".run":
        yield from fetched(call)


def _has_own_rows(loop: TowerLoop, call: ast.Call, name: str) -> bool:
    """True if a call feeds one tower's rows: the first tower sees all of them, and the others' mean is TMG410's."""
    return loop.of(call) == ".run" and is_fed_one_slice(loop, call) and (name in loop.of_first or loop.averages(name))
