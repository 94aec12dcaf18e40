"""Towers that all compute on one batch."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from converter.diagnostics import Diagnostic
from converter.syntax.lint.towers import TowerLoop, TowerLoops, template

_OWN_BATCH = (".get_next", ".dequeue", ".dequeue_many", ".dequeue_up_to", "tf.train.batch", "tf.train.shuffle_batch")


def find(towers: TowerLoops) -> Iterator[Diagnostic]:
    """Find towers that read a batch from before the loop, and nothing that differs from tower to tower."""
    for loop in towers.loops:
        batches = set(towers.batches(loop)) - loop.bound
        if _differ(towers, loop) or not batches:
            continue
        for node in loop.walked:
            if isinstance(node, ast.Name) and node.id in batches:
                number = loop.counts or "the number of towers"
                yield towers.finding(node, "TMG402", name=node.id, number=number)
                break


def _differ(towers: TowerLoops, loop: TowerLoop) -> bool:
    """Whether towers read their number other than for their device, their names and the reuse of variables."""
    naming = {id(n) for entered in loop.contexts for n in ast.walk(entered)}
    for node in loop.walked:
        named = isinstance(node, ast.Compare | ast.JoinedStr) or (isinstance(node, ast.BinOp) and bool(template(node)))
        printed = isinstance(node, ast.Call) and loop.of(node) in ("print", ".format")
        if named or printed or (isinstance(node, ast.keyword) and node.arg in ("reuse", "name")):
            naming |= {id(n) for n in ast.walk(node)}
    if any(isinstance(n, ast.Name) and n.id in loop.variables and id(n) not in naming for n in loop.walked):
        return True
    own = (node for node in towers.reached(loop.walked) if isinstance(node, ast.Call))
    return any(loop.of(call).endswith(_OWN_BATCH) for call in own)
