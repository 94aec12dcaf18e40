"""Places the tower loop: in which block, around which statements, and what goes before and after."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property

from converter.analysis.facts import Facts, TrainStep
from converter.analysis.frames import Access
from converter.analysis.reasons import Why
from converter.analysis.traits import Trait, has
from converter.analysis.values import (
    Frame,
    Input,
    Origin,
    Site,
    Tensor,
    Value,
    Variable,
    needed,
)
from converter.diagnostics import Refusal
from converter.planner.questions.batch_values import depends_on_batch
from converter.planner.questions.drawn_batches import drawn_in
from converter.planner.questions.nested_tensors import inputs_in
from converter.planner.questions.statements import Step, path, suites
from converter.planner.region.block import BEHIND, Block
from converter.planner.region.changed_between_towers import starting_values
from converter.planner.region.neighbours import close, sort_out
from converter.planner.region.prepared_batches import Entrance
from converter.planner.region.splitting import behind_loop, in_front
from converter.planner.writing.findings import refuse


@dataclass(frozen=True)
class Region:
    """The block of the loop and the indexes of its statements."""

    block: Block
    before: frozenset[int]
    tower: frozenset[int]
    after: frozenset[int]
    inputs: tuple[Input, ...]
    needed: dict[int, Value]
    start: int  # the walk's clock when the first tower statement began
    end: int  # and when the last one had ended
    inline: frozenset[ast.AST]  # expressions that are losses by themselves, and all nodes in them
    splits: dict[int, tuple[ast.stmt, ...]]  # statements inside a tower's with block that stay in front of the loop
    behind: dict[ast.stmt, tuple[ast.stmt, ...]]  # those of blocks, of nested ones too, that come after it
    forward: bool = False  # the towers end before the loss, which is computed from their merged results
    exact: bool = False  # they do so because the loss is not a mean of theirs

    def comes_after(self, access: Access) -> bool:
        """Whether something is read after the loop: later, or by a statement that is moved behind it."""
        index = self.block.statement(access.site)
        return access.time > self.end or index == BEHIND or (index is not None and index in self.after)

    def in_any_tower(self, site: Site) -> bool:
        """The same for any execution of the block: a class may make several models."""
        return any(step.stmt in self.stmts for step in site.chain())

    @cached_property
    def stmts(self) -> frozenset[ast.stmt]:
        """The statements of the towers."""
        return frozenset(self.block.body[i] for i in self.tower)

    def depth_of(self, tensor: Tensor) -> int:
        """The number of scopes around the loop, of those around a tensor of the towers."""
        return len(next(s.scopes for s in tensor.site.chain() if s.stmt in self.block.index))  # type: ignore[union-attr]

    def in_tower(self, site: object) -> bool:
        """Whether something stands among the statements of the towers, in this execution of the block."""
        index = self.block.statement(site)  # type: ignore[arg-type]
        return index is not None and index in self.tower


# Why a batch cannot be cut where it is seen to come to this: the code, and what to do.
UNSHARED = {
    Why.CONFLICT: ("TMG215", "feed what belongs to each of the batches on its own"),
    Why.PIECES: ("TMG215", "feed each of the pieces on its own"),
    Why.STEPS: ("TMG218", "feed several sequences at a time; where they lie along the second axis, say so: "
                      "--batch-axis NAME=1"),
    Why.UNSEEN: ("TMG241", "convert the script that makes it, and its files change with it (--output-dir)"),
    Why.JOINED: ("TMG218", "feed one row for each example, to a placeholder of shape [None, steps, …]"),
    Why.UNSIZED: ("TMG207", "reshape to -1 rows, or name the number batch_size where it is one"),
}  # fmt: skip


def batch_inputs(facts: Facts, steps: Sequence[TrainStep]) -> tuple[Input, ...]:
    """The inputs behind the losses that are cut into shards; none where the towers draw their batches themselves."""
    values = needed(step.loss for step in steps)
    found = [v for v in values.values() if isinstance(v, Input) and v.batch.kind == "example"]
    inputs = tuple(sorted(found, key=lambda v: v.uid))
    if not inputs and not drawn_in(values):
        raise refuse(facts, steps[0].call, "TMG202", "no batch of examples goes into the loss of this training step",
                     "feed examples through placeholders with a batch axis, such as [None, …]")  # fmt: skip
    for value in values.values():
        if inputs and isinstance(value, Input) and value.op.endswith("get_next") and value.batch.kind == "free":
            raise refuse(facts, value.node or steps[0].call, "TMG202",
                         "nothing tells that what this iterator gives is a batch, as what else goes into the loss is",
                         "batch it by Dataset.batch, also where a transformation gives batches")  # fmt: skip
        if isinstance(value, Tensor) and value.batch.why is Why.WHOLE_GRAPH and value.op == "matmul":
            raise refuse(facts, value.node or steps[0].call, "TMG233",
                         f"{value.batch.reason}, as for a graph and its nodes: they cannot be cut into shards",
                         "train on sampled batches of nodes; for examples in columns, --batch-axis NAME=1")  # fmt: skip
        if isinstance(value, Tensor) and value.batch.kind == "opaque" and value.batch.why in UNSHARED:
            code, hint = UNSHARED[value.batch.why]
            raise refuse(facts, value.node or steps[0].call, code, value.batch.reason, hint)
    return inputs


def find_region(
    facts: Facts, steps: Sequence[TrainStep], inputs: tuple[Input, ...], sizes: frozenset[Origin]
) -> Region:
    """The region of a model: what builds its losses from the inputs, and what of its block stays out of the loop.

    Where one statement builds the end of the loss and trains (a property that returns the train op), or one
    makes inputs and the model (a function that returns both), the towers compute what comes before the end of
    the loss; a loss that is a mean over the examples is the same on merged results. So it is where the loss is
    written out in another function than the model's: `minimize(model.a + model.b)`.
    """
    means = all(s.loss.batch.kind == "reduced" and s.loss.batch.how == "mean" for s in steps)
    try:
        region = _find_region(facts, steps, inputs, sizes, forward=False)
        apart = (s.loss_node in region.inline and s.site.frame.uid != region.block.frame.uid for s in steps)
        if means and any(apart):
            with suppress(Refusal):
                return _find_region(facts, steps, inputs, sizes, forward=True)
        return region
    except Refusal as refusal:
        if isinstance(refusal, Entrance) or refusal.diagnostic.code not in ("TMG204", "TMG219") or not means:
            raise
        try:
            return _find_region(facts, steps, inputs, sizes, forward=True)
        except Refusal:
            raise refusal from None


def _find_region(
    facts: Facts, steps: Sequence[TrainStep], inputs: tuple[Input, ...], sizes: frozenset[Origin], forward: bool
) -> Region:
    values = needed(step.loss for step in steps)
    inline = _inline_losses(facts, steps)
    there = [s for s in steps if s.loss_node in inline]
    made = [
        v for v in values.values()
        if depends_on_batch(v) and not isinstance(v, Input) and v.site is not None and not _inside_call(v, there)
        and not inputs_in(v)
    ]  # fmt: skip
    if not made:
        raise refuse(
            facts,
            steps[0].call,
            "TMG214",
            "the model and its loss are not built in one place",
            "build the model and its loss in one function",
        )
    losses = [s.loss for s in steps if s.loss_node not in inline]
    block = innermost_block(facts, made, losses)
    tower = {index for v in made if (index := block.statement(v.site)) is not None}
    if forward:
        trains = min((i for s in steps if (i := block.statement(s.site)) is not None), default=len(block.body))
        tower = {index for index in tower if index < trains}
        block, tower = around_inputs(facts, block, tower, made, values)
    return settled(Region(
        block, frozenset(), frozenset(tower), frozenset(), inputs, values, 0, 0,
        frozenset(n for loss in inline for n in ast.walk(loss)), {}, {}, forward,
    ), made, steps, sizes)  # fmt: skip


def settled(region: Region, made: list[Value], steps: Sequence[TrainStep], sizes: frozenset[Origin]) -> Region:
    """A region of which only the towers' own statements are known, with those that join them or make way.

    made: the tensors that the towers compute for the losses.
    """
    facts, block, tower, values, nodes = (
        region.block.facts, region.block, set(region.tower), region.needed, set(region.inline)
    )  # fmt: skip
    if not tower:
        raise refuse(
            facts,
            steps[0].call,
            "TMG214",
            "the statements that build the loss are not in one place",
            "build the model and its loss in one function",
        )
    tower = close(block, tower, region.inputs, facts, {o.key for o in sizes})
    tower |= starting_values(block, tower)
    splits = in_front(facts, block, tower, values)
    behind = behind_loop(facts, block, tower, made, steps)
    before, tower, after = sort_out(facts, block, tower, nodes)
    if more := starting_values(block, tower) - tower:
        before, tower, after = sort_out(facts, block, tower | more, nodes)
    splits.update(in_front(facts, block, tower, values))
    times = [a.time for i, a in block.accesses() if i in tower]
    times += [v.time for v in facts.tensors if block.statement(v.site) in tower]
    return replace(
        region, before=frozenset(before), tower=frozenset(tower), after=frozenset(after), start=min(times),
        end=max(times), splits=splits, behind=behind,
    )  # fmt: skip


def around_inputs(
    facts: Facts, block: Block, tower: set[int], made: list[Value], values: dict[int, Value]
) -> tuple[Block, set[int]]:
    """The block in which a statement of the towers makes their inputs and computes with them."""
    while tower:
        try:
            in_front(facts, block, tower, values)
            block = Block(facts, block.frame, block.body)  # without what the trial has moved
            break
        except Refusal:
            index = next(i for v in facts.inputs if (i := block.statement(v.site)) is not None and i in tower)
            inner_made = [v for v in made if block.statement(v.site) == index]
            inner = innermost_block(facts, inner_made, [])
            if inner.body is block.body:
                raise
            block, tower = inner, {i for v in inner_made if (i := inner.statement(v.site)) is not None}
    left = (v for v in made if block.statement(v.site) not in tower)
    late = next((v for v in left if isinstance(v, Tensor) and _has_variables(v)), None)
    if late is not None:
        raise refuse(facts, late.node or facts.tree, "TMG214", "a part of the model is built apart from its inputs",
                     "build the model in one function")  # fmt: skip
    return block, tower


def _has_variables(value: Tensor) -> bool:
    return has(value.op, Trait.LAYER) or any(isinstance(i, Variable) for i in value.inputs)


def _inline_losses(facts: Facts, steps: Sequence[TrainStep]) -> set[ast.expr]:
    """Losses that are written out where they are minimised: `minimize(-d_loss)`, `minimize(cross_entropy(y, t))`.

    A function that makes variables for them, or leaves anything in collections, is a part of the model.
    """
    return {
        s.loss_node for s in steps
        if s.loss_node is not None and not isinstance(s.loss_node, (ast.Name, ast.Attribute, ast.Subscript))
        and s.loss.site is not None and _inside_call(s.loss, steps)
        and not any(e.site is not s.site and e.time <= s.time and _within(e.site, s) for e in facts.effects)
    }  # fmt: skip


def _inside_call(value: Value, steps: Sequence[TrainStep]) -> bool:
    """Whether a value was made by evaluating the loss argument of a training step."""
    return any(
        value.time <= s.time and _within(value.site, s)
        and s.loss_node is not None and not isinstance(s.loss_node, (ast.Name, ast.Attribute, ast.Subscript))
        for s in steps
    )  # fmt: skip


def _within(site: Site | None, step: TrainStep) -> bool:
    """Whether something happens in the statement of a training step, or in what it calls."""
    at = step.site
    return site is not None and any(one.stmt is at.stmt and one.frame is at.frame for one in site.chain())


# -- which block ----------------------------------------------------------------------------------


def innermost_block(facts: Facts, made: list[Value], losses: list[Tensor], ended: bool = True) -> Block:
    """The innermost block that all statements between the inputs and the losses lie in.

    ended: whether a return statement cannot be one of them, as where all of them go into the towers.
    """
    where = suites(*facts.trees())
    paths = [path(v.site) for v in (*made, *losses) if v.site is not None]
    depth = _common(paths)
    while depth >= 0:
        heads = {p[depth][1] for p in paths if len(p) > depth}
        frames = {p[depth][0] for p in paths if len(p) > depth}
        blocks = {id(where[h]): where[h] for h in heads if h in where}
        if len(blocks) == 1 and len(frames) == 1 and all(len(p) > depth for p in paths):
            body = next(iter(blocks.values()))
            if not ended or not any(isinstance(h, ast.Return) for h in heads):
                return Block(facts, _frame(made, losses, next(iter(frames))), body)
        depth -= 1
    raise refuse(
        facts,
        next((t.node for t in (*losses, *made) if isinstance(t, Tensor) and t.node), facts.tree),
        "TMG214",
        "the model and its loss are not built in one place",
        "build the model and its loss in one function",
    )


def _common(paths: list[tuple[Step, ...]]) -> int:
    """How many leading steps all paths share, at most one less than the shortest has."""
    depth = 0
    shortest = min(len(p) for p in paths)
    while depth < shortest - 1 and len({p[depth] for p in paths}) == 1:
        depth += 1
    return depth


def _frame(made: list[Value], losses: list[Tensor], uid: int) -> Frame:
    for value in (*losses, *made):
        if value.site is not None:
            for site in value.site.chain():
                if site.frame.uid == uid:
                    return site.frame
    raise AssertionError("a frame on a value's path is found on it")
