"""Numbers that count batches: a step takes one batch for each GPU, so that an epoch has fewer steps."""

from __future__ import annotations

import ast
from collections.abc import Collection

from converter.options import Options
from converter.syntax.changes import Change
from converter.syntax.script import Script

COUNTED = "TMG154"


def batch_counts(script: Script, options: Options, inside: Collection[ast.AST] = ()) -> list[Change]:
    """Divisions by a batch size divide by that of all GPUs; inside: nodes that replicas run, each with its own."""
    if options.batch == "total":
        return []
    replicas = set(map(id, inside))
    changes = []
    for node in ast.walk(script.tree):
        if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Div | ast.FloorDiv):
            continue
        if not _is_batch_size(node.right) or id(node) in replicas:
            continue
        if options.num_gpus is None:
            warn_of_count(script, node)
            continue
        begin, end = script.span(node.right)
        changes.append(Change(begin, end, f"({script.text[begin:end]} * {options.num_gpus})", COUNTED))
    return changes


def _is_batch_size(node: ast.expr) -> bool:
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in ("float", "int")
        and node.args
    ):
        node = node.args[0]
    name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        name = str(node.slice.value)
    return "batch" in name.lower() and "num" not in name.lower()


def warn_of_count(script: Script, node: ast.expr) -> None:
    """Warns of a number that may count batches (TMG384)."""
    script.say(
        node,
        "TMG384",
        "this number may count batches, of which a step takes one for each GPU",
        "divide it by the number of GPUs where it does",
        "warning",
    )


def check_count(script: Script, given: ast.expr) -> None:
    """Warns of a number of steps that is divided by something else than a batch size (TMG384)."""
    for node in ast.walk(script.value(given)):
        if (
            isinstance(node, ast.BinOp)
            and isinstance(node.op, ast.Div | ast.FloorDiv)
            and not _is_batch_size(node.right)
        ):
            warn_of_count(script, given)
