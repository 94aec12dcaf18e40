"""What leaves the loop: values of the towers that are read after it, and the losses."""

from __future__ import annotations

import ast
from collections.abc import Container, Iterator
from dataclasses import replace

from converter.analysis.effects import EffectKind
from converter.analysis.facts import Facts, TrainStep
from converter.analysis.flow.joined import left_out
from converter.analysis.frames import Access, Place
from converter.analysis.inputs.embedded_data import DATA
from converter.analysis.tensors.sparse import is_sparse
from converter.analysis.values import OPEN_ENDED, Batch, Input, Mapping, Sequence, Tensor, Value, needed, tensors_in
from converter.options import Options
from converter.plan import Merge, Rebuild
from converter.planner.border.traffic import Traffic
from converter.planner.merges.loss_kind import loss_how
from converter.planner.merges.tensor_names import op_name
from converter.planner.questions.batch_values import counts_examples, is_made_of_shard
from converter.planner.questions.dtypes import is_float32, names_other_types
from converter.planner.questions.nested_tensors import alike, is_fixed, is_flat_list, leaves
from converter.planner.questions.structures import Part, parts, rebuilt, selected
from converter.planner.region.region import Region
from converter.planner.writing.findings import refuse
from converter.planner.writing.free_names import Names
from converter.planner.writing.spelling import leaf, spelling

Wanted = dict[str, tuple[Part, ast.AST]]  # what is merged, by its text in the loop's frame, and a node that reads it


def wanted_out(facts: Facts, region: Region, unread: Container[str]) -> Wanted:
    """Values of the towers that are read after the loop, or that code which is not walked may read.

    unread: attributes that nothing reads.
    """
    wanted: Wanted = {}
    for access in facts.accesses:
        if not access.write and region.comes_after(access):
            want(facts, region, access, wanted)
    for value, name, node in facts.named:
        batched = value.batch.kind != "free" and not isinstance(value, Input)
        if region.in_tower(value.site) and (batched or value.op == "summary"):
            kept = _place_of(facts, region, value, name, node)
            wanted.setdefault(kept, (Part(kept, value, "", None), node))
    for index, access in region.block.accesses():
        if index in region.tower and access.write and access.place.kind == "attr":
            _want_attribute(facts, region, access, wanted, unread)
    lists = tuple(f"{text}[" for text, (part, _) in wanted.items() if isinstance(part.value, Sequence))
    return {text: found for text, found in wanted.items() if not text.startswith(lists)}


def _want_attribute(
    facts: Facts, region: Region, access: Access, wanted: Wanted, unread: Container[str]
) -> None:  # fmt: skip
    """An attribute that the towers set may be read by code that is not walked: it is merged wherever it can be."""
    value, text = access.value, spelling(region.block.frame, access.place)
    if not text or text in unread or region.in_tower(getattr(access.place.holder, "site", None)):
        return
    if isinstance(value, Mapping):
        made = [t for t in tensors_in(value) if t.batch.kind != "free" and not isinstance(t, Input)]
        if made and all(is_mergeable(t) and region.in_tower(t.site) for t in made):
            _want_parts(facts, region, access, text, value, wanted)
    elif isinstance(value, Tensor) and not isinstance(value, Input) and is_mergeable(value):
        wanted.setdefault(text, (Part(text, value, "", None), access.node))


def _place_of(facts: Facts, region: Region, value: Value, name: str, node: ast.AST) -> str:
    """Where the towers keep a value that is asked for by its name in the graph."""
    for index, access in region.block.accesses():
        if index in region.tower and access.write and access.value is value:
            text = spelling(region.block.frame, access.place)
            if text is not None and _bound_by_tower(facts, region, access.place, value):
                return text
    raise refuse(facts, node, "TMG209", f"{name!r} has no name in the script where the towers are built",
                 "assign it to a variable where it is made")  # fmt: skip


def merges_out(
    facts: Facts, region: Region, names: Names, traffic: Traffic, steps: list[TrainStep], options: Options,
    wanted: Wanted,
) -> None:  # fmt: skip
    """Merges of the values that are read after the loop, and of the losses."""
    losses = {s.loss.uid: s for s in steps}
    inline: list[TrainStep] = []
    for step in steps:
        part = _loss_part(facts, region, step)
        if part is None:
            inline.append(step)
        else:
            wanted.setdefault(part.text, (part, step.call))
    for part, node in _of_one_group(facts, traffic, wanted):
        taken = losses.get(part.value.uid)
        if (first := _first_name(facts, traffic, part, taken)) is not None:
            if part.whole is None:
                traffic.rebuilds.append(Rebuild(part.text, first, ()))
            else:
                _merge(facts, region, names, traffic, part, node, {}, options)
            continue
        if taken is None or not isinstance(part.value, Tensor) or part.value.batch.kind != "example":
            _merge(facts, region, names, traffic, part, node, losses, options)
            continue
        # Of one value for each example the gradient takes the sum.
        if part.value.uid not in traffic.loss_lists:
            _collect(facts, traffic, names, part.text, taken, options)
        if is_mergeable(part.value) or _is_read(facts, region, taken):
            _merge(facts, region, names, traffic, part, node, {}, options)
    _inputs_out(facts, region, traffic)
    _rebuild(traffic, wanted)
    for step in inline:
        _collect(facts, traffic, names, _unparsed(step), step, options)


def _of_one_group(facts: Facts, traffic: Traffic, wanted: Wanted) -> Iterator[tuple[Part, ast.AST]]:
    """What is merged; structures of tensors with different numbers of rows by their tensors."""
    for part, node in wanted.values():
        held = [t for t in tensors_in(part.value) if t.batch.kind != "free"]
        if isinstance(part.value, Tensor) or len({_group_of(traffic, t) for t in held}) < 2:
            yield part, node
            continue
        found = [p for p in parts(part.text, part.value) if p.value.uid in {t.uid for t in held}]
        if len(found) < len(held):
            raise refuse(facts, node, "TMG208", f"{part.text} holds tensors with different numbers of rows",
                         "give each tensor that is read after the loss a name of its own")  # fmt: skip
        yield from ((p, node) for p in found)


def _first_name(facts: Facts, traffic: Traffic, part: Part, step: TrainStep | None) -> str | None:
    """The name under which a loss is merged already, for its other names; its gradient is taken once."""
    towers = traffic.loss_lists.get(part.value.uid)
    merge = next((m for m in traffic.merges if m.towers == towers and m.merged), None)
    if step is None or merge is None:
        return None
    if merge.guard or merge.how == "concat":
        raise refuse(facts, step.call, "TMG209", "this loss has two names, and is not always made",
                     "give it one name")  # fmt: skip
    return merge.place


def _is_read(facts: Facts, region: Region, step: TrainStep) -> bool:
    """Whether a loss is read after the loop for more than its gradient."""
    return any(
        a.value is step.loss and not a.write and a.node is not step.loss_node and region.comes_after(a)
        for a in facts.accesses
    )


def _collect(facts: Facts, traffic: Traffic, names: Names, text: str, step: TrainStep, options: Options) -> None:
    """The towers' parts of a loss are kept for the gradients; nothing is merged."""
    how = loss_how(facts, traffic, step.loss, step, options)
    towers = names.fresh(*(("tower_loss", "tower_losses") if text.startswith("(") else ("tower_losses",)))
    traffic.loss_lists[step.loss.uid] = towers
    group = _group_of(traffic, step.loss)
    traffic.merges.append(
        Merge(
            text, towers, how, 0, group, True, False, "", _needs_cast(facts, traffic, step.loss, group), False,
            *_counting(traffic, names, step.loss),
        )
    )


def _unparsed(step: TrainStep) -> str:
    assert step.loss_node is not None
    return f"({ast.unparse(step.loss_node)})"


def want(facts: Facts, region: Region, access: Access, wanted: Wanted) -> None:
    """Notes what of the towers is read by an access."""
    value, holder = access.value, access.place.holder
    if isinstance(value, Input) or (isinstance(holder, Sequence) and (holder.unmeasured or not holder.mutable)):
        return  # a part of a tuple, or of a list of any length: found where these are read
    if isinstance(value, (Sequence, Mapping)):
        text = spelling(region.block.frame, access.place) if access.node not in facts.measured else None
        if text is not None and _bound_by_tower(facts, region, access.place, value):
            _want_parts(facts, region, access, text, value, wanted)
        return
    batched = isinstance(value, Tensor) and value.batch.kind != "free"
    if isinstance(value, Tensor) and value.op == "join" and not region.in_tower(value.site):
        writes = (a for i, a in region.block.accesses() if i in region.tower and a.write and a.place == access.place)
        for one in {a.value for a in writes}.intersection(value.inputs):  # or another branch has put something there
            want(facts, region, replace(access, value=one), wanted)
        return
    if not region.in_tower(value.site) or not (batched or counts_examples(value) or is_made_of_shard(value)):
        return
    text = spelling(region.block.frame, access.place)
    if text is not None and text not in wanted and _bound_by_tower(facts, region, access.place, value):
        wanted[text] = (Part(text, value, "", None), access.node)


def _want_parts(
    facts: Facts, region: Region, access: Access, text: str, whole: Sequence | Mapping, wanted: Wanted
) -> None:
    """A list, tuple or dict of the towers that is read: what is selected from it one by one, or all of it alike."""
    chosen, value = selected(text, whole, access.node, facts.selections)
    inside = {t.uid for t in tensors_in(value) if t.batch.kind != "free" and not isinstance(t, Input)
              and region.in_tower(t.site)}  # fmt: skip
    losses = {step.loss.uid for step in facts.train_steps}

    def as_one(text: str, held: Sequence) -> bool:
        return text.startswith(chosen) and _goes_as_list(region, held, losses)

    found = [p for p in parts(text, whole, as_one=as_one) if p.text.startswith(chosen)]
    found = [p for p in found if any(t.uid in inside for t in tensors_in(p.value))]
    reached = {t.uid for p in found for t in tensors_in(p.value)}
    apart = all(is_mergeable(p.value) or p.value.uid in losses for p in found)
    if inside and (not apart or inside - reached or _is_one_nest(whole)):
        found = [Part(text, whole, "", None)]
    for part in found:
        wanted.setdefault(part.text, (part, access.node))


def _is_one_nest(whole: Sequence | Mapping) -> bool:
    """Whether tensors of one kind lie in a structure that no item can be put back into."""
    way = alike(whole) if is_fixed(whole) else None
    return way is not None and (way.kind == "example" or getattr(whole, "unmeasured", False))


def _goes_as_list(region: Region, held: Sequence, losses: set[int]) -> bool:
    """Whether a list is merged as a list: of any length, or of several tensors that are merged in one way."""
    tensors = [e for e in held.elements if isinstance(e, Tensor)]
    if alike(held) is None or any(t.uid in losses for t in tensors):
        return False
    named = any(isinstance(t, Input) or op_name(region, t) for t in tensors)
    return held.unmeasured or (is_flat_list(held) and len(tensors) > 1 and not named)


def _inputs_out(facts: Facts, region: Region, traffic: Traffic) -> None:
    """Inputs in structures that the towers make of them and that are read later: they mean the whole batch again."""
    for access in facts.accesses:
        held = access.value
        if access.write or not isinstance(held, (Sequence, Mapping)) or not region.comes_after(access):
            continue
        text = spelling(region.block.frame, access.place)
        if text is None or not _bound_by_tower(facts, region, access.place, held):
            continue
        chosen, _ = selected(text, held, access.node, facts.selections)
        for part in parts(text, held):
            if part.text.startswith(chosen) and part.value.uid in traffic.whole:
                traffic.inputs_out[part.text] = part


def _rebuild(traffic: Traffic, wanted: Wanted) -> None:
    """Tuples of which parts are merged are put together anew, with the whole batches of inputs in them."""
    new = {merge.place: "{" + merge.towers + "}" for merge in traffic.merges if merge.place in wanted}
    for text, part in traffic.inputs_out.items():
        new[text] = traffic.whole[part.value.uid]
        if part.whole is None:
            traffic.restore.append((text, new[text]))
    for part in (*(part for part, _ in wanted.values()), *traffic.inputs_out.values()):
        if part.whole is not None and all(r.place != part.root for r in traffic.rebuilds):
            made = rebuilt(part.root, part.whole, new)
            merged = tuple(m.towers for m in traffic.merges if "{" + m.towers + "}" in made)
            traffic.rebuilds.append(Rebuild(part.root, made, merged))


def _bound_by_tower(facts: Facts, region: Region, place: Place, value: Value) -> bool:
    """Whether it is the towers that put a value where it is read, or that fill it."""
    if isinstance(value, (Sequence, Mapping)) and _is_filled(facts, region, value):
        return True
    if any(i in region.tower and a.write and a.place == place for i, a in region.block.accesses()):
        return True
    if place.kind == "name" or not region.in_tower(value.site):
        return False
    if any(a.write and a.place == place for a in facts.accesses):
        return False  # put there after the loop, when it was merged already
    holder = place.holder
    return holder is not None and (holder.time < region.start or region.in_tower(holder.site))


def _is_filled(facts: Facts, region: Region, value: Sequence | Mapping) -> bool:
    """Whether the towers put something into a list or a dict that is there before them."""
    if region.in_tower(value.site) or value.time > region.end:
        return False
    grown = any(e.value is value and region.in_tower(e.site) for e in facts.effects_of(EffectKind.MUTATION))
    return grown or any(
        i in region.tower and a.write and a.place.kind == "item" and a.place.owner == value.uid
        for i, a in region.block.accesses()
    )


def is_mergeable(value: Value) -> bool:
    """Whether the whole batch's value can be put together from the towers' parts."""
    if isinstance(value, (Sequence, Mapping)):
        return alike(value) is not None
    if not isinstance(value, Tensor) or is_sparse(value):
        return False
    batch = value.batch
    if batch.kind == "example":
        return batch.packed != "minor"
    # A term beside a sum that does not depend on the examples would be added once for each tower.
    mean = batch.how == "mean" and batch.over is None
    return batch.kind == "reduced" and (mean or (batch.how == "sum" and not batch.affine))


def _loss_part(facts: Facts, region: Region, step: TrainStep) -> Part | None:
    """The loss under a name that the towers bind, or in a structure that they do; None where it is written inline."""
    if step.loss_node in region.inline and step.loss_node is not None:
        if step.site.frame.uid != region.block.frame.uid:
            raise refuse(facts, step.call, "TMG209",
                         "the loss is written out where it is minimised, in another function than the model's",
                         "give it a name where the model is built, and minimise that")  # fmt: skip
        return None
    writes = [(a, spelling(region.block.frame, a.place)) for i, a in region.block.accesses()
              if i in region.tower and a.write]  # fmt: skip
    for access, text in sorted(writes, key=lambda pair: pair[0].place.kind != "name"):
        own = access.place.kind != "name" or access.place.frame is region.block.frame
        if access.value is step.loss and text is not None and own:
            return Part(text, step.loss, "", None)
    for access, text in writes:
        if text is not None and access.place.frame is region.block.frame:
            for part in parts(text, access.value):
                if part.value is step.loss:
                    return part
    raise refuse(facts, step.call, "TMG209", "the loss has no name where the towers are built",
                 "assign the loss to a variable before it is minimised")  # fmt: skip


def _merge(
    facts: Facts, region: Region, names: Names, traffic: Traffic, part: Part, node: ast.AST,
    losses: dict[int, TrainStep], options: Options,
) -> None:  # fmt: skip
    text, value = part.text, part.value
    is_loss = value.uid in losses
    nested = isinstance(value, (Sequence, Mapping))
    batch = value.batch if isinstance(value, Tensor) else (nested and alike(value)) or Batch()  # type: ignore[arg-type]
    packed = batch.packed == "major"
    axis = batch.axis if batch.kind == "example" else 0
    how: str = "concat" if batch.kind == "example" else batch.how
    tensors = [t for t in leaves(value) if t is not None]
    if is_loss and isinstance(value, Tensor):
        how = loss_how(facts, traffic, value, losses[value.uid], options)
    elif nested and not (is_mergeable(value) and _holds_no_input(region, value)):
        raise refuse(facts, node, "TMG208", f"{text} holds values of the towers in a form that is not merged",
                     "give each tensor that is read after the loss a name of its own")  # fmt: skip
    elif not is_mergeable(value):
        rows = "its rows are not in the order of the examples"
        rows = "it is a sparse tensor" if is_sparse(value) else rows
        holds = "is an object made of" if is_made_of_shard(value) else "counts the examples of"
        reason = batch.reason or (rows if batch.kind != "free" else f"it {holds} a shard")
        raise refuse(facts, getattr(value, "node", None) or node, "TMG210",
                     f"{text} is read after the loss, and the towers' parts of it cannot be merged: {reason}",
                     "compute it from tensors that have one row for each example, after the loss")  # fmt: skip
    towers = names.fresh(f"tower_{leaf(text)}", f"towers_{leaf(text)}")
    if is_loss:
        traffic.loss_lists[value.uid] = towers
    name = "" if nested else op_name(region, value)  # type: ignore[arg-type]
    asked = any(e.value in tensors and not region.in_tower(e.site) for e in facts.effects_of(EffectKind.GRAPH_NAME))
    asked |= nested and any(op_name(region, t) for t in tensors)
    group = _group_of(traffic, tensors[0])
    cast = how == "mean" and any(_needs_cast(facts, traffic, t, group) for t in tensors)
    flat = is_flat_list(value)
    traffic.merges.append(
        Merge(text, towers, how, axis, group, is_loss, packed, name, cast, True,  # type: ignore[arg-type]
              *_counting(traffic, names, value), nested, asked and not name, _is_open_ended(value),
              *_made_at_all(facts, region, part, node, traffic.tensorflow),
              (names.again("part", "tower_part"), names.again("parts", "tower_parts")) if flat else None,
              part.whole is None and _is_kept(region, value), isinstance(value, Mapping))
    )  # fmt: skip


def _is_kept(region: Region, value: Value) -> bool:
    """Whether it is a list or a dict that was there before the towers, which other names may stand for, too."""
    mutable = isinstance(value, Mapping) or (isinstance(value, Sequence) and value.mutable)
    return mutable and not region.in_tower(value.site)


def _holds_no_input(region: Region, value: Value) -> bool:
    """Whether a dict that the towers fill, under keys that are not known, holds nothing that is fed."""
    kept = isinstance(value, Mapping) and _is_kept(region, value)
    return not kept or not any(isinstance(t, Input) for t in tensors_in(value))


def _made_at_all(facts: Facts, region: Region, part: Part, node: ast.AST, tensorflow: str) -> tuple[str, bool]:
    """For what only some branches make in the towers: how to see that they did, and `Merge.unset`."""
    if any(left_out(part.value)):
        return _part_made(facts, part, node, tensorflow), False
    for maybe in facts.maybe:
        if maybe.value is not part.value or not region.in_tower(maybe.site):
            continue
        if spelling(region.block.frame, maybe.place) != part.text or part.whole is not None:
            continue
        if maybe.place.kind == "name":
            there = f"isinstance({part.text}, {tensorflow}.Tensor)" if maybe.plain else f"{part.text} is not None"
            return there, maybe.unset
        if maybe.place.kind == "attr":
            holder, _, name = part.text.rpartition(".")
            found = f"getattr({holder}, {name!r}, None)" if maybe.unset and (maybe.none or maybe.plain) else part.text
            there = f"isinstance({found}, {tensorflow}.Tensor)" if maybe.plain else f"{found} is not None"
            return (there if maybe.none or maybe.plain else f"hasattr({holder}, {name!r})"), False
        raise refuse(facts, node, "TMG210", f"{part.text} is read after the loss, and only one branch of a condition "
                     "makes it", "let the other branch put None there")  # fmt: skip
    return "", False


def _part_made(facts: Facts, part: Part, node: ast.AST, tensorflow: str) -> str:
    """How to see that the script has put a tensor into a dict, an object or a name that it may have left without."""
    unset, none, plain = left_out(part.value)
    target = ast.parse(part.text, mode="eval").body
    there = f"isinstance({part.text}, {tensorflow}.Tensor)" if plain else f"{part.text} is not None"
    if part.whole is not None or (unset and not isinstance(target, (ast.Subscript, ast.Attribute))):
        raise refuse(facts, node, "TMG210", f"{part.text} is read after the loss, and only one branch of a condition "
                     "makes it", "give it a name of its own, and None in the other branch")  # fmt: skip
    if not unset:
        return there
    if isinstance(target, ast.Subscript):
        found = f"{ast.unparse(target.slice)} in {ast.unparse(target.value)}"
    else:
        assert isinstance(target, ast.Attribute)
        found = f"hasattr({ast.unparse(target.value)}, {target.attr!r})"
    return f"{found} and {there}" if none or plain else found


def _is_open_ended(value: Value) -> bool:
    """Whether a tower decides how many steps there are in what it gives."""
    tensors = [t for t in tensors_in(value) if t.batch.kind == "example" and t.rank != 1]
    return any(isinstance(v, Tensor) and v.op == OPEN_ENDED for v in needed(tensors).values())


def _counting(traffic: Traffic, names: Names, value: Value) -> tuple[str, bool, str]:
    """A masked mean's denominator in a tower, and the name of the list that keeps it."""
    if value.uid not in traffic.counts:
        return "", False, ""
    return (*traffic.counts[value.uid], names.fresh("tower_count", "tower_counts"))


def _group_of(traffic: Traffic, value: Value) -> int:
    """The first group whose leading input is behind a value; what no input is behind was drawn by the towers."""
    if traffic.drawn is not None and not value.roots:
        return traffic.drawn
    # data in the graph is as long as it is, whatever is fed beside it
    for index, group in sorted(enumerate(traffic.groups), key=lambda g: g[1][0].op != DATA):
        if group[0] in value.roots:
            return index
    for index, group in enumerate(traffic.groups):
        if any(i in value.roots for i in group):
            return index
    return 0


def _needs_cast(facts: Facts, traffic: Traffic, value: Value, group: int) -> bool:
    """Whether a tower's weight must be cast for what it weighs: a tensor, which is float32, unless that is too."""
    shard = traffic.shards[group]
    number = shard.static or shard.data or shard.drawn is not None
    return names_other_types(facts) or not (number or is_float32(value))
