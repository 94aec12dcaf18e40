"""Places the tower loop: in which block, around which statements, and what goes before and after."""

from __future__ import annotations

import ast
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from itertools import pairwise

from converter.analysis.facts import Effect, Facts, Maybe, TrainStep, behind_losses, grouped
from converter.analysis.frames import Access, Place
from converter.analysis.tensors.sparse import is_sparse
from converter.analysis.traits import Trait, has
from converter.analysis.values import Frame, Input, Origin, Site, Tensor, Value, Variable, needed
from converter.dataclass import dataclass
from converter.planner.outcome import Refused, Reread
from converter.planner.plan_faults import PlanFault
from converter.planner.questions.batch_values import depends_on_batch
from converter.planner.questions.nested_tensors import inputs_in
from converter.planner.questions.other_calls import Bound, bound_by_other_calls
from converter.planner.questions.statements import Step, path, returned_by, suites
from converter.planner.region.between import sort_out
from converter.planner.region.block import BEHIND, Block, block_of
from converter.planner.region.changed_between_towers import copied_cells, starting_values, with_own
from converter.planner.region.containers import wholes_in
from converter.planner.region.handed import handed_inside
from converter.planner.region.neighbours import close
from converter.planner.region.normalised import normalised_behind
from converter.planner.region.splitting import SplitLosses, behind_loop, in_front
from converter.planner.wording import finding, message_for
from converter.planner.writing.spelling import spelling


@dataclass(frozen=True)
class Region:
    """The block of the loop and the indexes of its statements."""

    block: Block
    before: frozenset[int]
    tower: frozenset[int]
    after: frozenset[int]
    inputs: tuple[Input, ...]
    needed: Mapping[int, Value]
    start: int  # the walk's clock when the first tower statement began
    end: int  # and when the last one had ended
    inline: frozenset[ast.AST]  # expressions that are losses by themselves, and all nodes in them
    splits: dict[int, tuple[ast.stmt, ...]]  # statements inside a tower's with block that stay in front of the loop
    behind: dict[ast.stmt, tuple[ast.stmt, ...]]  # those of blocks, of nested ones too, that come after it
    forward: bool = False  # the towers end before the loss, which is computed from their merged results
    exact: bool = False  # they do so because the loss is not a mean of theirs
    handed: tuple[Input, ...] = ()  # placeholders that the towers' statements make
    lacking: Mapping[int, tuple[Frame, ...]] = field(default_factory=dict)  # by inputs: executions that have none
    packed: frozenset[str] = frozenset()  # places that have several rows for each example in another execution
    ahead: tuple[Region, ...] = ()  # earlier loops that build the first parts of the model
    carried: tuple[Access, ...] = ()  # reads of what each tower made in these, one for each place
    handed_on: tuple[frozenset[int], ...] = ()  # what later loops go on with: the uids of one value, or of its choices
    handed_whole: frozenset[int] = frozenset()  # the uids of lists and dicts that only towers of later loops read
    handed_within: frozenset[int] = frozenset()  # and of those in them

    def comes_after(self, access: Access | Effect) -> bool:
        """Whether something is read or made after the loop: later, or by a statement that is moved behind it."""
        index = self.block.statement(access.site)
        return access.time > self.end or index == BEHIND or (index is not None and index in self.after)

    @cached_property
    def reads_after(self) -> tuple[Access, ...]:
        """The reads after the loop, in the order of the walk; then those of other models that the loop serves, too."""
        own = (a for a in self.block.facts.accesses if not a.write and self.comes_after(a))
        return (*own, *self._read_of_others())

    def _read_of_others(self) -> Iterator[Access]:
        """What code outside of the towers reads of other executions, as reads of what stands there in this one.

        What `a.states` and `b.states` give is left by one statement, `self.states = …`.
        """
        facts, frame = self.block.facts, self.block.frame
        others = facts.frames_by_node.get(frame.node, {}).keys() - {frame}
        if not others:
            return
        left = {text: access for access in self.writes if (text := spelling(frame, access.place)) is not None}
        for access in facts.accesses:
            site = None if access.write else getattr(access.value, "site", None)
            chain = site.chain() if site is not None else ()
            other = next((step.frame for step in chain if step.stmt in self.stmts), None)
            if other in others and other is not None and not self.in_any_tower(access.site):
                here = left.get(spelling(other, access.place) or "")
                if here is not None:
                    yield access._replace(place=here.place, value=here.value)

    def tower_reads(self) -> tuple[Access, ...]:
        """The reads of the code that towers run: their statements, and losses that are written out elsewhere."""
        return self._tower_reads

    def reads_of(self, value: Value) -> Sequence[Access]:
        """The towers' reads of one value."""
        return self._reads_by_value.get(value.uid, ())

    @cached_property
    def _tower_reads(self) -> tuple[Access, ...]:
        chosen = self.tower, self.inline
        return tuple(a for i, a in self.block.accesses() if not a.write and (i in chosen[0] or a.node in chosen[1]))

    def reads_within(self, holder: Value) -> Sequence[Access]:
        """The towers' reads of elements or attributes of one value."""
        return self._reads_by_holder.get(holder.uid, ())

    @cached_property
    def _reads_by_holder(self) -> Mapping[int, list[Access]]:
        reads = (access for access in self._tower_reads if access.place.holder is not None)
        return grouped(reads, lambda access: access.place.owner)

    @cached_property
    def _reads_by_value(self) -> Mapping[int, list[Access]]:
        return grouped(self._tower_reads, lambda access: access.value.uid)

    @cached_property
    def given(self) -> frozenset[int]:
        """The uids of lists and dicts, each tower's own, that it was handed by an earlier loop."""
        return frozenset(held.uid for access in self.carried for held in wholes_in(access.value))

    def in_any_tower(self, site: Site) -> bool:
        """As `in_tower`, for any execution of the block: a class may build several models."""
        known = self._in_any_tower
        if id(site) in known:
            return known[id(site)]
        ahead: list[Site] = []
        found = False
        for step in site.chain():
            left_out = step.stmt in self.block.moved  # an input in a `with` block of the towers stays in front of them
            if id(step) in known or left_out or step.stmt in self.stmts:
                found = known.get(id(step), not left_out)
                break
            ahead.append(step)
        known.update((id(step), found) for step in ahead)
        return found

    @cached_property
    def _in_any_tower(self) -> dict[int, bool]:
        """What is known of the sites so far, which the facts keep."""
        return {}

    @cached_property
    def writes(self) -> tuple[Access, ...]:
        """The writes of the towers' statements, in the order of the walk."""
        return tuple(a for i, a in self.block.accesses() if a.write and i in self.tower)

    @cached_property
    def maybe(self) -> tuple[Maybe, ...]:
        """What only some branches of the towers leave in a place."""
        return tuple(one for one in self.block.facts.maybe if self.in_tower(one.site))

    @cached_property
    def written(self) -> Mapping[Place, list[Value]]:
        """What the towers write to each place, in the order of the walk."""
        found: dict[Place, list[Value]] = {}
        for access in self.writes:
            found.setdefault(access.place, []).append(access.value)
        return found

    @cached_property
    def stmts(self) -> frozenset[ast.stmt]:
        """The statements of the towers."""
        return frozenset(self.block.body[i] for i in self.tower)

    @cached_property
    def other_calls(self) -> Mapping[Frame, Bound]:
        """What the towers' statements bind in other calls of the function that the loop stands in."""
        return bound_by_other_calls(self.block.facts, self.block.frame, self.stmts)

    def depth_of(self, tensor: Tensor) -> int | None:
        """The number of scopes around the loop, of those around a tensor; None for a tensor of another block."""
        chain = tensor.site.chain() if tensor.site is not None else ()
        return next((len(s.scopes) for s in chain if s.stmt in self.block.index), None)

    def in_tower(self, site: Site | None) -> bool:
        """Whether something stands among the statements of the towers, in this execution of the block."""
        index = self.block.statement(site)
        return index is not None and index in self.tower


def written_first(region: Region) -> set[Place]:
    """Places that the towers write before they read them."""
    seen: set[Place] = set()
    first: set[Place] = set()
    for access in sorted((a for i, a in region.block.accesses() if i in region.tower), key=lambda a: a.time):
        if access.place not in seen:
            seen.add(access.place)
            if access.write:
                first.add(access.place)
    return first


def rows_told(region: Region) -> tuple[Access, int] | None:
    """A place on which a tower counts its rows if it reads no input, and the batch axis of what is there; else None.

    It holds what the towers made in an earlier loop, row by row, or an input that nothing takes away from there.
    """
    for access in region.carried:
        value = access.value
        if isinstance(value, Tensor) and value.batch.kind == "example" and not value.batch.packed:
            return access, value.batch.axis
    for access in region.block.facts.accesses:
        value, facts = access.value, region.block.facts
        if access.write and isinstance(value, Input) and value in region.inputs and access.time < region.start:
            text = spelling(region.block.frame, access.place)
            stays = all(other.value is value for other in facts.writes_to(access.place))
            if text and stays and not value.batch.packed and not is_sparse(value) and access.place.kind != "item":
                return access, value.batch.axis
    return None


@dataclass(frozen=True)
class Model:
    """The values that lead to the losses of some training steps.

    made: the values behind the losses that the towers compute, without those of losses that are written out where they
    are minimised: `inline`. sizes: where the batch size comes from. handing: whether statements of the towers may make
    placeholders, of which each tower is handed its rows. staying: statements of blocks that the towers execute and that
    are not moved behind them, as they are not in other executions of these blocks.
    """

    facts: Facts
    steps: Sequence[TrainStep]
    inputs: tuple[Input, ...]
    values: Mapping[int, Value]
    made: list[Value]
    inline: frozenset[ast.expr] = frozenset()
    sizes: frozenset[Origin] = frozenset()
    handing: bool = False
    staying: frozenset[ast.stmt] = frozenset()


def loss_model(
    facts: Facts,
    steps: Sequence[TrainStep],
    inputs: tuple[Input, ...],
    sizes: frozenset[Origin],
    handing: bool = False,
) -> Model | Refused:
    """The values between the inputs and the losses of some training steps; Refused where no statement makes any."""
    values = behind_losses(steps)
    mixed = next((v for v in values.values() if isinstance(v, Input) and _defaults_to_several(v)), None)
    if mixed is not None:
        return Refused((finding(facts, mixed.node or steps[0].call, PlanFault.DEFAULT_OF_EXAMPLES),))
    inline = _inline_losses(facts, steps)
    there = [s for s in steps if s.loss_node in inline]
    made = [
        v
        for v in values.values()
        if depends_on_batch(v)
        and not isinstance(v, Input)
        and v.site is not None
        and not _inside_call(v, there)
        and not inputs_in(v)
    ]
    if not made:
        return Refused((finding(facts, steps[0].call, PlanFault.NOT_IN_ONE_PLACE),))
    return Model(
        facts=facts,
        steps=steps,
        inputs=inputs,
        values=values,
        made=made,
        inline=frozenset(inline),
        sizes=sizes,
        handing=handing,
    )


def _defaults_to_several(value: Input) -> bool:
    """Whether an input has a default that is computed of several examples: their mean; but not the longest length."""
    if not has(value.op, Trait.HAS_DEFAULT):
        return False
    batches = [v.batch for v in needed(value.inputs).values() if isinstance(v, Tensor)]
    known = ("example", "free") if value.is_batch else ("example", "free", "opaque")
    return any(b.how in ("mean", "sum") if b.kind == "reduced" else b.kind not in known for b in batches)


def find_region(model: Model, once: bool = False) -> Region | Refused | Reread:
    """The region of a model: what builds its losses from the inputs, and what of its block stays out of the loop.

    Where one statement builds the end of the loss and trains (a property that returns the train op), or one
    makes inputs and the model (a function that returns both), the towers compute what comes before the end of
    the loss; a loss that is a mean over the examples is the same on merged results. So it is where the loss is
    written out in another function than the model's: `minimize(model.a + model.b)`.

    once: whether any loss may be computed once from merged results.
    """
    steps = model.steps
    found = region_in_one_block(model, forward=False)
    means = all(s.loss.batch.kind == "reduced" and s.loss.batch.how == "mean" for s in steps)
    if isinstance(found, Reread) or (isinstance(found, Region) and not means):
        return found
    if isinstance(found, Refused) and not (means or once):
        return _with_other_loss(model, found)
    if isinstance(found, Refused):
        shorten = found.shorter
    else:
        shorten = any(s.loss_node in found.inline and s.site.frame.uid != found.block.frame.uid for s in steps)
    shorter = region_in_one_block(model, forward=True, exact=not means) if shorten else found
    if isinstance(shorter, Region) or (isinstance(shorter, Refused) and shorter.nearer):
        return shorter
    return found


def _with_other_loss(model: Model, refused: Refused) -> Refused:
    """The refusal, with the option under which the loss could be computed once from merged results, if it can be."""
    way = message_for(PlanFault.LOSS_COULD_BE_COMPUTED_ONCE)
    told = refused.shorter and any(finding.code == way.code for finding in refused.findings)
    if not told or not isinstance(region_in_one_block(model, forward=True, exact=True), Region):
        return refused
    findings = (replace(f, hint=way.advice.format(hint=f.hint)) if f.code == way.code else f for f in refused.findings)
    return replace(refused, findings=tuple(findings))


def region_in_one_block(model: Model, forward: bool, exact: bool = False) -> Region | Refused | Reread:
    """The region of a model in the innermost block that holds all of it.

    forward: whether the towers end before the statement that trains. exact: whether because the loss is no mean.
    """
    facts, steps = model.facts, model.steps
    losses = [s.loss for s in steps if s.loss_node not in model.inline]
    most = depth_outside_turns(model)
    block = innermost_block(facts, model.made, losses, most=most)
    if block is None:
        return Refused((finding(facts, _first_node(facts, [*losses, *model.made]), PlanFault.NOT_IN_ONE_PLACE),))
    own = [cell for cell in copied_cells(model.made) if block.statement(cell.site) is None]
    if own and (wider := innermost_block(facts, [*model.made, *own], losses, most=most)) is not None:
        around = _around_block(model, wider, forward, exact)
        if isinstance(around, Region):
            return around
    return _around_block(model, block, forward, exact)


def _around_block(model: Model, block: Block, forward: bool, exact: bool) -> Region | Refused | Reread:
    """The region of a model in a block that holds all of it."""
    facts, steps = model.facts, model.steps
    tower = {index for v in model.made if (index := block.statement(v.site)) is not None}
    if forward:
        trains = min((i for s in steps if (i := block.statement(s.site)) is not None), default=len(block.body))
        earlier = {index for index in tower if index < trains}
        around = around_inputs(model, block, earlier or {index for index in tower if index == trains})
        if isinstance(around, (Refused, Reread)):
            return around
        block, tower = around
    if not tower:
        return Refused((finding(facts, steps[0].call, PlanFault.LOSS_NOT_IN_ONE_PLACE),))
    return settled(model, block, tower, forward, exact)


def settled(
    model: Model, block: Block, tower: set[int], forward: bool, exact: bool = False
) -> Region | Refused | Reread:
    """The region around the towers' statements, and those behind the loss that take statistics of the same batches.

    The latter stay behind the loop if the towers cannot execute them.
    """
    also = frozenset[int]() if forward else normalised_behind(block, tower, model.inputs, model.steps)
    wider = _settled(model, block, tower | also, forward, exact) if also else None
    return wider if isinstance(wider, Region) else _settled(model, block, tower, forward, exact)


def _settled(model: Model, block: Block, tower: set[int], forward: bool, exact: bool) -> Region | Refused | Reread:
    """The region around the towers' statements, with statements that join them or move out of the way.

    A statement that joins the towers may read a value that would move after the loop: then the blocks are split again.
    """
    facts, whole = model.facts, block
    chosen = close(block, tower, model.inputs, facts, {o.key for o in model.sizes})
    chosen = with_own(block, chosen)
    chosen |= starting_values(block, chosen)
    nodes = {n for loss in model.inline for n in ast.walk(loss)}
    inline = frozenset(a.place for _, a in whole.accesses() if a.node in nodes and not a.write)
    losses = SplitLosses(made=model.made, steps=model.steps, inline=inline, staying=model.staying)
    joined: set[int] = set()
    while True:
        early = in_front(facts, whole, chosen, model.values, model.handing)
        if isinstance(early, (Refused, Reread)):
            return early
        splits, block = early
        opened = behind_loop(facts, block, chosen, joined, losses)
        if isinstance(opened, Refused):
            return opened
        behind, block = opened
        order = sort_out(facts, block, chosen, nodes, handing=model.handing)
        if not isinstance(order, Refused) and (more := _joining(block, order.tower)):
            order = sort_out(facts, block, order.tower | more, nodes, handing=model.handing)
        if isinstance(order, Refused):
            return order
        if order.tower <= chosen | joined:
            break
        joined |= order.tower - chosen
    added = in_front(facts, block, order.tower, model.values, model.handing)
    if isinstance(added, (Refused, Reread)):
        return added
    late, block = added
    times = [a.time for i, a in block.accesses() if i in order.tower]
    times += [v.time for v in facts.tensors if block.statement(v.site) in order.tower]
    handed = handed_inside(facts, block, order.tower) if model.handing else ()
    others = (v for v in handed if v.is_batch and v not in model.inputs)
    return Region(
        block=block,
        before=frozenset(order.before),
        tower=frozenset(order.tower),
        after=frozenset(order.after),
        inputs=(*model.inputs, *others),
        needed=model.values,
        start=min(times),
        end=max(times),
        inline=frozenset(nodes),
        splits={**splits, **late},
        behind=behind,
        forward=forward,
        exact=exact,
        handed=handed,
    )


def _joining(block: Block, tower: set[int]) -> set[int]:
    """Statements that make what each tower needs of its own, or begins with, and that are not among the towers' yet."""
    return (with_own(block, tower) | starting_values(block, tower)) - tower


def around_inputs(model: Model, block: Block, tower: set[int]) -> tuple[Block, set[int]] | Refused | Reread:
    """As `opened_at_inputs`; Refused if variables of the model are left for other statements, or what these begin with.

    A batch that the caller has changed is none of the inputs that are cut: each tower would read all of it.
    """
    around = opened_at_inputs(model, block, tower)
    if isinstance(around, (Refused, Reread)):
        return around
    inner, statements, called_apart = around
    inside = [v for v in model.made if inner.statement(v.site) in statements]
    read = {v.uid for made in inside for v in made.inputs}
    left = (v for v in model.made if isinstance(v, Tensor) and inner.statement(v.site) not in statements)
    apart_from = next((v for v in left if _has_variables(v) or v.uid in read), None)
    if apart_from is None:
        return inner, statements
    apart = finding(model.facts, apart_from.node or model.facts.tree, PlanFault.APART_FROM_INPUTS)
    return Refused((apart,), nearer=called_apart)


def opened_at_inputs(model: Model, block: Block, tower: set[int]) -> tuple[Block, set[int], bool] | Refused | Reread:
    """The block in which a statement of the towers makes their inputs and computes with them, and the statements.

    The last part says whether the model is built by several calls in one statement.
    """
    facts, made = model.facts, model.made
    called_apart = False
    while tower:
        trial = in_front(facts, block, tower, model.values, model.handing)
        if not isinstance(trial, (Refused, Reread)):
            break
        entry, index = next((v, i) for v in facts.inputs if (i := block.statement(v.site)) in tower and i is not None)
        inner_made = [v for v in made if block.statement(v.site) == index]
        inner = innermost_block(facts, inner_made, [])
        if inner is not None and inner.body is block.body:  # several calls in one statement: `Model().train()`
            of_call = _of_one_call(inner_made, entry, block.body[index])
            called_apart = isinstance(block.body[index], ast.Expr) and 0 < len(of_call) < len(inner_made)
            inner_made = of_call if called_apart else inner_made
            inner = innermost_block(facts, inner_made, [])
        if inner is None:
            return Refused((finding(facts, _first_node(facts, inner_made), PlanFault.NOT_IN_ONE_PLACE),))
        if inner.body is block.body:
            return trial
        block, tower = inner, {i for v in inner_made if (i := inner.statement(v.site)) is not None}
    return block, tower, called_apart


def _of_one_call(made: list[Value], entry: Value, stmt: ast.stmt) -> list[Value]:
    """The values that the call in a statement which makes an input makes too."""

    def called(value: Value) -> int | None:
        steps = path(value.site)
        return next((uid for (_, above), (uid, _) in pairwise(steps) if above is stmt), None)

    return [value for value in made if called(value) == called(entry)]


def _first_node(facts: Facts, values: Sequence[Value]) -> ast.AST:
    return next((v.node for v in values if isinstance(v, Tensor) and v.node), facts.tree)


def _has_variables(value: Tensor) -> bool:
    return has(value.op, Trait.LAYER) or any(isinstance(i, Variable) for i in value.inputs)


def _inline_losses(facts: Facts, steps: Sequence[TrainStep]) -> set[ast.expr]:
    """Losses that are written out where they are minimised: `minimize(-d_loss)`, `minimize(cross_entropy(y, t))`.

    A function that makes variables for them, or leaves anything in collections, is a part of the model. A loop that
    minimises one after the other, `minimize(losses[i] * scale)`, writes out none that the towers could compute.
    """
    return {
        s.loss_node
        for s in steps
        if s.loss_node is not None
        and not isinstance(s.loss_node, (ast.Name, ast.Attribute, ast.Subscript))
        and s.loss.site is not None
        and _inside_call(s.loss, steps)
        and not _in_each_turn(facts, s)
        and not any(e.site is not s.site and e.time <= s.time and _within(e.site, s) for e in facts.effects)
    }


def _in_each_turn(facts: Facts, step: TrainStep) -> bool:
    """Whether a loop behind the model executes the call for one loss after the other."""
    turns = [s for s in facts.train_steps if s.call is step.call and s.site.frame is step.site.frame]
    first = min((s.time for s in turns), default=0)
    return len({s.loss.uid for s in turns}) > 1 and all(
        value.time < first or _inside_call(value, turns)
        for turn in turns
        for value in turn.behind.values()
        if depends_on_batch(value)
    )


def _inside_call(value: Value, steps: Sequence[TrainStep]) -> bool:
    """Whether a value was made by evaluating the loss argument of a training step."""
    return any(
        value.time <= s.time
        and _within(value.site, s)
        and s.loss_node is not None
        and not isinstance(s.loss_node, (ast.Name, ast.Attribute, ast.Subscript))
        for s in steps
    )


def _within(site: Site | None, step: TrainStep) -> bool:
    """Whether something happens in the statement of a training step, or in what it calls."""
    at = step.site
    return site is not None and any(one.stmt is at.stmt and one.frame is at.frame for one in site.chain())


def depth_outside_turns(model: Model) -> int | None:
    """The greatest depth of a block with all iterations of a loop that computes a loss; None for any depth.

    In `for _ in range(3): loss += tf.reduce_mean(model(X))` each loss holds those of the turns before. One call may
    also minimise the losses of a list, each of a turn of its own.
    """
    begins, made = model.facts.turns, {v.uid for v in model.made}
    depths: list[int] = []
    losses: dict[ast.AST, list[Tensor]] = {}
    for step in model.steps if begins else ():
        losses.setdefault(step.call, []).append(step.loss)
    for of_call in losses.values():
        turns: dict[Site, set[int]] = {}
        for value in needed(of_call).values():
            for site in value.site.chain() if value.site is not None and value.uid in made else ():
                if site in begins:
                    turns.setdefault(site, set()).add(bisect_right(begins[site], value.time))
        depths += [len(path(loop)) - 1 for loop, numbers in turns.items() if len(numbers) > 1]
    return min(depths, default=None)


def innermost_block(
    facts: Facts, made: list[Value], losses: list[Tensor], ended: bool = True, most: int | None = None
) -> Block | None:
    """The innermost block that all statements between the inputs and the losses lie in; None for none.

    ended: whether a return statement cannot be one of them, as where all of them go into the towers.
    most: how deep it may lie; None for any depth.
    """
    where = suites(*facts.trees())
    paths = [path(v.site) for v in (*made, *losses) if v.site is not None]
    depth = min(_common(paths), _common(paths) if most is None else most)
    while depth >= 0:
        heads = {p[depth][1] for p in paths if len(p) > depth}
        frames = {p[depth][0] for p in paths if len(p) > depth}
        blocks = {id(where[h]): where[h] for h in heads if h in where}
        if len(blocks) == 1 and len(frames) == 1 and all(len(p) > depth for p in paths):
            body = next(iter(blocks.values()))
            if not ended or not any(_ends(facts, h) for h in heads):
                return block_of(facts, _frame(made, losses, next(iter(frames))), body)
        depth -= 1
    return None


def _ends(facts: Facts, stmt: ast.stmt) -> bool:
    """Whether a statement is a return, or holds one that a run may come to: it ends a loop with the first tower."""
    return isinstance(stmt, ast.Return) or not facts.returned.isdisjoint(returned_by(stmt))


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
