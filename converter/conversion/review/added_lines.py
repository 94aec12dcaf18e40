"""Special execution of the lines that the conversion added; all other lines run as in any script.

The walk executes everything else of the text as it executes any script.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

from converter.analysis.nodes import below, children
from converter.analysis.python.expressions import EVALUATE
from converter.analysis.python.operators import truth
from converter.analysis.python.statements import assign, execute_block
from converter.analysis.traits import Trait, has
from converter.analysis.values import (
    Constant,
    Host,
    Input,
    Instance,
    Mapping,
    Number,
    Origin,
    Sequence,
    Tensor,
    Value,
)
from converter.analysis.walk import Walk
from converter.conversion.review.helpers import (
    ENTERED,
    HELPERS,
    grow,
    grown,
    hand,
    losses_of,
    made_optimizer,
    merge,
    merge_collections,
    share_of_handed,
    whole_of_handed,
)
from converter.conversion.review.tower_loop import Signal, towers_loop
from converter.conversion.review.towers import SHARE, TRIM, TowerRecords, behind, helper_of
from converter.parsing import parse_expression

Hook = Callable[[Walk, Any], Value]
Statement = Callable[[Walk, Any], Signal]
OF_ENTERED: dict[str, Callable[[TowerRecords, Walk, Any], Value]] = {  # methods of the objects that towers enter
    "merge": merge_collections,
    "whole": whole_of_handed,
    "share": share_of_handed,
}


class AddedLines:
    """Replacements for the tool's own expressions and statements in converted trees.

    added: the statements that the original does not have. helpers: by the names under which they were written.
    numbers: the expressions for the number of towers, in one file or another.
    """

    def __init__(
        self, trees: Iterable[ast.Module], added: Iterable[ast.stmt], helpers: dict[str, str], numbers: Iterable[str]
    ) -> None:
        self.towers = TowerRecords(Origin(ast.Pass(), ("gpus",), "gpus"), helpers)
        self.expressions: dict[ast.AST, Hook] = {}
        self.statements: dict[ast.stmt, Statement] = {}
        counts = [parse_expression(number) for number in numbers]
        self.counts = {ast.dump(count) for count in counts}
        self.kinds = {type(count) for count in counts}
        self.names = {count.id for count in counts if isinstance(count, ast.Name)}
        self.entered: set[str] = set()  # names of the objects that towers enter
        nodes = [node for tree in trees for node in below(tree)]
        for node in nodes:
            if isinstance(node, ast.Assign) and helper_of(node.value, helpers) in ENTERED:
                self.entered.update(target.id for target in node.targets if isinstance(target, ast.Name))
            if isinstance(node, ast.For) and self._is_tower(node):
                self.statements[node] = partial(towers_loop, self.towers, self.entered)
        for node in nodes:
            hook = self._expression(node)
            if hook is not None:
                self.expressions[node] = hook
        for stmt in added:
            if stmt not in self.statements:
                self.statements.update(self._statement(stmt))
                self.expressions.update(dict(self._inside(stmt)))

    def _is_count(self, node: ast.AST) -> bool:
        """Whether an expression is the number of towers."""
        if isinstance(node, ast.Name):  # most of them: no dump for each
            return node.id in self.names and isinstance(node.ctx, ast.Load)
        return type(node) in self.kinds and ast.dump(node) in self.counts

    def _is_tower(self, loop: ast.For) -> bool:
        """Whether a loop's body is one block that is entered by helpers, once for each tower."""
        over, first = loop.iter, loop.body[0]
        if not isinstance(over, ast.Call) or len(over.args) != 1 or not self._is_count(over.args[0]):
            return False
        if len(loop.body) != 1 or not isinstance(first, ast.With):
            return False
        inner = [helper_of(n, self.towers.helpers) or "" for i in first.items for n in ast.walk(i.context_expr)]
        return any(name.startswith(("tower_device", "enter_tower")) for name in inner)

    def _hook(self, function: Callable[[TowerRecords, Walk, Any], Value]) -> Hook:
        return partial(function, self.towers)

    def _expression(self, node: ast.AST) -> Hook | None:
        """The replacement for an expression anywhere in the text; None for most."""
        if isinstance(node, ast.Name):  # most of them
            return self._hook(_count) if self._is_count(node) else None
        if isinstance(node, ast.Call):
            return self._call(node)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult) and self._is_count(node.right):
            return self._hook(grow)
        if isinstance(node, ast.IfExp) and self._is_count(node.body) and getattr(node.orelse, "value", None) == 0:
            return _own_number  # `num_gpus if given else 0`
        if isinstance(node, ast.BoolOp) and isinstance(node.values[-1], ast.List):
            kept = node.values[0]  # `tower_loss or [loss]`
            return _one_or_all if isinstance(kept, ast.Name) and kept.id.startswith("tower") else None
        if isinstance(node, ast.Lambda) and helper_of(node.body, self.towers.helpers) == "TowerOptimizer":
            return self._hook(made_optimizer)
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
            if self._is_count(node):
                return self._hook(_count)
            if node.attr == "tower_losses":
                return self._hook(_tower_losses)
        return None

    def _call(self, node: ast.Call) -> Hook | None:
        name = helper_of(node, self.towers.helpers)
        called = node.func
        if self._is_count(node):
            return self._hook(_count)
        if name is not None:
            return self._hook(HELPERS[name]) if name in HELPERS else _nothing
        if getattr(called, "id", "") == "getattr" and getattr(node.args[1], "value", "") == "tower_losses":
            return self._hook(_kept_losses)
        if isinstance(called, ast.Attribute) and isinstance(called.value, ast.Name) and called.value.id in self.entered:
            return self._hook(OF_ENTERED[called.attr]) if called.attr in OF_ENTERED else _nothing
        return None

    def hook_of(self, node: ast.expr) -> Hook | None:
        """The replacement for an expression; where towers are handed their placeholders, for every call of one."""
        handed = self.towers.handing is not None and isinstance(node, ast.Call)
        if handed and has(getattr(getattr(node, "func", None), "attr", ""), Trait.PLACEHOLDER):
            return self._hook(hand)
        return self.expressions.get(node)

    def _inside(self, stmt: ast.stmt) -> Iterator[tuple[ast.AST, Hook]]:
        """Slices, products and merges in an added statement; statements inside of it are seen on their own."""
        blocks = ("body", "orelse", "finalbody", "handlers")
        todo: list[ast.AST] = [
            part
            for name, value in ast.iter_fields(stmt)
            if name not in blocks
            for part in (value if isinstance(value, list) else [value])
            if isinstance(part, ast.AST)
        ]
        while todo:
            node = todo.pop()
            todo += children(node)
            if node in self.expressions:
                continue
            if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
                yield node, self._hook(_trim)
            elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
                yield node, self._hook(_share)
            elif isinstance(node, ast.Call):
                name = getattr(node.func, "attr", "")
                if has(name, Trait.ADDS_LIST) or has(name, Trait.CONCATENATES):
                    yield node, self._hook(merge)
                elif has(name, Trait.SAME):
                    yield node, self._hook(_named)
                elif name == "copy" and not node.args:
                    yield node, _copy
                elif getattr(getattr(node.func, "value", None), "id", "") == "builtins":
                    yield node, _copied

    def _statement(self, stmt: ast.stmt) -> Iterator[tuple[ast.stmt, Statement]]:
        """Special execution for an added statement that plain interpretation would get wrong; None for others."""
        if isinstance(stmt, ast.AugAssign) and self._is_count(stmt.value):
            yield stmt, partial(_grow_in_place, self.towers)
        elif isinstance(stmt, ast.Assign) and getattr(stmt.targets[0], "id", "") in self.names:
            if not isinstance(stmt.value, ast.Constant):
                yield stmt, partial(_set_count, self.towers)
        elif isinstance(stmt, ast.If):
            several = isinstance(stmt.test, ast.Compare) and self._is_count(stmt.test.left)
            yield stmt, _several if several else _if_made
        elif isinstance(stmt, ast.Assign) and isinstance(stmt.targets[0], ast.Subscript):
            if isinstance(stmt.targets[0].slice, ast.Slice):
                yield stmt, _contents
        elif isinstance(stmt, ast.Assign) and any(isinstance(n, ast.Subscript) for n in ast.walk(stmt.targets[0])):
            yield stmt, _entries
        elif isinstance(stmt, ast.Expr) and isinstance(stmt.value, ast.Call):
            called = stmt.value.func
            if isinstance(called, ast.Attribute) and called.attr == "clear":
                yield stmt, _clear
            elif isinstance(called, ast.Attribute) and getattr(called.value, "attr", "") == "__dict__":
                yield stmt, _absent


def _count(towers: TowerRecords, walk: Walk, node: ast.AST) -> Value:
    return towers.gpus()


def _tower_losses(towers: TowerRecords, walk: Walk, node: ast.Attribute) -> Value:
    return losses_of(towers, walk, node.value)


def _kept_losses(towers: TowerRecords, walk: Walk, node: ast.Call) -> Value:
    """`getattr(loss, 'tower_losses', [loss])`."""
    return losses_of(towers, walk, node.args[0])


def _nothing(walk: Walk, node: ast.Call) -> Value:
    for arg in (*node.args, *(k.value for k in node.keywords)):
        walk.evaluate(arg)
    return Host((), "helper", node)


def _own_number(walk: Walk, node: ast.IfExp) -> Value:
    """The script's own number of GPUs, which may be 0: then the number of towers is taken."""
    return walk.evaluate(node.test)


def _one_or_all(walk: Walk, node: ast.BoolOp) -> Value:
    """`tower_loss or [loss]`: the towers' losses, where there are towers."""
    losses = walk.evaluate(node.values[0])
    return losses if isinstance(losses, Sequence) and losses.elements else EVALUATE[ast.BoolOp](walk, node)


# -- what a tower begins with -----------------------------------------------------------------------


def _named(towers: TowerRecords, walk: Walk, node: ast.Call) -> Value:
    """`tf.identity(tf.concat(tower_x, 0), name='x')`: the merge under a name."""
    held = walk.evaluate(node.args[0]) if node.args else None
    if not isinstance(held, Tensor) or held.uid not in towers.merges:
        return EVALUATE[ast.Call](walk, node)
    made = Tensor(held.batch, held.inputs, held.lengths, held.op, node)
    towers.merges[made.uid] = towers.merges[held.uid]
    return made


def _several(walk: Walk, stmt: ast.If) -> Signal:
    """The body of a condition on the number of towers, which is taken."""
    return execute_block(walk, stmt.body)


def _if_made(walk: Walk, stmt: ast.If) -> Signal:
    """The body of a condition that a part of the model exists: it is taken unless the part is known to be missing."""
    test = walk.evaluate(stmt.test)
    known = bool(test.elements) if isinstance(test, Sequence) else truth(test)
    return execute_block(walk, stmt.body if known is not False else stmt.orelse)


def _contents(walk: Walk, stmt: ast.Assign) -> Signal:
    """`items[:] = before`."""
    target = stmt.targets[0]
    assert isinstance(target, ast.Subscript)
    held, given = walk.evaluate(target.value), walk.evaluate(stmt.value)
    if isinstance(held, Sequence) and isinstance(given, Sequence):
        held.elements, held.many, held.open = list(given.elements), given.many, given.open
    return None


def _entries(walk: Walk, stmt: ast.Assign) -> Signal:
    """`(features['x'], y), rows, weight = shard(…)`, of a dict that an iterator gives."""
    given = walk.evaluate(stmt.value)
    assign(walk, stmt.targets[0], given)
    todo: list[tuple[ast.expr, Value]] = [(stmt.targets[0], given)]
    while todo:
        target, value = todo.pop()
        if isinstance(target, (ast.Tuple, ast.List)) and isinstance(value, Sequence):
            todo += zip(target.elts, value.elements, strict=False)
        elif isinstance(target, ast.Subscript) and isinstance(value, Tensor):
            holder, key = walk.evaluate(target.value), walk.evaluate(target.slice)
            if isinstance(holder, Input) and isinstance(key, Constant):
                holder.entries[str(key.value)] = value
    return None


def _holder(call: ast.expr) -> ast.expr:
    """The object whose method is called."""
    assert isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)
    return call.func.value


def _clear(walk: Walk, stmt: ast.Expr) -> Signal:
    held = walk.evaluate(_holder(stmt.value))
    if isinstance(held, Mapping):
        held.pairs = []
    elif isinstance(held, Sequence):
        held.elements = []
    return None


def _absent(walk: Walk, stmt: ast.Expr) -> Signal:
    """`self.__dict__.pop('name', None)`."""
    call = stmt.value
    assert isinstance(call, ast.Call)
    contents = _holder(call)
    assert isinstance(contents, ast.Attribute)
    holder, name = walk.evaluate(contents.value), getattr(walk.evaluate(call.args[0]), "value", None)
    if isinstance(holder, Instance):
        holder.attributes.pop(str(name), None)
    return None


def _set_count(towers: TowerRecords, walk: Walk, stmt: ast.Assign) -> Signal:
    """`num_gpus = args.num_gpus`: what was multiplied before has another number of towers."""
    walk.evaluate(stmt.value)
    towers.counted[walk.frame.module.uid] = walk.clock
    return None


def _grow_in_place(towers: TowerRecords, walk: Walk, stmt: ast.AugAssign) -> Signal:
    """`batch_size *= NUM_GPUS`."""
    load = parse_expression(ast.unparse(stmt.target))
    number = walk.evaluate(load)
    assign(walk, stmt.target, walk.stamp(grown(towers, walk, number), stmt) if isinstance(number, Number) else number)
    return None


# -- slices and products of the tool's own lines ----------------------------------------------------


def _entry(towers: TowerRecords, walk: Walk, node: ast.Subscript) -> Value:
    """`layers[0]`, which is to be there by then."""
    held, index = walk.evaluate(node.value), getattr(node.slice, "value", None)
    size = len(held.elements) if isinstance(held, Sequence) and not held.unmeasured else None
    if size is not None and isinstance(index, int) and not -size <= index < size:
        towers.missing.append((held, node))
    return EVALUATE[ast.Subscript](walk, node)


def _trim(towers: TowerRecords, walk: Walk, node: ast.Subscript) -> Value:
    """`logits[:, :rows]`: without the row that a tower without any computes on."""
    if not isinstance(node.slice, (ast.Slice, ast.Tuple)):
        return _entry(towers, walk, node)
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    last = parts[-1]
    if not isinstance(last, ast.Slice) or last.upper is None or last.lower is not None:
        return EVALUATE[ast.Subscript](walk, node)
    holder, rows = walk.evaluate(node.value), walk.evaluate(last.upper)
    if not isinstance(holder, Tensor):
        return EVALUATE[ast.Subscript](walk, node)
    return Tensor(holder.batch, (holder, rows, Number(len(parts) - 1)), holder.lengths, TRIM, node)


def _copy(walk: Walk, node: ast.Call) -> Value:
    held = walk.evaluate(_holder(node))
    if isinstance(held, Mapping):
        return Mapping(held.pairs)
    return Sequence(held.elements, held.mutable, held.many) if isinstance(held, Sequence) else held


def _copied(walk: Walk, node: ast.Call) -> Value:
    """`builtins.list(names)`, where the script binds `list`."""
    held = walk.evaluate(node.args[0]) if node.args else Host()
    if isinstance(held, Mapping):
        return Mapping(held.pairs)
    return held.copy() if isinstance(held, Sequence) else EVALUATE[ast.Call](walk, node)


def _share(towers: TowerRecords, walk: Walk, node: ast.BinOp) -> Value:
    """`loss * weight`: a tower's share of a mean or a sum."""
    left, right = walk.evaluate(node.left), walk.evaluate(node.right)
    if isinstance(left, Tensor) and any(v.uid in towers.cuts for v in behind(right)):
        return Tensor(left.batch, (left, right), left.lengths, SHARE, node)
    return EVALUATE[ast.BinOp](walk, node)
