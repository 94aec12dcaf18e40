"""Values of the towers that are read after the loop.

    h = tf.layers.dense(x, 3)             # in the towers
    state = {'h': h, 'mean': tf.reduce_mean(h)}
    loss = …
    print(sess.run(state['mean'], …))     # after the loop: reads the towers' state['mean'], and nothing else of them

Each value that must be merged is noted under the text by which the loop's function reaches it, here `state['mean']`.
Of a list, tuple or dict only what is selected from it is taken, if that is seen; all of it otherwise, as single tensors
or, where these are merged in one way, as a whole. Whether the towers' parts of a value can be put together is another
question (`is_mergeable`): what cannot is computed once more after the loop, or refused.
"""

from __future__ import annotations

import ast
from collections.abc import Container, Iterator, Set

from converter.analysis.facts import Facts
from converter.analysis.flow.joined import choices, is_input
from converter.analysis.frames import Access, Place
from converter.analysis.tensors.sparse import is_sparse
from converter.analysis.tensors.updates import is_update, updates_among
from converter.analysis.traits import Trait, has
from converter.analysis.values import Function, Input, Mapping, Sequence, Tensor, Value, is_of_own, tensors_in
from converter.planner.plan_faults import PlanFault
from converter.planner.questions.batch_values import (
    carries_batch,
    counts_examples,
    is_made_of_shard,
    keeps_batch,
    may_hold_tensors,
)
from converter.planner.questions.nested_tensors import alike, is_fixed, is_flat_list
from converter.planner.questions.structures import Part, parts, parts_of, selected
from converter.planner.region.region import Region
from converter.planner.towers.merges.dict_keys import keys_read
from converter.planner.towers.merges.purpose import is_only_shown
from converter.planner.towers.merges.tensor_names import op_name
from converter.planner.wording import refuse
from converter.planner.writing.spelling import spelling
from converter.source.project.graph_readers import names_in_texts

Wanted = dict[str, tuple[Part, ast.AST]]  # what is merged, by its text in the loop's frame, and a node that reads it


def wanted_out(
    facts: Facts,
    region: Region,
    unread: Container[str],
    elsewhere: Set[str] = frozenset(),
    replaced: Container[ast.AST] = (),
) -> Wanted:
    """Values of the towers that are read after the loop, or that code which is not walked may read.

    unread: attributes that nothing reads. elsewhere: names in the graph by which other scripts may ask for values.
    replaced: nodes that the converted script does not have any more.
    """
    wanted: Wanted = {}
    for access in region.reads_after:
        if access.node not in replaced:
            wanted = with_more(wanted, wanted_by_access(facts, region, access, wanted))
    wanted = with_more(wanted, _named(facts, region))
    wanted = with_more(wanted, _exported(facts, region, elsewhere | _names_exported(facts)))
    last = {access.place: access for access in region.writes if access.place.kind == "attr"}
    for access in last.values():
        wanted = with_more(wanted, _of_attribute(facts, region, access, unread))
    return _without_parts(wanted)


def with_more(wanted: Wanted, more: Wanted) -> Wanted:
    """The values to merge, with `more` added; entries that are there already are kept."""
    return {**wanted, **{text: read for text, read in more.items() if text not in wanted}} if more else wanted


def _named(facts: Facts, region: Region) -> Wanted:
    """Values that the script asks for by their names in the graph, as `'scores:0'`."""
    found: Wanted = {}
    for value, name, node in facts.named:
        batched = _is_batched(region, value) and not is_input(value)
        inside = all(region.in_tower(one.site) for one in choices(value))
        if inside and (batched or value.op == "summary"):
            kept = _place_of(facts, region, value, name, node)
            found.setdefault(kept, (Part(kept, value, "", None), node))
    return found


def _names_exported(facts: Facts) -> Set[str]:
    """The names of operations that the script leaves in a graph that it writes: `['scores']`."""
    names = ((c, getattr(c.func, "attr", getattr(c.func, "id", ""))) for c in facts.nodes(ast.Call))
    calls = (call for call, name in names if has(name, Trait.EXPORTS_BY_NAME))
    given = [node.value for call in calls for node in ast.walk(call) if isinstance(node, ast.Constant)]
    return names_in_texts(text for text in given if isinstance(text, str))


def _exported(facts: Facts, region: Region, names: Set[str]) -> Wanted:
    """Values that other scripts may ask for by the names that the script gave them, as far as they can be merged."""
    found: Wanted = {}
    for value in facts.tensors if names else ():
        name = op_name(region, value) if region.in_tower(value.site) and value.op != "summary" else ""
        asked = "/".join([*value.scopes[: region.depth_of(value)], name]) in names if name else False
        if not asked or not _is_batched(region, value) or is_input(value) or not is_mergeable(value):
            continue
        text = _text_of(facts, region, value)
        if text is not None and value.node is not None:
            found[text] = (Part(text, value, "", None), value.node)
    return found


def _without_parts(wanted: Wanted) -> Wanted:
    """The values to merge without items of lists that are merged as a whole."""
    lists = tuple(f"{text}[" for text, (part, _) in wanted.items() if isinstance(part.value, Sequence))
    return {text: found for text, found in wanted.items() if not text.startswith(lists)}


def _of_attribute(facts: Facts, region: Region, access: Access, unread: Container[str]) -> Wanted:
    """An attribute that the towers set may be read by code that is not walked: it is merged wherever it can be."""
    value, text = access.value, spelling(region.block.frame, access.place)
    if not text or text in unread or region.in_tower(getattr(access.place.holder, "site", None)):
        return {}
    if _is_computed_by_each_tower(region, value) or value.uid in region.handed_within:
        return {}
    if isinstance(value, Mapping):
        made = [t for t in tensors_in(value) if _is_batched(region, t) and not isinstance(t, Input)]
        if made and all(is_mergeable(t) and region.in_tower(t.site) for t in made):
            return _parts_read(facts, region, access, text, value)
    elif isinstance(value, Tensor) and not is_input(value) and is_mergeable(value):
        return {text: (Part(text, value, "", None), access.node)}
    return {}


def _place_of(facts: Facts, region: Region, value: Tensor, name: str, node: ast.AST) -> str:
    """Where the towers keep a value that is asked for by its name in the graph."""
    texts = {_text_of(facts, region, one) for one in choices(value)}
    text = texts.pop()
    if text is None or texts:
        raise refuse(facts, node, PlanFault.VALUE_WITHOUT_NAME, name=name)
    return text


def _text_of(facts: Facts, region: Region, value: Value) -> str | None:
    """The expression under which the towers keep a value, None for one that they only compute with."""
    for access in region.writes:
        if access.value is value:
            text = spelling(region.block.frame, access.place)
            if text is not None and bound_by_tower(facts, region, access.place, value):
                return text
    return None


def wanted_by_access(facts: Facts, region: Region, access: Access, known: Container[str]) -> Wanted:
    """The values of the towers that an access reads; known: the expressions of those that are wanted already."""
    value, holder = access.value, access.place.holder
    if value.uid in region.handed_whole:
        text = spelling(region.block.frame, access.place)
        return {text: (Part(text, value, "", None), access.node)} if text is not None else {}
    if value.uid in region.handed_within or (holder is not None and holder.uid in region.handed_within):
        return {}
    if is_input(value) or (isinstance(holder, Sequence) and (holder.unmeasured or not holder.mutable)):
        return {}  # a part of a tuple, or of a list of any length: found where these are read
    if isinstance(value, (Sequence, Mapping)):
        text = spelling(region.block.frame, access.place) if access.node not in facts.measured else None
        if text is not None and bound_by_tower(facts, region, access.place, value):
            return _of_structure(facts, region, access, text, value)
    elif isinstance(value, Tensor) and value.op == "join" and not region.in_tower(value.site):
        return _joined(facts, region, access, value, known)
    elif region.in_tower(value.site) and (_is_of_examples(region, value) or _is_called_again(facts, region, value)):
        text = spelling(region.block.frame, access.place)
        if text is not None and text not in known and bound_by_tower(facts, region, access.place, value):
            return {text: (Part(text, value, "", None), access.node)}
    return {}


def _of_structure(facts: Facts, region: Region, access: Access, text: str, value: Sequence | Mapping) -> Wanted:
    """What an access reads of a list, tuple or dict of the towers; the keys of a dict alone need no merge."""
    keys = keys_read(facts, region, value, access.node) if isinstance(value, Mapping) else None
    if keys is None:
        return _parts_read(facts, region, access, text, value)
    return {text: (Part(text, value, "", None), access.node)} if keys == "of a tower" else {}


def _joined(facts: Facts, region: Region, access: Access, joined: Tensor, known: Container[str]) -> Wanted:
    """A place that the towers set, unless another branch of the script put something there instead."""
    found: Wanted = {}
    for one in dict.fromkeys(v for v in region.written.get(access.place, ()) if v in joined.inputs):
        found = with_more(found, wanted_by_access(facts, region, access._replace(value=one), known))
    return found


def _is_batched(region: Region, value: Tensor) -> bool:
    """Whether a tensor depends on the batch that is cut."""
    return value.batch.kind != "free" and not _is_computed_by_each_tower(region, value)


def _is_computed_by_each_tower(region: Region, value: Value) -> bool:
    """Whether each tower computes all of a tensor: of inputs that the loss does not need, which it reads whole."""
    depends = isinstance(value, Tensor) and value.batch.kind != "free" and bool(value.roots)
    return depends and not any(root in region.inputs for root in value.roots)


def _is_of_examples(region: Region, value: Value) -> bool:
    """Whether a value of a tower is one of its shard alone: it depends on the batch, counts it, or is made of it."""
    if _is_computed_by_each_tower(region, value):
        return False
    batched = isinstance(value, Tensor) and value.batch.kind != "free"
    return batched or any(ask(value) for ask in (counts_examples, is_made_of_shard, may_hold_tensors, is_update))


def _is_called_again(facts: Facts, region: Region, value: Value) -> bool:
    """Whether code behind the loop calls a function with an argument that the last tower left in it."""
    if not keeps_batch(value):
        return False
    return not isinstance(value, Function) or any(
        a.place.kind == "name"
        and a.place.frame is not None
        and a.place.frame.function is value
        and a.place.key in a.place.frame.by_default
        and carries_batch(a.value)
        and region.comes_after(a)
        for a in facts.accesses
    )


def _parts_read(facts: Facts, region: Region, access: Access, text: str, whole: Sequence | Mapping) -> Wanted:
    """A list, tuple or dict of the towers that is read: what is selected from it one by one, or all of it alike."""
    chosen, value = selected(facts, text, whole, access.node)  # the text and value of what is selected
    listed = [t for t in _listed(value) if not is_input(t) and region.in_tower(t.site)]
    inside = {t.uid for t in listed if _is_batched(region, t)} | {t.uid for t in updates_among(listed)}
    losses = {step.loss.uid for step in facts.train_steps}

    def as_one(text: str, held: Sequence) -> bool:
        return text.startswith(chosen) and _goes_as_list(region, held, losses)

    found = [p for p in parts(text, whole, as_one=as_one) if p.text.startswith(chosen)]
    found = [p for p in found if any(t.uid in inside for t in tensors_in(p.value))]
    later = _put_in_later(facts, region, text, whole)
    inside -= {t.uid for p in found if p.text in later for t in tensors_in(p.value)}
    found = [p for p in found if p.text not in later]
    all_reached = inside <= {t.uid for p in found for t in tensors_in(p.value)}
    mergeable = all(
        is_mergeable(p.value) or p.value.uid in losses or _is_own_and_shown(facts, region, p.value) for p in found
    )
    made_here = whole.site is not None and whole.site.frame is region.block.frame  # it may be made once more
    if inside and (not all_reached or _is_one_nest(whole) or (made_here and not mergeable)):
        found = [Part(text, whole, "", None)]
    read: Wanted = {}
    for part in found:
        read.setdefault(part.text, (part, access.node))
    return read


def _listed(value: Value) -> Iterator[Tensor]:
    """The tensors of a structure without those of objects in it: what is read of an object is an access of its own."""
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, (Sequence, Mapping)):
        for part in value.parts():
            yield from _listed(part)


def _put_in_later(facts: Facts, region: Region, text: str, whole: Sequence | Mapping) -> set[str]:
    """The expressions for what a dict holds only behind the loop: `layers.update(losses)` there puts it in."""
    calls = [effect.node for effect in facts.changes_of(whole) if region.comes_after(effect)]
    given = [call.args[0] for call in calls if isinstance(call, ast.Call) and call.args]
    others = [other for node in given if isinstance(other := facts.read_or_written.get(node), Mapping)]
    return {text + key for other in others for key, _ in parts_of(other)} if isinstance(whole, Mapping) else set()


def _is_own_and_shown(facts: Facts, region: Region, value: Value) -> bool:
    """Whether a tensor of a tower's own example is only shown, if it is read at all: it is merged by its form."""
    return isinstance(value, Tensor) and is_of_own(value) and is_only_shown(facts, region, value)


def _is_one_nest(whole: Sequence | Mapping) -> bool:
    """Whether tensors of one kind lie in a structure that no item can be put back into."""
    way = alike(whole) if is_fixed(whole) else None
    return way is not None and (way.kind == "example" or getattr(whole, "unmeasured", False))


def _goes_as_list(region: Region, held: Sequence, losses: set[int]) -> bool:
    """Whether a list is merged as a list: of any length, or of several tensors that are merged in one way."""
    tensors = [e for e in held.elements if isinstance(e, Tensor)]
    if alike(held) is None or any(t.uid in losses for t in tensors):
        return False
    named = any(is_input(t) or op_name(region, t) for t in tensors)
    return held.unmeasured or (is_flat_list(held) and len(tensors) > 1 and not named)


def bound_by_tower(facts: Facts, region: Region, place: Place, value: Value) -> bool:
    """Whether it is the towers that put a value where it is read, or that fill it."""
    if isinstance(value, (Sequence, Mapping)) and _is_filled(facts, region, value):
        return True
    if not region.tower.isdisjoint(region.block.writers(place)):
        return True
    if place.kind == "name" or not region.in_tower(value.site):
        return False
    if facts.writes_to(place):
        return False  # put there after the loop, when it was merged already
    holder = place.holder
    return holder is not None and (holder.time < region.start or region.in_tower(holder.site))


def _is_filled(facts: Facts, region: Region, value: Sequence | Mapping) -> bool:
    """Whether the towers put something into a list or a dict that is there before them."""
    if region.in_tower(value.site) or value.time > region.end:
        return False
    grown = any(region.in_tower(e.site) for e in facts.changes_of(value))
    return grown or not region.tower.isdisjoint(region.block.fillers(value))


def mixes_inputs(region: Region, value: Value) -> bool:
    """Whether a tower makes a tensor of its shard and of all rows of an input that the loss does not need."""
    if not isinstance(value, Tensor) or value.batch.kind == "free":
        return False
    batched = [r for r in value.roots if isinstance(r, Input) and r.is_batch]
    return any(r in region.inputs for r in batched) and any(r not in region.inputs for r in batched)


def is_mergeable(value: Value) -> bool:
    """Whether the whole batch's value can be put together from the towers' parts."""
    if isinstance(value, (Sequence, Mapping)):
        return alike(value) is not None
    if not isinstance(value, Tensor) or is_sparse(value) or is_made_of_shard(value):
        return False
    batch = value.batch
    if batch.kind == "example":
        return batch.packed != "minor"
    if batch.kind == "free":
        return is_update(value)
    # A term beside a sum that does not depend on the examples would be added once for each tower.
    mean = batch.how == "mean" and batch.over is None
    return batch.kind == "reduced" and (mean or (batch.how == "sum" and not batch.affine))
