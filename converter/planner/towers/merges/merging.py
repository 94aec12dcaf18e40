"""What leaves the loop: values of the towers that are read after it, and the losses."""

from __future__ import annotations

import ast
from dataclasses import replace

from converter.analysis.effects import EffectKind
from converter.analysis.facts import Facts, TrainStep
from converter.analysis.flow.joined import choices, is_input, is_unheld, left_out
from converter.analysis.tensors import algebra
from converter.analysis.tensors.nests import may_be_nest
from converter.analysis.tensors.sparse import is_sparse
from converter.analysis.traits import Trait, has
from converter.analysis.values import (
    OPEN_ENDED,
    Batch,
    Input,
    Mapping,
    Number,
    Sequence,
    Tensor,
    Value,
    needed,
    tensors_in,
)
from converter.diagnostics import Diagnostic
from converter.parsing import parse_expression
from converter.plan.border import (
    AS_ON_ONE_GPU,
    Border,
    Concat,
    Fed,
    First,
    Guard,
    Handed,
    How,
    Loss,
    MaskedMean,
    Mean,
    Merge,
    Rebuild,
    Rows,
    Shown,
    Structure,
    Sum,
)
from converter.planner.outcome import Faults, noted
from converter.planner.plan_faults import PlanFault
from converter.planner.questions.batch_values import is_made_of_shard, keeps_batch, may_hold_tensors
from converter.planner.questions.dtypes import is_float32, names_other_types
from converter.planner.questions.nested_tensors import alike, is_flat_list, leaves
from converter.planner.questions.structures import Part, parts, rebuilt, selected
from converter.planner.region.executions import lacked_in_other_calls, none_in_other_call
from converter.planner.region.handed import item_guard
from converter.planner.region.region import Region
from converter.planner.towers.border.losses_out import has_rows, is_carried
from converter.planner.towers.border.site import LoopSite
from converter.planner.towers.border.traffic import Traffic, group_of
from converter.planner.towers.merges.dict_keys import are_graph_names
from converter.planner.towers.merges.loss_kind import loss_how
from converter.planner.towers.merges.losses import is_read, loss_part
from converter.planner.towers.merges.purpose import is_only_shown
from converter.planner.towers.merges.tensor_names import op_name
from converter.planner.towers.merges.wanted import Wanted, bound_by_tower, is_mergeable, mixes_inputs
from converter.planner.wording import finding, refuse
from converter.planner.writing.findings import line_seen_from
from converter.planner.writing.spelling import leaf, spelling

MIXED = "it also needs an input that the loss does not need, of which each tower reads all rows"


def merges_out(site: LoopSite, before: Traffic, steps: list[TrainStep], wanted: Wanted) -> Traffic:
    """Adds the merges of the values that are read after the loop, and of the losses; raises Faults."""
    traffic, wanted = before, dict(wanted)
    losses = {s.loss.uid: s for s in steps}
    found: list[Diagnostic] = []
    inline: list[TrainStep] = []
    places: dict[str, list[TrainStep]] = {}
    for step in steps:
        with noted(found):
            part = loss_part(site.facts, site.region, step)
            if part is None:
                inline.append(step)
            else:
                wanted.setdefault(part.text, (part, step.call))
                places.setdefault(part.text, []).append(step)
    for part, node in wanted.values():
        with noted(found):
            whole = part.value.uid in site.region.handed_whole
            for one in [part] if whole else _of_one_group(site.facts, traffic, part, node):
                traffic = _merge_part(site, traffic, one, node, losses)
    traffic = _of_branches(site, traffic, places)
    traffic = _rebuild(site.region, traffic, wanted, _inputs_out(site.facts, site.region, traffic))
    for step in inline:
        with noted(found):
            traffic = _collect(site, traffic, _unparsed(step), step)
    if not found:
        found += _not_handed_on(site, traffic, wanted)
    if found:
        raise Faults(found)
    return traffic


def _of_branches(site: LoopSite, before: Traffic, places: dict[str, list[TrainStep]]) -> Traffic:
    """The same where branches leave their losses in one place: what is merged there is the loss of the one taken."""
    region, traffic = site.region, before
    if all(len(steps) == 1 for steps in places.values()):
        return traffic
    for access in region.writes:
        text, joined = spelling(region.block.frame, access.place), access.value
        if text not in places or not isinstance(joined, Tensor) or joined.op != "join":
            continue
        steps = [step for step in places[text] if step.loss in choices(joined)]
        known = [(m.towers, m.how) for m in traffic.border.merges if m.place == text and m.loss]
        towers, how = next(((t, h) for t, h in known if isinstance(h, Mean | Sum)), ("", None))
        for step in steps if how is not None and len(steps) > 1 else ():
            kind, _ = loss_how(site.facts, traffic.counts, step, site.options)
            if isinstance(how, kind) and traffic.rows_of(step.loss) == how.rows and step.loss.batch.kind != "example":
                traffic = replace(traffic, loss_lists={**traffic.loss_lists, step.loss.uid: towers})
    return traffic


def _merge_part(site: LoopSite, traffic: Traffic, part: Part, node: ast.AST, losses: dict[int, TrainStep]) -> Traffic:
    """Merges one value; of a loss with one value for each example the gradient takes the sum."""
    if part.value.uid in site.region.handed_whole:
        return _handed_whole(traffic, part)
    taken = losses.get(part.value.uid)
    if (first := _first_name(site.facts, traffic, part, taken)) is not None:
        if part.whole is None:
            return traffic.plus(Border(rebuilds=(Rebuild(part.text, first),)))
        return _merge(site, traffic, part, node, None)
    if taken is None or not isinstance(part.value, Tensor) or not has_rows(part.value):
        return _merge(site, traffic, part, node, taken)
    if part.value.uid not in traffic.loss_lists:
        traffic = _collect(site, traffic, part.text, taken)
    if part.whole is not None and any(merge.place == part.root for merge in traffic.border.merges):
        return traffic  # its structure is merged as a whole, and it with that
    if is_mergeable(part.value) or is_read(site.facts, site.region, taken):
        return _merge(site, traffic, part, node, None)
    return traffic


def _handed_whole(before: Traffic, part: Part) -> Traffic:
    """Keeps what each tower made of a list or dict, for the towers of a later loop: nothing else reads it."""
    towers, traffic = before.fresh(f"tower_{leaf(part.text)}", f"towers_{leaf(part.text)}")
    return _with_merge(traffic, Merge(part.text, towers, Handed()), None, [])


def _of_one_group(facts: Facts, traffic: Traffic, part: Part, node: ast.AST) -> list[Part]:
    """The parts of a value that are merged: its tensors if they have different numbers of rows, else all of it."""
    held = [t for t in tensors_in(part.value) if t.batch.kind != "free"]
    if isinstance(part.value, Tensor) or len({group_of(traffic, t) for t in held}) < 2:
        return [part]
    found = [p for p in parts(part.text, part.value) if p.value.uid in {t.uid for t in held}]
    if len(found) < len(held):
        raise refuse(facts, node, PlanFault.DIFFERENT_ROWS, name=part.text)
    return found


def _first_name(facts: Facts, traffic: Traffic, part: Part, step: TrainStep | None) -> str | None:
    """The name under which a loss is merged already, for its other names; its gradient is taken once."""
    towers = traffic.loss_lists.get(part.value.uid)
    merge = next((m for m in traffic.border.merges if m.towers == towers and m.merged), None)
    if step is None or merge is None:
        return None
    if merge.guard or isinstance(merge.how, Concat | Fed):
        raise refuse(facts, step.call, PlanFault.LOSS_OF_TWO_NAMES)
    return merge.place


def _collect(site: LoopSite, traffic: Traffic, text: str, step: TrainStep) -> Traffic:
    """Collect the towers' losses for the gradients, without merging them into a value."""
    kind, warnings = loss_how(site.facts, traffic.counts, step, site.options)
    inline = text.startswith("(")
    towers, traffic = traffic.fresh(*(("tower_loss",) if inline else ()), "tower_losses")
    how, traffic = _how(site, traffic, Part(text, step.loss, "", None), kind)
    place, traffic = traffic.again("loss", "own_loss") if inline else (text, traffic)
    loss = Loss(merged=False, written=text[1:-1] if inline else "")
    return _with_merge(traffic, Merge(place, towers, how, loss=loss), step, warnings)


def _with_merge(traffic: Traffic, merge: Merge, step: TrainStep | None, warnings: list[Diagnostic]) -> Traffic:
    """The same with one more merge: of the loss of a step, or of a value that no step minimises."""
    lists = traffic.loss_lists if step is None else {**traffic.loss_lists, step.loss.uid: merge.towers}
    more = traffic.plus(Border(merges=(merge,)))
    return replace(more, loss_lists=lists, warnings=(*traffic.warnings, *warnings))


def _unparsed(step: TrainStep) -> str:
    assert step.loss_node is not None
    return f"({ast.unparse(step.loss_node)})"


def _inputs_out(facts: Facts, region: Region, traffic: Traffic) -> dict[str, Part]:
    """Inputs in structures that the towers make of them and that are read later: they mean the whole batch again."""
    found: dict[str, Part] = {}
    for access in region.reads_after:
        held = access.value
        if not isinstance(held, (Sequence, Mapping)):
            continue
        text = spelling(region.block.frame, access.place)
        if text is None or not bound_by_tower(facts, region, access.place, held):
            continue
        chosen, _ = selected(facts, text, held, access.node)
        for part in parts(text, held):
            if part.text.startswith(chosen) and traffic.whole_of(part.value, part.text) is not None:
                found[part.text] = part
    return found


def _rebuild(region: Region, traffic: Traffic, wanted: Wanted, inputs_out: dict[str, Part]) -> Traffic:
    """Rebuild tuples whose parts are merged, with whole batches in place of the towers' inputs."""
    new = {merge.place: "{" + merge.towers + "}" for merge in traffic.border.merges if merge.place in wanted}
    new |= {text: traffic.whole_of(part.value, text) or text for text, part in inputs_out.items()}
    restore = [(text, new[text]) for text, part in inputs_out.items() if part.whole is None]
    if traffic.handing.name:
        guards = [(text, guard) for text, _ in restore if (guard := item_guard(region.block, text))]
        restore = [(text, whole) for text, whole in restore if text not in dict(guards)]
        handing = replace(traffic.handing, guarded=(*traffic.handing.guarded, *guards))
        traffic = replace(traffic, handing=handing)
    rebuilds = list(traffic.border.rebuilds)
    for part in (*(part for part, _ in wanted.values()), *inputs_out.values()):
        if part.whole is not None and all(r.place != part.root for r in rebuilds):
            rebuilds.append(Rebuild(part.root, rebuilt(part.root, part.whole, new)))
    border = replace(traffic.border, rebuilds=tuple(rebuilds)) + Border(restore=tuple(restore))
    return replace(traffic, border=border)


def _merge(site: LoopSite, traffic: Traffic, part: Part, node: ast.AST, step: TrainStep | None) -> Traffic:
    """Merges a value; `step` minimises it where it is a loss."""
    region, text, value = site.region, part.text, part.value
    kind, warnings = _kind(site, traffic, part, node, step)
    towers, traffic = traffic.fresh(f"tower_{leaf(text)}", f"towers_{leaf(text)}")
    how, traffic = _how(site, traffic, part, kind)
    guard = _guard(site, part, node)
    structure, traffic = _structure(region, traffic, part, kind)
    own = ""
    if any(value.uid in uids for uids in region.handed_on):
        own, traffic = traffic.fresh(f"own_{leaf(text)}", f"tower_own_{leaf(text)}")
    merge = Merge(
        place=text,
        towers=towers,
        how=how,
        name=_name(site, value),
        structure=structure,
        guard=guard,
        loss=None if step is None else Loss(),
        own=own,
        losses="" if guard or not isinstance(how, Concat | Fed) else _carried(site, traffic, value),
    )
    return _with_merge(traffic, merge, step, warnings)


def _kind(
    site: LoopSite, traffic: Traffic, part: Part, node: ast.AST, step: TrainStep | None
) -> tuple[type[How], list[Diagnostic]]:
    """How the towers' parts of a value are merged; refuses what they cannot be merged of."""
    if step is not None and isinstance(part.value, Tensor):
        return loss_how(site.facts, traffic.counts, step, site.options)
    if part.value.uid in traffic.counts:
        return Mean, []  # over what a mask leaves: weighed by that in each tower
    if _goes_by_form(site, part.value):
        return Shown, []
    _check_form(site, part, node)
    return _kind_of(_batch_in(part.value)), []


def _kind_of(batch: Batch) -> type[How]:
    """How the towers' parts are put together, where they can be."""
    if batch.kind == "example":
        return Concat
    if batch.kind == "free":
        return First
    return Sum if batch.how == "sum" else Mean


def _how(site: LoopSite, before: Traffic, part: Part, kind: type[How]) -> tuple[How, Traffic]:
    """The same with what each tower has to know for it: its rows, or the denominator of a masked mean."""
    value, traffic = part.value, before
    tensors = [t for t in leaves(value) if t is not None]
    rows = traffic.rows_of(tensors[0])
    if kind is Concat:
        batch = _batch_in(value)
        packed = batch.packed == "major" or part.text in site.region.packed or _is_of_multiple(tensors[0])
        made = Concat(rows, batch.axis, packed, _is_open_ended(site.region, value))
        return Fed(rows) if value.uid in site.fed and made == Concat(rows) else made, traffic
    if kind is Mean and value.uid in traffic.counts:
        counts, traffic = traffic.fresh("tower_count", "tower_counts")
        count, per_row = traffic.counts[value.uid]
        return MaskedMean(rows, count, counts, per_row), traffic
    if kind is Mean:
        return Mean(rows, any(_needs_cast(site.facts, rows, tensor) for tensor in tensors)), traffic
    return First() if kind is First else Sum(rows) if kind is Sum else Shown(rows), traffic


def _structure(region: Region, before: Traffic, part: Part, kind: type[How]) -> tuple[Structure | None, Traffic]:
    """How a value holds the tensors that are merged; None for a single one."""
    value, traffic, each = part.value, before, None
    if not (isinstance(value, (Sequence, Mapping)) or may_be_nest(value)):
        return None, traffic
    if is_flat_list(value) and kind is not Shown:
        one, traffic = traffic.again("part", "tower_part")
        several, traffic = traffic.again("parts", "tower_parts")
        each = (one, several)
    if part.whole is not None or not _is_kept(region, value):
        return Structure(each), traffic
    return Structure(each, "dict" if isinstance(value, Mapping) else "list"), traffic


def _name(site: LoopSite, value: Value) -> str | None:
    """The graph name of a merged value, where the script has given or reads it."""
    given = op_name(site.region, value) if isinstance(value, Tensor) else ""
    return given or (AS_ON_ONE_GPU if _is_renamed(site, value) else None)


def _guard(site: LoopSite, part: Part, node: ast.AST) -> Guard | None:
    """The condition under which a value exists that only some branches create; None for one that always does."""
    made, unset = _made_at_all(site, part, node)
    test = " and ".join(filter(None, (_holder_bound(site.region, part), made)))
    return Guard(test, unset) if test else None


def _carried(site: LoopSite, traffic: Traffic, value: Value) -> str:
    """The list of the towers' losses that a merged loss with rows carries to another function; "" for other values."""
    carried = value.uid in traffic.loss_lists and is_carried(site.region, value, site.group.steps)
    return traffic.loss_lists[value.uid] if carried else ""


def _not_handed_on(site: LoopSite, traffic: Traffic, wanted: Wanted) -> list[Diagnostic]:
    """The values that a later loop goes on with and that are not merged as a single tensor which is always there."""
    plain = {merge.place for merge in traffic.border.merges if _keeps_parts(merge)}
    found: list[Diagnostic] = []
    for uids in site.region.handed_on:
        held = {text: node for text, (part, node) in wanted.items() if part.value.uid in uids}
        lost = next((text for text in held if text not in plain), "")
        if lost or not held:  # not held: it is computed again behind the towers, from whole batches
            written = site.region.written.items()
            places = [place for place, values in written if any(value.uid in uids for value in values)]
            name = lost or next(filter(None, (spelling(site.region.block.frame, p) for p in places)), "")
            node = held[lost] if held else site.region.block.body[max(site.region.tower)]
            fault = finding(site.facts, node, PlanFault.NOT_HANDED_ON, name=name or "a part of the model")
            found += [fault] if all(fault.line != one.line for one in found) else []
    return found


def _keeps_parts(merge: Merge) -> bool:
    """Whether a merged value can keep what each tower made: a single tensor, put together from all towers."""
    alone = merge.structure is None and merge.guard is None
    return bool(merge.own) and alone and not isinstance(merge.how, First | Shown | Fed)


def _is_renamed(site: LoopSite, value: Value) -> bool:
    """Whether the script reads the graph's name of a merged value, or names a part of it."""
    tensors = [t for t in leaves(value) if t is not None]
    asked = any(
        e.value in tensors and not site.region.in_tower(e.site) for e in site.facts.effects_of(EffectKind.GRAPH_NAME)
    )
    nested = isinstance(value, (Sequence, Mapping))
    return asked or (nested and any(op_name(site.region, t) for t in tensors))


def _is_of_multiple(tensor: Tensor) -> bool:
    """Whether no input gives a tensor its rows, but a multiple of the batch size: `tf.zeros([batch_size * 2, n])`."""
    if tensor.roots or tensor.batch.kind != "example":
        return False
    numbers = (v for v in needed([tensor]).values() if isinstance(v, Number))
    return any(n.linear and len(n.inputs) > 1 and not n.chosen for n in numbers)


def _batch_of(value: Value) -> Batch:
    return value.batch if isinstance(value, Tensor) else Batch()


def _batch_in(value: Value) -> Batch:
    """What a tensor has for each example, or all tensors of a list or dict alike."""
    return (alike(value) or Batch()) if isinstance(value, (Sequence, Mapping)) else _batch_of(value)


def _goes_by_form(site: LoopSite, value: Value) -> bool:
    """Whether a value has no known merge and is only shown: it is merged by its form when the graph is built.

    Of a list or a dict each tensor is merged so.
    """
    if is_mergeable(value) or are_graph_names(site.facts, site.region, value):
        return False
    batched = [tensor for tensor in tensors_in(value) if tensor.batch.kind != "free"]
    plain = all(_has_plain_form(site, one) for tensor in batched for one in (tensor, *choices(tensor)))
    return bool(batched) and plain and is_only_shown(site.facts, site.region, value)


def _has_plain_form(site: LoopSite, tensor: Tensor) -> bool:
    """Whether the graph shows what a tensor of a tower is: no input, sparse tensor, tensor array or product of rows."""
    if tensor.uid in site.fed or algebra.is_of_pairs(tensor) or mixes_inputs(site.region, tensor):
        return False
    return not (is_sparse(tensor) or is_made_of_shard(tensor) or is_input(tensor))


def _check_form(site: LoopSite, part: Part, node: ast.AST) -> None:
    """Refuse what the towers' parts cannot be merged of."""
    text, value = part.text, part.value
    if isinstance(value, (Sequence, Mapping)):
        _check_structure(site, text, value, node)
    elif keeps_batch(value):
        line = value.site.stmt.lineno if value.site is not None else 0
        raise refuse(site.facts, node, PlanFault.FUNCTION_KEEPS_SHARD, name=text, line=line)
    elif mixes_inputs(site.region, value) and _is_of_earlier_call(site.region, value):
        raise refuse(site.facts, site.made_at(value, node), PlanFault.LEFT_BY_EARLIER_CALL, name=text)
    elif reason := _why_not_merged(site, value):
        raise refuse(site.facts, site.made_at(value, node), PlanFault.NOT_MERGEABLE, name=text, reason=reason)


def _check_structure(site: LoopSite, text: str, value: Sequence | Mapping, node: ast.AST) -> None:
    """Refuse a list, tuple or dict whose tensors cannot be merged each."""
    lost = next((t for t in tensors_in(value) if t.batch.kind == "opaque" and t.batch.reason), None)
    if lost is not None:
        at = site.made_at(lost, node)
        raise refuse(site.facts, at, PlanFault.NOT_MERGEABLE, name=text, reason=lost.batch.reason)
    if not (is_mergeable(value) and _holds_no_input(site.region, value)):
        raise refuse(site.facts, node, PlanFault.FORM_NOT_MERGED, name=text)
    if are_graph_names(site.facts, site.region, value):
        raise refuse(site.facts, node, PlanFault.KEYED_BY_GRAPH_NAMES, name=text)


def _why_not_merged(site: LoopSite, value: Value) -> str:
    """Why the towers' parts of a value cannot be put together; "" if they can."""
    if mixes_inputs(site.region, value):
        return MIXED
    if is_mergeable(value):
        return ""
    batch = _batch_of(value)
    if batch.reason:
        return batch.reason + _since(site.facts, value)
    if batch.kind == "free" or is_made_of_shard(value):
        if may_hold_tensors(value):
            return "it holds tensors of a shard in a way that is not followed"
        return "it is an object made of a shard" if is_made_of_shard(value) else "it counts the examples of a shard"
    if batch.over is not None and batch.kind == "reduced":
        return "it is a mean over what a mask leaves, and the number of that has no name in the towers"
    return "it is a sparse tensor" if is_sparse(value) else "its rows are not in the order of the examples"


def _since(facts: Facts, value: Value) -> str:
    """Where the reason for which a value is not merged came about, if that is not where the value is made."""
    why, made = _batch_of(value).why, getattr(value, "node", None)
    behind = [v for v in needed([value]).values() if isinstance(v, Tensor) and v.batch.why is why]
    first = min(behind, key=lambda tensor: tensor.uid, default=None)
    if made is None or first is None or first.node is None:
        return ""
    place = line_seen_from(facts, made, first.node)
    return f" ({place})" if place != f"line {made.lineno}" else ""


def _is_of_earlier_call(region: Region, value: Value) -> bool:
    """Whether a value may be one that the block made before, of inputs that the same statement gave then."""
    stmts = {i.site.stmt for i in region.inputs if i.site is not None}
    others = (root for root in value.roots if root not in region.inputs and root.site is not None)
    return any(root.site is not None and root.site.stmt in stmts for root in others)


def _is_kept(region: Region, value: Value) -> bool:
    """True for a list or dict from before the towers, to which other names may refer as well."""
    mutable = isinstance(value, Mapping) or (isinstance(value, Sequence) and value.mutable)
    return mutable and not region.in_tower(value.site)


def _holds_no_input(region: Region, value: Value) -> bool:
    """Whether a dict that the towers fill, under keys that are not known, holds nothing that is fed."""
    kept = isinstance(value, Mapping) and _is_kept(region, value)
    return not kept or not any(isinstance(c, Input) for t in tensors_in(value) for c in choices(t))


def _made_at_all(site: LoopSite, part: Part, node: ast.AST) -> tuple[str, bool]:
    """For a value that only some branches create: the expression that tells whether it exists, and `Guard.unset`."""
    region, text = site.region, part.text
    if any(left_out(part.value)):
        return _part_made(site, part, node), False
    beside = _values_of_other_branches(region, part) if part.whole is None else []
    found = [maybe for maybe in region.maybe if maybe.value in beside]
    maybe = next((one for one in found if spelling(region.block.frame, one.place) == text), None)
    if maybe is None:
        return _made_in_each_call(region, part), False
    if maybe.place.kind == "name":
        return _there(site, text, maybe.plain), maybe.unset
    if maybe.place.kind != "attr":
        raise refuse(site.facts, node, PlanFault.MADE_BY_ONE_BRANCH, name=text)
    holder, _, name = text.rpartition(".")
    if not (maybe.none or maybe.plain):
        return f"hasattr({holder}, {name!r})", False
    return _there(site, f"getattr({holder}, {name!r}, None)" if maybe.unset else text, maybe.plain), False


def _made_in_each_call(region: Region, part: Part) -> str:
    """The expression that tells whether a value exists which another call of the model's function leaves out."""
    holder, _, name = part.text.rpartition(".")
    if part.whole is None and lacked_in_other_calls(region, part.text):
        return f"hasattr({holder}, {name!r})"
    return f"{part.text} is not None" if none_in_other_call(region, part.text) else ""


def _there(site: LoopSite, text: str, plain: bool) -> str:
    """The expression that tells a tensor from None, and from a plain value if it may be one."""
    return f"isinstance({text}, {site.tensorflow}.Tensor)" if plain else f"{text} is not None"


def _values_of_other_branches(region: Region, part: Part) -> list[Value]:
    """A value, and those that other branches leave in its place."""
    joins = [(a.place, a.value) for a in region.writes if isinstance(a.value, Tensor) and a.value.op == "join"]
    beside = [value for place, value in joins if spelling(region.block.frame, place) == part.text][-1:]
    return [part.value, *(v for join in beside for v in choices(join) if part.value in choices(join))]


def _holder_bound(region: Region, part: Part) -> str:
    """The expression that tells whether the object is there that holds a value, where only some branches bind it."""
    name = part.text.partition(".")[0].partition("[")[0]
    unset = [one.place for one in region.maybe if one.unset and one.place.kind == "name"]
    here = name != part.text and any(one.key == name and one.frame is region.block.frame for one in unset)
    return f"{name!r} in locals()" if here else ""


def _part_made(site: LoopSite, part: Part, node: ast.AST) -> str:
    """The expression that tells whether the script has put a tensor into a dict, an object or a name."""
    unset, none, plain = left_out(part.value)
    target = parse_expression(part.text)
    there = _there(site, part.text, plain)
    if part.whole is not None or (unset and not isinstance(target, (ast.Subscript, ast.Attribute))):
        raise refuse(site.facts, node, PlanFault.PART_MADE_BY_ONE_BRANCH, name=part.text)
    if not unset:
        return there
    if isinstance(target, ast.Subscript):
        holder = ast.unparse(target.value)
        found = f"{ast.unparse(target.slice)} in {f'({holder} or ())' if is_unheld(part.value) else holder}"
    else:
        assert isinstance(target, ast.Attribute)
        found = f"hasattr({ast.unparse(target.value)}, {target.attr!r})"
    return f"{found} and {there}" if none or plain else found


def _is_open_ended(region: Region, value: Value) -> bool:
    """True if the number of steps in a value may differ from tower to tower."""
    tensors = [t for t in tensors_in(value) if t.batch.kind == "example" and t.rank != 1]
    behind = [v for v in needed(tensors).values() if isinstance(v, Tensor)]
    return any(tensor.op == OPEN_ENDED or _is_cut_to_longest(region, tensor) for tensor in behind)


def _is_cut_to_longest(region: Region, tensor: Tensor) -> bool:
    """True if a tower cuts its examples at a number that it computes of all of them, such as the largest length."""
    if not has(tensor.op, Trait.CUTS):
        return False
    given = (t for v in tensor.inputs[1:] for t in tensors_in(v))
    return any(t.batch.kind == "reduced" and region.in_tower(t.site) for t in given)


def _needs_cast(facts: Facts, rows: Rows, value: Value) -> bool:
    """True if a tower's weight, a float32 tensor, must be cast to the type of the value."""
    return names_other_types(facts) or (rows.known == "running" and not is_float32(value))
