"""Moving averages that every tower updates."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from converter.diagnostics import Diagnostic
from converter.syntax.lint.towers import TowerLoops
from converter.syntax.script import argument


def find(towers: TowerLoops) -> Iterator[Diagnostic]:
    """Find the whole collection of update operations, taken after towers that normalise batches."""
    if not re.search(r"batch_?norm", towers.script.text, re.IGNORECASE):
        return
    for loop in towers.loops:
        if loop.looks_after_collections:
            continue
        for call in towers.after(loop):
            whole = loop.of(call) == "tf.get_collection" and argument(call, 1, "scope") is None and call.args
            if whole and "UPDATE_OPS" in ast.unparse(call.args[0]).upper():
                yield towers.finding(call, "TMG404")
