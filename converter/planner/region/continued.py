"""Models whose last part, the loss and the training step stand in another function than their first part.

    logits = net(x)                      # the first towers
    train_op = optimize(logits, y)       # builds the loss of the logits, and trains

Each tower's loss is computed from that tower's logits, and no block of statements holds the whole model without the
training step. So there are two loops: the first around the statements in front of the call, and one in the function
that is called. There each tower goes on with what it made in the first.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import replace

from converter.analysis.effects import READS_COLLECTION, EffectKind
from converter.analysis.facts import Facts
from converter.analysis.flow.joined import choices
from converter.analysis.flow.keys import key_reader
from converter.analysis.frames import Access, Place
from converter.analysis.values import Constant, Input, Mapping, Site, Tensor, Value, tensors_in
from converter.analysis.values import Sequence as List
from converter.dataclass import dataclass
from converter.planner.outcome import Refused, Reread
from converter.planner.questions.batch_values import (
    counts_examples,
    depends_on_batch,
    is_made_of_shard,
    keeps_batch,
    may_hold_tensors,
)
from converter.planner.region.block import Block
from converter.planner.region.containers import wholes_in
from converter.planner.region.prepared_batches import prepared_batches
from converter.planner.region.region import (
    Model,
    Region,
    depth_outside_turns,
    find_region,
    innermost_block,
    opened_at_inputs,
    region_in_one_block,
    rows_told,
    settled,
    written_first,
)
from converter.planner.region.splitting import in_front
from converter.planner.writing.spelling import spelling


def region_of(
    model: Model | Refused, once: bool = False, chained: bool = False, beside: Sequence[tuple[Region, ...]] = ()
) -> Region | Refused | Reread:
    """The region of a model in one block, or that of its last part, with the regions ahead of it.

    once: whether any loss may be computed once from merged results. chained: whether regions in which each tower
    computes its own loss come before one that ends ahead of it. beside: the regions ahead of the same last part where
    other models are built in place of this one.
    """
    if isinstance(model, Refused):
        return model
    if chained and (last := _with_own_losses(model)) is not None:
        return last
    found = find_region(model, once)
    means = all(step.loss.batch.kind == "reduced" and step.loss.batch.how == "mean" for step in model.steps)
    if not isinstance(found, Refused) or not found.shorter or (once and not means):
        return found
    return _of_last_part(model, found, beside)


def _with_own_losses(model: Model) -> Region | None:
    """The last of several regions in which each tower goes on to its own loss; None where they cannot be linked."""
    chain = in_several_blocks(model)
    return (_linked(model.facts, chain) or _linked(model.facts, chain, whole=True)) if chain else None


def _of_last_part(model: Model, otherwise: Refused, beside: Sequence[tuple[Region, ...]]) -> Region | Refused | Reread:
    """The region of a model's last part, with those ahead of it, or another reading; else the refusal."""
    chain = in_several_blocks(model)
    linked = _linked(model.facts, chain, beside=beside) if chain else None
    if linked is not None:
        return linked
    prepared = _after_preparation(model, otherwise)
    if isinstance(prepared, Reread) or not chain:
        return prepared
    return _linked(model.facts, chain, whole=True, beside=beside) or prepared


def _after_preparation(model: Model, otherwise: Refused) -> Refused | Reread:
    """Another reading, where all that stands in front of the call that trains prepares whole batches for the model."""
    ends = _ends_of(model)
    ready = prepared_batches(ends.block, ends.first, model.values) if ends is not None else {}
    return Reread(ready, otherwise.findings[0]) if ready else otherwise


@dataclass(frozen=True)
class _Ends:
    """The block of a model whose last statement trains in a function that it calls.

    first: the statements that make the first part of the model. last: the one that trains. where: by uids of the
    model's values, the statements that make them.
    """

    block: Block
    first: frozenset[int]
    last: int
    where: dict[int, int | None]


def _ends_of(model: Model) -> _Ends | None:
    """The statements that build a model, where the last of them trains; None if that is not so."""
    losses = [s.loss for s in model.steps if s.loss_node not in model.inline]
    block = innermost_block(model.facts, model.made, losses, most=depth_outside_turns(model))
    if block is None:
        return None
    where = {value.uid: block.statement(value.site) for value in model.made}
    made = {index for index in where.values() if index is not None}
    last = max(made, default=0)
    trains = {block.statement(s.site) for s in model.steps}
    if None in where.values() or not (trains == {last} or _makes_inputs(model, block, last)):
        return None
    first = frozenset(made - {last})
    return _Ends(block, first, last, where) if first else None


def _makes_inputs(model: Model, block: Block, last: int) -> bool:
    """Whether a statement makes inputs of which its towers cannot be handed their rows, beside a part of the model."""
    return model.handing and isinstance(in_front(model.facts, block, {last}, model.values, handing=True), Refused)


def in_several_blocks(model: Model | Refused, ahead: tuple[Region, ...] = ()) -> tuple[Region, ...]:
    """The regions of a model, the one that trains last; none where they are not found.

    ahead: those that come before this part of the model.
    """
    if isinstance(model, Refused) or (ends := _ends_of(model)) is None:
        return ()
    block, first, last, where = ends.block, set(ends.first), ends.last, ends.where
    begin = replace(model, made=[v for v in model.made if where[v.uid] != last], inline=frozenset())
    opened = opened_at_inputs(begin, block, first)
    if isinstance(opened, (Refused, Reread)):
        return ()
    region = settled(begin, *opened[:2], forward=False)
    if not isinstance(region, Region) or (region.block.body is block.body and last in region.tower):
        return ()
    if ahead and region.start < ahead[-1].end:
        return ()
    rest = replace(model, made=[v for v in model.made if not region.in_tower(v.site)])
    end = region_in_one_block(rest, forward=False)
    if isinstance(end, Region):
        return () if end.block.body is block.body or end.start < region.end else (*ahead, region, end)
    return () if isinstance(end, Reread) else in_several_blocks(rest, (*ahead, region))


def _linked(
    facts: Facts, chain: tuple[Region, ...], whole: bool = False, beside: Sequence[tuple[Region, ...]] = ()
) -> Region | None:
    """The last of several regions, with those ahead of it, where each can go on with what these made.

    whole: whether lists, dicts and numbers of examples that only later towers read may be handed on with all that they
    hold. beside: the regions ahead of the last one where other models are built.
    """
    carried = []
    for at, region in enumerate(chain):
        handed = _Handed(facts, chain[:at], region, chain[at:], beside)
        reads = handed.reads()
        reads = handed.reads(whole=True) if reads is None and whole else reads
        if reads is None:
            return None
        carried.append(reads)
    values = {access.value for reads in carried for access in reads}
    regions = []
    for region, reads in zip(chain, carried, strict=True):
        made = (frozenset(v.uid for v in (value, *choices(value))) for value in values if isinstance(value, Tensor))
        mine = tuple(uids for uids in made if any(t.uid in uids and region.in_tower(t.site) for t in facts.tensors))
        others = [v for v in values if not isinstance(v, Tensor) and region.in_tower(v.site)]
        held = frozenset(part.uid for value in others for part in wholes_in(value))
        named = frozenset(value.uid for value in others)
        regions.append(replace(region, carried=tuple(reads), handed_on=mine, handed_whole=named, handed_within=held))
    return replace(regions[-1], ahead=tuple(regions[:-1]))


def _may_change(held: List | Mapping) -> bool:
    return isinstance(held, Mapping) or held.mutable


@dataclass(frozen=True)
class _Handed:
    """What the towers of a region take from the towers ahead of it.

    later: that region, and those that go on behind it. beside: the towers ahead in which other models are built.
    """

    facts: Facts
    ahead: Sequence[Region]
    region: Region
    later: Sequence[Region]
    beside: Sequence[Sequence[Region]]

    def reads(self, whole: bool = False) -> list[Access] | None:
        """A read of each place that holds such a tensor; None where a tower cannot be given its own of all of them.

        whole: whether what is no tensor, and only later towers read, is handed on as it is, with all that it holds.
        """
        region = self.region
        if self._is_built_apart() or self._reads_collections():
            return None
        written = written_first(region)
        reads = region.tower_reads()
        found = self._wholes(reads, written) if whole else {}
        held = {holder.uid for access in found.values() for holder in (access.value, *wholes_in(access.value))}
        if any(value.uid not in held and self._is_bound_to_tower(value) for value in self._objects()):
            return None
        taken = {tensor.uid for access in found.values() for tensor in tensors_in(access.value)}
        for access in reads:
            value = access.value
            if value.uid in held:
                continue
            if getattr(access.place.holder, "uid", 0) in held:
                taken.add(value.uid)
                continue
            if isinstance(value, (List, Mapping)) and not self._is_read_by_parts(access, reads):
                return None
            if not isinstance(value, Tensor) or not self._is_theirs(value) or access.place in written:
                continue
            text = spelling(region.block.frame, access.place)
            if text is None and self._is_local(access):
                continue
            holder = access.place.holder
            if text is None or (isinstance(holder, List) and not holder.mutable) or not self._is_all_theirs(value):
                return None
            found.setdefault(text, access)
            taken.add(value.uid)
        told = self._operands() <= taken and self._counts_rows(list(found.values()))
        return list(found.values()) if told else None

    def _wholes(self, reads: Sequence[Access], written: Container[Place]) -> dict[str, Access]:
        """The reads of what each tower made ahead beside tensors and only later towers read, by their places."""
        found: dict[str, Access] = {}
        for access in reads:
            value = access.value
            text = spelling(self.region.block.frame, access.place)
            if text is None or text in found or access.place in written or isinstance(value, Tensor):
                continue
            if isinstance(value, (List, Mapping)):
                if self._holds_rows(value) and self._is_for_towers(value):
                    found[text] = access
            elif self._is_bound_to_tower(value) and self._is_for_towers(value):
                found[text] = access
        inner = {part.uid for access in found.values() for part in [*wholes_in(access.value)][1:]}
        return {text: access for text, access in found.items() if access.value.uid not in inner}

    def _is_for_towers(self, whole: Value) -> bool:
        """Whether each tower ahead makes something of its own, which nothing but towers reads behind it."""
        makers = [region for region in self.ahead if region.in_tower(whole.site)]
        if len(makers) != 1 or not all(
            self._is_of_towers(t, makers[0]) for t in tensors_in(whole) if depends_on_batch(t)
        ):
            return False
        after = (access for access in self.facts.accesses_of(whole) if makers[0].comes_after(access))
        return all(any(region.in_tower(access.site) for region in self.later) for access in after)

    @staticmethod
    def _holds_rows(whole: List | Mapping) -> bool:
        """Whether a list or dict holds tensors of the batch whose rows are known, as those of merged values are."""
        batched = [t for t in tensors_in(whole) if depends_on_batch(t)]
        if not batched or any(t.batch.kind == "opaque" for t in batched):
            return False
        changing = (held for held in wholes_in(whole) if _may_change(held))
        return not any(isinstance(part, Input) for held in changing for part in held.parts())  # set to the whole batch

    def _counts_rows(self, carried: Sequence[Access]) -> bool:
        """Whether a tower can count its rows: on an input, or on a place that holds what was made of one."""
        region = replace(self.region, carried=tuple(carried))
        if not self.ahead:
            return any(root in region.inputs for made in self._made() for root in made.roots)
        read = any(isinstance(a.value, Input) and a.value in region.inputs for a in region.tower_reads())
        return read or rows_told(region) is not None

    def _is_theirs(self, value: Value) -> bool:
        """Whether towers ahead made a tensor from their shards, or it is one of several that branches leave there."""
        if not isinstance(value, Tensor) or not depends_on_batch(value):
            return False
        if value.op == "join" and value.site is None:
            return any(map(self._is_theirs, choices(value)))
        return any(region.in_tower(value.site) for region in self.ahead)

    def _is_of_towers(self, value: Tensor, maker: Region) -> bool:
        """Whether towers made a tensor of a list: those ahead, these, or later ones, which may put others there.

        maker: the towers that made the list; an input in it is cut there if they compute with it, too.
        """
        if isinstance(value, Input):
            return any(value in made.roots for made in self.facts.tensors if maker.in_tower(made.site))
        regions = (*self.ahead, *self.later)
        made = (one.site or value.site for one in choices(value))  # of one call where they have no places of their own
        return all(any(region.in_tower(site) for region in regions) for site in made)

    def _is_all_theirs(self, value: Tensor) -> bool:
        return all(map(self._is_theirs, choices(value)))

    def _is_local(self, access: Access) -> bool:
        """Whether a place is a local of a function that these towers call, or is held by an object that they make."""
        place, region = access.place, self.region
        if place.kind == "name":
            return place.frame is not None and region.in_tower(place.frame.call_site)
        return place.holder is not None and region.in_tower(place.holder.site)

    def _made(self) -> Iterator[Tensor]:
        """The tensors that these towers make."""
        region = self.region
        return (t for t in self.facts.tensors if region.in_tower(t.site) or t.node in region.inline)

    def _operands(self) -> set[int]:
        """The tensors of the towers ahead from which these towers compute others."""
        found = set[int]()
        for made in self._made():
            found |= {t.uid for v in made.inputs for t in tensors_in(v) if self._is_theirs(t)}
        return found

    def _objects(self) -> Iterator[Value]:
        """What these towers read, or compute from, that is no tensor."""
        yield from (a.value for a in self.region.tower_reads() if not isinstance(a.value, Tensor))
        yield from (v for made in self._made() for v in made.inputs if not isinstance(v, Tensor))

    def _is_bound_to_tower(self, value: Value) -> bool:
        """Whether something is one tower's own and no tensor: a number of its examples, an object that holds rows."""
        if not any(region.in_tower(value.site) for region in self.ahead):
            return False
        if isinstance(value, (List, Mapping)):
            return False
        tests = (counts_examples, is_made_of_shard, may_hold_tensors, keeps_batch, depends_on_batch)
        return any(test(value) for test in tests)

    def _is_read_by_parts(self, access: Access, reads: Sequence[Access]) -> bool:
        """Whether tensors of the towers ahead are selected from a list or dict by their places or keys."""
        whole = access.value
        if self.region.in_tower(whole.site) or not any(map(self._is_theirs, tensors_in(whole))):
            return True
        if isinstance(whole, Mapping) and all(isinstance(key, Constant) for key, _ in whole.pairs):
            around = self.facts.parents.get(access.node)
            if key_reader(self.facts.parents, access.node) is not None or getattr(around, "attr", "") == "keys":
                return True  # the keys alone are read, which are the same in all towers
        chosen = self.facts.selections.get(access.node)
        return chosen is not None and any(other.node is chosen for other in reads)

    def _is_built_apart(self) -> bool:
        """Whether the statements of these towers are executed for another model, too, that has no towers ahead.

        A class that is made several times has the same towers ahead each time.
        """
        region = self.region
        others = (t.site for t in self.facts.tensors if t.site and region.in_any_tower(t.site))
        return bool(self.ahead) and not all(region.in_tower(s) or self._comes_by_all_ahead(s) for s in others)

    def _comes_by_all_ahead(self, site: Site) -> bool:
        """Whether a site was reached by the blocks of all towers ahead, of this model or another one."""
        stmts = {step.stmt for step in site.chain()}
        ways = [self.ahead, *filter(None, self.beside)]
        return any(all(any(stmt in region.block.index for stmt in stmts) for region in way) for way in ways)

    def _reads_collections(self) -> bool:
        """Whether these towers read collections of the graph to which those ahead add tensors of their shards."""
        added = [
            e
            for e in self.facts.effects_of(EffectKind.COLLECTION)
            if any(region.in_tower(e.site) for region in self.ahead)
        ]
        batched = any(e.value is None or depends_on_batch(e.value) for e in added)
        read = any(e.kind in READS_COLLECTION and self.region.in_tower(e.site) for e in self.facts.effects)
        return batched and read
