"""What enters the loop: shards of the inputs, and numbers that count one shard."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from converter.analysis.facts import Facts, TrainStep
from converter.analysis.frames import Access, Place
from converter.analysis.inputs.embedded_data import DATA
from converter.analysis.tensors.sparse import is_sparse
from converter.analysis.values import Input, Mapping, Number, Origin, Sequence, Site, Tensor, Value
from converter.plan import Nest, Rebind, Shard
from converter.planner.batch_size.batch_size import Scaling, reads_flag
from converter.planner.border.global_names import declare
from converter.planner.border.traffic import Traffic
from converter.planner.questions.nested_tensors import inputs_in, path_to, whole_inputs
from converter.planner.questions.rows_from_python import are_alike, has_rows
from converter.planner.region.region import Region
from converter.planner.shards.fed_number import counted_rows
from converter.planner.shards.tuples import key_of, make_anew, saved_tuple
from converter.planner.writing.findings import refuse
from converter.planner.writing.free_names import Names
from converter.planner.writing.spelling import leaf, reach, spelling


def shards_in(facts: Facts, region: Region, names: Names, traffic: Traffic, steps: list[TrainStep]) -> None:
    """The inputs, grouped by what is fed together, and the names that the towers read them by."""
    places: dict[int, list[str]] = {i.uid: [] for i in region.inputs}
    tuples: dict[str, tuple[str, Sequence]] = {}  # of inputs that are parts of tuples: the tuple's text and value
    whole: dict[str, str] = {}
    written = _written_first(region)
    nests = _nests(facts, region, written)
    for access in tower_reads(region):
        value = access.value
        if not isinstance(value, Input) or value.uid not in places or access.place in written:
            continue
        holder = access.place.holder
        if holder is not None and (region.in_tower(holder.site) or any(holder is nest for nest, _ in nests)):
            continue  # a list or object that each tower makes anew, or that is cut as a whole
        text = spelling(region.block.frame, access.place)
        if text is None:
            if _local_of_callee(region, access):
                continue
            raise refuse(facts, access.node, "TMG205", "this input is read in a way that the loop cannot replace",
                         "pass it to the function as an argument")  # fmt: skip
        declare(facts, region, traffic, access, text)
        if isinstance(holder, Sequence) and not holder.mutable:
            tuples[text] = (reach(region.block.frame, holder) or "", holder)
        if text not in places[value.uid]:
            places[value.uid].append(text)
    kept = {text: names.fresh(f"{leaf(text)}_batch", f"all_{leaf(text)}") for _, access in nests
            if (text := _nest_text(facts, region, traffic, access))}  # fmt: skip
    for value in region.inputs:
        if value.op == DATA and not places[value.uid] and not any(path_to(nest, value) for nest, _ in nests):
            raise refuse(facts, value.node or region.block.body[0], "TMG205",
                         "the model reads this data by no name that the loop could replace",
                         "give it a name in front of the model")  # fmt: skip
    optional = _optional(facts, region, places)
    for value, source in optional.items():
        (text,) = places[value.uid]
        kept_as = names.fresh(f"{leaf(text)}_batch", f"all_{leaf(text)}")
        static = not traffic.alone and _static(value)
        traffic.nests.append(Nest(text, kept_as, value.batch.axis, static, source))
        whole[text] = kept_as
    groups = _groups([i for i in region.inputs if i not in optional], region, steps)
    for group in groups:
        _check_parts(facts, group)
        texts = [t for i in group for t in places[i.uid]]
        axes = [i.batch.axis for i in group for _ in places[i.uid]]
        lead = _lead_in_nest(nests, group[0], region, kept, names) if not places[group[0].uid] else None
        if not texts and lead is None:
            continue
        holders = [tuples.get(t) for t in texts]
        saved = [
            names.fresh(f"{leaf(t)}_batch", f"all_{leaf(t)}", f"whole_{leaf(t)}") if holder is None
            else saved_tuple(names, traffic, holder[0]) + t[len(holder[0]) :]
            for t, holder in zip(texts, holders, strict=True)
        ]  # fmt: skip
        whole.update(zip(texts, saved, strict=True))
        texts = _regrouped(facts, region, names, traffic, texts, holders)
        suffix = "" if len(groups) == 1 else f"_{leaf(texts[0])}" if texts else f"_{lead[0]}" if lead else ""
        static = not traffic.alone and all(_static(i) for i in group)
        sparse = any(is_sparse(i) for i in group)
        traffic.groups.append(group)
        traffic.shards.append(
            Shard(tuple(texts), tuple(saved), tuple(axes), names.fresh("rows" + suffix, f"tower_rows{suffix}"),
                  names.fresh("weight" + suffix, f"tower_weight{suffix}"), static, lead, group[0].op == DATA,
                  sparse=sparse)
        )  # fmt: skip
    _aliases_out(region, traffic, whole, set(tuples), optional)
    rebound = _bound_texts(region)
    for nest, access in nests:
        text = spelling(region.block.frame, access.place) or ""
        inputs = whole_inputs(nest)
        static = not traffic.alone and all(map(_static, inputs))
        traffic.nests.append(Nest(text, kept[text], inputs[0].batch.axis, static))
        traffic.restore += [(text, kept[text])] if text not in rebound else []


def _optional(facts: Facts, region: Region, places: dict[int, list[str]]) -> dict[Input, str]:
    """Inputs that only one branch of an unknown condition makes, and what tells in front of the loop: None for none."""
    found: dict[Input, str] = {}
    for maybe in facts.maybe:
        value = maybe.value
        if not isinstance(value, Input) or not places.get(value.uid) or region.in_tower(maybe.site):
            continue
        text = spelling(region.block.frame, maybe.place)
        if any(step.stmt is site.stmt for site in [maybe.site] for step in _around(region)):
            continue  # the condition is around the loop, too
        if text not in places[value.uid]:
            continue
        holder, _, name = text.rpartition(".")
        source = f"getattr({holder}, {name!r}, None)" if maybe.unset else text
        unseen = maybe.plain or (maybe.unset and maybe.place.kind != "attr")
        if len(places[value.uid]) > 1 or is_sparse(value) or unseen:
            raise refuse(facts, value.node or region.block.body[0], "TMG205",
                         "only one branch of a condition makes this input, and the towers would cut it in any case",
                         "let the other branch put None there")  # fmt: skip
        found[value] = source
    return found


def _around(region: Region) -> list[Site]:
    """The statements around the block of the model, through callers up to the module."""
    first = next((a.site for i, a in region.block.accesses() if i in region.tower), None)
    return list(first.chain()) if first is not None else []


def _nests(facts: Facts, region: Region, written: set[Place]) -> list[tuple[Sequence | Mapping, Access]]:
    """Lists and dicts of inputs that the towers do not read element by element."""
    reads = [a for a in tower_reads(region) if a.place not in written]
    apart = {(a.place.owner, a.value.uid) for a in reads if _is_chosen(a.node)}
    found: dict[Place, tuple[Sequence | Mapping, Access]] = {}
    for access in reads:
        value = access.value
        if not isinstance(value, (Sequence, Mapping)) or region.in_tower(value.site):
            continue
        inputs = [i for i in inputs_in(value) if i in region.inputs]
        known = not getattr(value, "unmeasured", False)
        by_element = not inputs or (known and all((value.uid, i.uid) in apart for i in inputs))
        entries = isinstance(value, Mapping) and not any(_is_whole(facts, a, reads) for a in reads if a.value is value)
        if by_element or entries or _local_of_callee(region, access):
            continue
        if any(is_sparse(i) for i in inputs):
            raise refuse(facts, access.node, "TMG225", "a sparse batch is read together with other inputs",
                         "read each input by its own name or key")  # fmt: skip
        if not whole_inputs(value):
            raise refuse(facts, access.node, "TMG205", "these inputs are read together with other values",
                         "read each input by its own name or key")  # fmt: skip
        found.setdefault(access.place, (value, access))
    return list(found.values())


def _is_whole(facts: Facts, access: Access, reads: list[Access]) -> bool:
    """Whether a dict is read for more than an entry that is an input, or to hand it to a function of the script."""
    taken = facts.selections.get(access.node)
    if any(a.node is taken and isinstance(a.value, Input) and a.place.owner == access.value.uid for a in reads):
        return False
    parents = facts.walked[facts.tree_of(facts.path_of(access.node))].parents
    handed = isinstance(parents.get(access.node), (ast.Call, ast.keyword))
    frames = (a.place.frame for a in reads if a.value is access.value and a.place.kind == "name")
    sites = {f.call_site.stmt for f in frames if f is not None and f.call_site is not None}
    return not (handed and access.site.stmt in sites)


def _is_chosen(node: ast.AST) -> bool:
    """Whether an element is read by its own key or name."""
    return isinstance(node, ast.Attribute) or (isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant))


def _nest_text(facts: Facts, region: Region, traffic: Traffic, access: Access) -> str:
    text = spelling(region.block.frame, access.place)
    if text is None:
        raise refuse(facts, access.node, "TMG205", "these inputs are read in a way that the loop cannot replace",
                     "pass them to the function as an argument")  # fmt: skip
    declare(facts, region, traffic, access, text)
    return text


def _lead_in_nest(
    nests: list[tuple[Sequence | Mapping, Access]], lead: Input, region: Region, kept: dict[str, str], names: Names
) -> tuple[str, str, int] | None:
    """The input that rows are counted on, where it stands in a list or a dict only."""
    for nest, access in nests:
        path = path_to(nest, lead)
        text = spelling(region.block.frame, access.place)
        if path is not None and text is not None:
            return names.fresh(f"first_{leaf(text)}", f"lead_{leaf(text)}"), kept[text] + path, lead.batch.axis
    return None


def _regrouped(
    facts: Facts, region: Region, names: Names, traffic: Traffic, texts: list[str],
    holders: list[tuple[str, Sequence] | None],
) -> list[str]:  # fmt: skip
    """Names for the shards of what cannot be assigned to, and tuples that are made of them."""
    found, reads = [], tower_reads(region)
    for text, held in zip(texts, holders, strict=True):
        found.append(text if held is None else names.fresh(leaf(text), f"tower_{leaf(text)}"))
        if held is not None:
            make_anew(facts, region, names, traffic, reads, held, text[len(held[0]) :], found[-1])
    return found


def _aliases_out(
    region: Region, traffic: Traffic, saved: dict[str, str], parts_of_tuples: set[str], optional: Iterable[Input]
) -> None:
    """A name that the towers bind to an input means the whole batch again after the loop."""
    by_input: dict[int, str] = {}
    for group in (*traffic.groups, list(optional)):
        for access in tower_reads(region):
            text = spelling(region.block.frame, access.place)
            if text in saved and access.value in group:
                by_input.setdefault(access.value.uid, saved[text])
    traffic.whole = by_input
    rebound = set(_bound_texts(region))
    for text, name in saved.items():
        if text not in rebound and text not in parts_of_tuples:
            traffic.restore.append((text, name))
    for index, access in region.block.accesses():
        if index in region.tower and access.write and isinstance(access.value, Input):
            text = spelling(region.block.frame, access.place)
            if text and access.value.uid in by_input and (text, by_input[access.value.uid]) not in traffic.restore:
                traffic.restore.append((text, by_input[access.value.uid]))


def _bound_texts(region: Region) -> set[str]:
    found = set()
    for index, access in region.block.accesses():
        if index in region.tower and access.write:
            text = spelling(region.block.frame, access.place)
            if text:
                found.add(text)
    return found


def _written_first(region: Region) -> set[Place]:
    """Places that the towers write before they read them."""
    seen: set[Place] = set()
    first: set[Place] = set()
    for access in sorted((a for i, a in region.block.accesses() if i in region.tower), key=lambda a: a.time):
        if access.place not in seen:
            seen.add(access.place)
            if access.write:
                first.add(access.place)
    return first


def tower_reads(region: Region) -> list[Access]:
    """The reads of what the towers run: their statements, and losses that are written out elsewhere."""
    return [a for i, a in region.block.accesses() if not a.write and (i in region.tower or a.node in region.inline)]


def _local_of_callee(region: Region, access: Access) -> bool:
    """A parameter or local of a function that the towers call: it is handed what the loop re-binds."""
    frame = access.place.frame
    if access.place.kind == "name":
        return frame is not None and frame.call_site is not None and region.in_tower(frame.call_site)
    holder = access.place.holder
    return holder is not None and (region.in_tower(holder.site) or holder.site is None)


def _static(value: Input) -> bool:
    shape = value.shape
    entries = shape.elements if isinstance(shape, Sequence) else []
    axis = value.batch.axis
    fixed = not is_sparse(value) and len(entries) > axis
    return fixed and isinstance(entries[axis], Number) and entries[axis].value != -1  # type: ignore[attr-defined]


def _fixed_rows(value: Input) -> object:
    """The number of rows that a shape fixes, as a number or by the batch size that it is a multiple of; else None."""
    if not _static(value) or not isinstance(value.shape, Sequence):
        return None
    rows = value.shape.elements[value.batch.axis]
    assert isinstance(rows, Number)
    return rows.value if rows.value is not None else rows.linear


def _check_parts(facts: Facts, group: list[Input]) -> None:
    """A run in parts must be fed first what says how many rows each shard has."""
    for run in (run for run in facts.runs if run.handle is not None):
        keys = {key.uid for key, _ in run.feeds}
        if group[0].uid not in keys and any(i.uid in keys for i in group[1:]):
            raise refuse(facts, run.call, "TMG242",
                         "this part of a run feeds an input before the one by whose rows all inputs are shared",
                         "feed the input that the model reads first in the first part")  # fmt: skip


def _groups(inputs: list[Input], region: Region, steps: list[TrainStep]) -> list[list[Input]]:
    """Inputs that can share a count of rows.

    The count is read from one of them, so that one must be fed whenever a value of the group is
    fetched: it must lie behind every value that leaves the towers and depends on the group.
    """
    rest = list(inputs)
    behind: list[set[Value]] = []
    for value in region.needed.values():
        if isinstance(value, Tensor) and not isinstance(value, Input) and value.roots:
            roots = set(value.roots) & set(rest)
            if roots and roots not in behind:
                behind.append(roots)
    groups: list[list[Input]] = []
    losses = [set(s.loss.roots) & set(rest) for s in steps]
    while rest:
        lead = max(rest, key=lambda i: (sum(i in loss for loss in losses), sum(i in b for b in behind),
                                        not is_sparse(i), -rest.index(i)))  # fmt: skip
        together = [i for i in rest if all((i in loss) <= (lead in loss) for loss in losses)
                    and (i.batch.axis == lead.batch.axis or i.op == DATA) and _fixed_rows(i) == _fixed_rows(lead)
                    and (i.op == DATA) == (lead.op == DATA)]  # fmt: skip
        groups.append([lead, *(i for i in together if i is not lead)])
        rest = [i for i in rest if i not in together]
    return groups


def keeps_size(access: Access, scaling: Scaling) -> bool:
    """Whether a batch size is read that goes on meaning the size of one tower."""
    origins = access.value.origins if isinstance(access.value, Number) else ()
    return any(o in scaling.flags and reads_flag(access, o) for o in origins) and access.place not in scaling.set


def numbers_in(
    facts: Facts, region: Region, names: Names, traffic: Traffic, scaled: frozenset[Origin], scaling: Scaling
) -> None:
    """Batch sizes that the towers read: inside they count one shard."""
    keys = {o.key for o in scaled}
    written = _written_first(region)
    done: set[str] = set()
    for access in tower_reads(region):
        value, place = access.value, access.place
        if has_rows(value, keys):
            _check_filled(facts, region, access)
        if not isinstance(value, Number) or place in written:
            continue
        if keeps_size(access, scaling):
            continue
        if not any(o.key in keys for o in value.linear):
            if any(o.key in keys for o in value.origins):
                raise refuse(
                    facts,
                    access.node,
                    "TMG207",
                    "the model reads a number that depends on the batch size in an unknown way",
                    "compute it from the batch size inside the model",
                )
            continue
        text = spelling(region.block.frame, access.place)
        if text is None:
            if _local_of_callee(region, access):
                continue
            raise refuse(facts, access.node, "TMG205", "this batch size is read in a way that the loop cannot replace",
                         "pass it to the function as an argument")  # fmt: skip
        if text in done:
            continue
        done.add(text)
        if isinstance(place.holder, Sequence) and not place.holder.mutable:
            _number_in_tuple(facts, region, names, traffic, access, text, place.holder)
            continue
        declare(facts, region, traffic, access, text)
        saved = names.fresh(f"global_{leaf(text)}", f"whole_{leaf(text)}")
        traffic.rebinds.append(Rebind(text, saved, rows_of=counted_rows(facts, traffic, access)))
        traffic.restore.append((text, saved))


def _check_filled(facts: Facts, region: Region, access: Access) -> None:
    """Rows that Python makes with the batch size are made by each tower; where it cannot, it would read all of them."""
    value = access.value
    if not region.in_tower(value.site) or not are_alike(value):
        raise refuse(facts, access.node, "TMG207", "the model reads rows that Python makes for the whole batch",
                     "make them where the model is built, all alike")  # fmt: skip
    if any(a.value is value and not a.write and region.comes_after(a) for a in facts.accesses):
        raise refuse(facts, access.node, "TMG207",
                     "rows that Python makes for the whole batch are read by the model and after it",
                     "make them once for the model and once for what comes after it")  # fmt: skip


def _number_in_tuple(
    facts: Facts, region: Region, names: Names, traffic: Traffic, access: Access, text: str, holder: Sequence
) -> None:
    """A batch size in a tuple: inside the towers the tuple is made anew, with the size of one shard."""
    whole, key = reach(region.block.frame, holder) or "", key_of(holder, access)
    if not key:
        raise refuse(facts, access.node, "TMG205", "this batch size is an item of a tuple of unknown length",
                     "give it a name of its own in front of the model")  # fmt: skip
    name = names.fresh(leaf(text), f"tower_{leaf(text)}")
    saved = saved_tuple(names, traffic, whole) + key
    traffic.rebinds.append(Rebind(text, saved, name, counted_rows(facts, traffic, access)))
    make_anew(facts, region, names, traffic, tower_reads(region), (whole, holder), key, name)
