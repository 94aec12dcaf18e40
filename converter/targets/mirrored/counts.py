"""Numbers that count batches: a step takes one batch for each GPU, so that an epoch has fewer steps."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from enum import Enum
from typing import TypeGuard

from converter.analysis.traits import Trait
from converter.options import Options
from converter.syntax.changes import Change, replaced
from converter.syntax.known import is_known
from converter.syntax.script import Script, literal, nodes_of

COUNTED = "TMG154"
_EVALUATE = ("evaluate", "evaluate_generator", "predict", "predict_generator")


def batch_counts(
    script: Script, options: Options, inside: Collection[ast.AST] = (), number: str | None = None
) -> list[Change]:
    """Divisions by a batch size that count batches divide by that of all GPUs.

    inside: nodes that replicas run, each with a batch of the script's size; they count by the number of steps alone.
    number: an expression for the number of GPUs, None for that of the options.
    """
    if options.batch == "total":
        return []
    number = number if number is not None or options.num_gpus is None else str(options.num_gpus)
    replicas = set(map(id, inside))
    changes = []
    for node in divisions(script.tree):
        if not is_batch_size(node.right) or _scales(script, node):
            continue
        uses = set(_uses(script, node, replicas))
        if uses <= {_Use.EVALUATION, _Use.REPLICA} and (uses or id(node) in replicas):
            continue
        if number is None or uses != {_Use.COUNT}:
            warn_of_count(script, node)
            continue
        changes.append(replaced(script, node.right, f"({script.of(node.right)} * {number})", COUNTED))
    return changes


def divisions(node: ast.AST) -> Iterator[ast.BinOp]:
    """The divisions in a piece of code."""
    return filter(is_division, ast.walk(node))


def is_division(node: ast.AST) -> TypeGuard[ast.BinOp]:
    """Whether a node is a division."""
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div | ast.FloorDiv)


def check_part(script: Script, inside: Collection[ast.AST]) -> None:
    """Refuse code of replicas that reads the size of the whole batch: each replica has a part of it (TMG288)."""
    replicas = set(map(id, inside))
    for node in inside:
        if not isinstance(node, ast.Name | ast.Attribute | ast.Subscript) or not _is_size(script, node):
            continue
        bound = [script.value(one) for one in script.bindings.get(ast.unparse(node), [])]
        own = isinstance(node, ast.Name) and any(id(one) in replicas for one in bound)  # tf.shape(x)[0]
        if isinstance(node.ctx, ast.Load) and not own and _Use.COUNT not in _uses(script, node, replicas):
            script.finding(node, "TMG288 size_in_model", code=ast.unparse(node))


class _Use(Enum):
    """The ways in which a number of batches is used."""

    COUNT = "it counts batches"
    EVALUATION = "it counts batches of an evaluation, which stay what they are"
    REPLICA = "replicas compute with it"


def _scales(script: Script, node: ast.BinOp) -> bool:
    """Whether a division by the batch size makes a mean of a sum: of tensors, or 1 / batch_size."""
    left = script.value(node.left)
    tensors = any(script.name(call.func).startswith("tf.") for call in nodes_of(ast.Call, left))
    return tensors or literal(left) in (1, 0.5)


def _uses(script: Script, node: ast.expr, replicas: Collection[int]) -> Iterator[_Use]:
    """The uses of a number, also through names that it is bound to."""
    todo, seen = [node], set[str]()
    while todo:
        one = todo.pop()
        stmt = script.statement(one)
        above = [outer for outer in (one, *script.above(one)) if not isinstance(outer, ast.stmt)]
        name = stmt.targets[0] if isinstance(stmt, ast.Assign) and len(stmt.targets) == 1 else None
        if any(_is_evaluation(script, outer) for outer in above):
            yield _Use.EVALUATION
        elif any(isinstance(outer, ast.Call) and is_known(script, outer.func, Trait.SCHEDULES) for outer in above):
            yield _Use.COUNT
        elif not isinstance(name, ast.Name):
            yield _Use.REPLICA if id(one) in replicas else _Use.COUNT
        elif name.id not in seen:
            seen.add(name.id)
            todo += [use for use in script.reads(name.id) if script.statement(use) is not stmt]


def _is_evaluation(script: Script, node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        return script.method(node) in _EVALUATE or is_known(script, node.func, Trait.EVALUATION_SPEC)
    return isinstance(node, ast.keyword) and node.arg == "validation_steps"


def is_batch_size(node: ast.expr) -> bool:
    """Whether an expression is named like the size of a batch."""
    if isinstance(node, ast.Call) and ast.unparse(node.func) in ("float", "int") and node.args:
        node = node.args[0]
    name = getattr(node, "attr", getattr(node, "id", ""))
    if isinstance(node, ast.Subscript):
        name = str(literal(node.slice))
    return "batch" in name.lower() and "num" not in name.lower()


def _is_size(script: Script, node: ast.Name | ast.Attribute | ast.Subscript) -> bool:
    """Whether a name is that of a batch's size: neither a batch nor something of a library."""
    named = isinstance(node, ast.Subscript) or not script.name(node)
    return named and is_batch_size(node) and "size" in ast.unparse(node).lower()


def warn_of_count(script: Script, node: ast.expr) -> None:
    """Warns of a number that may count batches (TMG384)."""
    script.finding(node, "TMG384")


def check_count(script: Script, given: ast.expr) -> None:
    """Warns of a number of steps that is divided by something else than a batch size (TMG384)."""
    if not all(is_batch_size(node.right) for node in divisions(script.value(given))):
        warn_of_count(script, given)
