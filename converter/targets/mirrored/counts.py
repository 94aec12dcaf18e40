"""Numbers that count batches: a step takes one batch for each GPU, so that an epoch has fewer steps."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

from converter.analysis.traits import Trait
from converter.options import Options
from converter.syntax.changes import Change
from converter.syntax.known import is_known
from converter.syntax.script import Script

COUNTED = "TMG154"
_EVALUATE = ("evaluate", "evaluate_generator", "predict", "predict_generator")


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
        for_evaluation = set(_evaluates(script, node))
        if for_evaluation == {True}:
            continue
        if options.num_gpus is None or True in for_evaluation:
            warn_of_count(script, node)
            continue
        begin, end = script.span(node.right)
        changes.append(Change(begin, end, f"({script.text[begin:end]} * {options.num_gpus})", COUNTED))
    return changes


def _evaluates(script: Script, node: ast.expr) -> Iterator[bool]:
    """Whether a number is for evaluation, whose batches stay what they are: of each use of it, followed by its name."""
    todo, seen = [node], set[str]()
    while todo:
        one = todo.pop()
        stmt = script.statement(one)
        inside = [above for above in (one, *script.above(one)) if not isinstance(above, ast.stmt)]
        if any(_is_evaluation(script, above) for above in inside):
            yield True
            continue
        name = stmt.targets[0] if isinstance(stmt, ast.Assign) and len(stmt.targets) == 1 else None
        if not isinstance(name, ast.Name):
            yield False
        elif name.id not in seen:
            seen.add(name.id)
            uses = [n for n in ast.walk(script.tree) if isinstance(n, ast.Name) and n.id == name.id]
            todo += [use for use in uses if isinstance(use.ctx, ast.Load) and script.statement(use) is not stmt]


def _is_evaluation(script: Script, node: ast.AST) -> bool:
    if isinstance(node, ast.keyword):
        return node.arg == "validation_steps"
    if not isinstance(node, ast.Call):
        return False
    method = node.func.attr if isinstance(node.func, ast.Attribute) and not script.name(node.func) else ""
    return method in _EVALUATE or is_known(script, node.func, Trait.EVALUATION_SPEC)


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
