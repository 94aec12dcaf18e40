"""Losses that compare the examples of a batch with each other: pairs, triplets, in-batch negatives."""

from __future__ import annotations

import ast
import os
from collections.abc import Collection, Iterator

from converter.analysis.library import naming
from converter.analysis.traits import Trait
from converter.syntax.known import is_known
from converter.syntax.script import Script, argument
from converter.targets.mirrored.elsewhere import definition
from converter.targets.mirrored.replicated import reachable

_MOST_FILES = 8  # that are looked through for functions of the loss


def check_pairs(script: Script, nodes: Collection[ast.AST], total: bool, main: str) -> None:
    """Say that each replica compares the examples of its own batch alone; with --batch total that is refused.

    Noted at the comparison, or at the call that leads into another file. main: the path of the script that is started.
    """
    for place in _comparisons(script, nodes, os.path.dirname(os.path.abspath(main))):
        where = "its own part of the batch" if total else "its own batch"
        message = f"examples of the batch are compared with each other here: each GPU compares those of {where} alone"
        if total:
            script.say(place, "TMG288", message, "use --batch per-gpu, or train in a session with --loss global")
        else:
            hint = "check that the mean of several batches' losses is what you want"
            script.say(place, "TMG302", message, hint, "warning")
        return


def _comparisons(script: Script, nodes: Collection[ast.AST], folder: str) -> Iterator[ast.Call]:
    """The calls of a file that compare examples, or that lead to such a call in other files."""
    calls = [node for node in nodes if isinstance(node, ast.Call)]
    yield from (call for call in calls if _compares(script, call))
    for call in calls:
        if any(_compares(other, inner) for other, inner in _called_elsewhere(script, call, folder)):
            yield call


def _called_elsewhere(script: Script, call: ast.Call, folder: str) -> Iterator[tuple[Script, ast.Call]]:
    """The calls in a function of another file that a call leads to, and in those that it leads to."""
    todo, seen = [(script, call)], set[tuple[str, str]]()
    while todo and len(seen) < _MOST_FILES:
        where, one = todo.pop()
        library = where.name(one.func).partition(".")[0] == naming().library
        found = definition(where, one.func, folder) if not library else None
        if found is None or found[0] is where or (found[0].path, found[1].name) in seen:
            continue
        other, function = found
        seen.add((other.path, function.name))
        inner = [node for node in reachable(other, function) if isinstance(node, ast.Call)]
        yield from ((other, node) for node in inner)
        todo += [(other, node) for node in inner]


def _compares(script: Script, call: ast.Call) -> bool:
    """True for losses of triplets, and for a matrix times its own transpose, which has an entry for each two rows."""
    if is_known(script, call.func, Trait.OF_PAIRS):
        return True
    if not is_known(script, call.func, Trait.PRODUCT):
        return False
    left, right = argument(call, 0, "a"), argument(call, 1, "b")
    turned = script.value(right) if right is not None else None
    if left is None or not isinstance(turned, ast.Call) or not is_known(script, turned.func, Trait.TRANSPOSES):
        return False
    whole = argument(turned, 1, "perm") is None
    inner = argument(turned, 0, "a")
    return whole and inner is not None and ast.unparse(inner) == ast.unparse(left)
