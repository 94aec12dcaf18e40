"""Means over all towers that are fetched with the rows of one tower."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from converter.diagnostics import Diagnostic
from converter.syntax.lint.feeds import fetched, is_fed_one_slice
from converter.syntax.lint.towers import TowerLoop, TowerLoops
from converter.syntax.script import names_read


def find(towers: TowerLoops) -> Iterator[Diagnostic]:
    """Find fetched means of towers that get no rows."""
    for loop in towers.loops:
        if loop.number == 1:
            continue
        for call in towers.after(loop):
            if loop.of(call) == ".run" and is_fed_one_slice(loop, call):
                for name in fetched(call):
                    if _is_last_towers(towers, loop, name) or _is_mean_of_towers(towers, loop, name):
                        yield towers.finding(name, "TMG410", name=name.id, number=loop.counts or "N")


def _is_last_towers(towers: TowerLoops, loop: TowerLoop, name: ast.Name) -> bool:
    """True if a name holds the last tower's mean."""
    own = name.id in loop.results and name.id not in loop.of_first
    return own and loop.averages(name.id) and not towers.binds_again(loop, name)


def _is_mean_of_towers(towers: TowerLoops, loop: TowerLoop, name: ast.Name) -> bool:
    """True if a name is made, behind the loop, of a list of the towers' means, without picking one of them."""
    bound = towers.script.bindings.get(name.id, [])
    values = [value for value in bound if loop.end < value.lineno <= name.lineno]
    if len(values) != 1:
        return False
    picks = any(isinstance(n, ast.Subscript) for n in ast.walk(values[0]))
    return not picks and any(loop.collects_means(listed) for listed in names_read(values[0]))
