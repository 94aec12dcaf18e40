"""Values that enter the loop: shards of the inputs, and batch sizes that mean one shard."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import replace

from converter.analysis.facts import Facts
from converter.analysis.flow.joined import is_input
from converter.analysis.frames import Access, Place
from converter.analysis.inputs.embedded_data import DATA
from converter.analysis.python.namedtuples import is_frozen
from converter.analysis.tensors.sparse import is_sparse
from converter.analysis.values import (
    Input,
    Instance,
    Mapping,
    Number,
    Origin,
    Sequence,
    Site,
    Tensor,
    Value,
    grows_by_key,
)
from converter.dataclass import dataclass
from converter.diagnostics import Diagnostic
from converter.plan.border import Border, Cut, CutEach, CutInput, CutOptional, Keep, Known, Resize
from converter.planner.batch_size.batch_size import Scaling, reads_flag
from converter.planner.batch_size.fed.row_counts_alike import inputs_fed_without, inputs_with_other_row_counts, unsure
from converter.planner.outcome import Faults, noted
from converter.planner.own.taken import is_taken
from converter.planner.plan_faults import PlanFault
from converter.planner.questions.fixed_size import fixed_size
from converter.planner.questions.nested_tensors import inputs_in, path_to, whole_inputs
from converter.planner.questions.rows_from_python import are_alike, has_rows
from converter.planner.region.executions import is_none_in, none_in_other_call
from converter.planner.region.region import Region, rows_told, written_first
from converter.planner.towers.border.global_names import declare
from converter.planner.towers.border.site import LoopSite
from converter.planner.towers.border.traffic import Traffic
from converter.planner.towers.shards.fed_number import counted_rows
from converter.planner.towers.shards.handed import given_back, handed_shard, handing_in, with_twins
from converter.planner.towers.shards.tuples import key_of, make_anew, saved_tuple
from converter.planner.wording import finding, refuse
from converter.planner.writing.spelling import leaf, reach, spelling, whole_names

MANY = 4  # inputs from which on one list holds their whole batches
Nested = list[tuple[Sequence | Mapping, Access]]  # lists and dicts of inputs, each with where it is read


@dataclass(frozen=True)
class _Read:
    """How the towers read the inputs of a loop.

    places: the expressions for each input, by its uid. tuples: for inputs that are parts of tuples, the tuple's
    expression and value. nests: lists and dicts that are cut as a whole, and kept: the names of their whole batches.
    """

    places: dict[int, list[str]]
    nests: Nested
    tuples: dict[str, tuple[str, Sequence]]
    kept: dict[str, str]


@dataclass(frozen=True)
class _InputRead:
    """An expression by which the towers read an input; `holder` as in `_Read.tuples`, where it is a part of a tuple."""

    text: str
    holder: tuple[str, Sequence] | None


def shards_in(site: LoopSite, before: Traffic) -> Traffic:
    """Adds the inputs, grouped by what is fed together, and the names that the towers read them by; raises Faults."""
    region = site.region
    read, traffic = _inputs_read(site, before)
    whole: dict[str, str] = {}  # the expression for an input -> the one for its whole batch
    cut: list[CutEach | CutOptional] = []
    optional = _optional(site, read.places)
    for value, source in optional.items():
        (text,) = read.places[value.uid]
        whole[text], traffic = traffic.fresh(*whole_names(text))
        axis = value.batch.axis
        cut.append(CutOptional(text, whole[text], axis, _cutting([value], site.alone, axis), source))
    traffic = handing_in(site, traffic)
    groups = _groups([i for i in region.inputs if i not in optional and i not in region.handed], site)
    chosen, twins = with_twins(region, [i for i in region.inputs if i in region.handed])
    handed = [[*group, *(twin for i in group for twin in twins.get(i, ()))] for group in _groups(chosen, site)]
    for group in (*groups, *handed):
        _check_parts(site.facts, group)
        alone = len(groups) + len(handed) == 1
        if group in handed:
            traffic = handed_shard(site, traffic, group, alone)
            continue
        added, traffic = _shard_of(site, traffic, read, group, alone)
        whole |= added
    traffic = _aliases_out(site.facts, region, traffic, whole, set(read.tuples), optional)
    for nest, access in read.nests:
        text, inputs = spelling(region.block.frame, access.place) or "", whole_inputs(nest)
        axis = inputs[0].batch.axis
        cut.append(CutEach(text, read.kept[text], axis, _cutting(inputs, site.alone, axis)))
    rebound = _bound_texts(region)
    restore = tuple((one.place, one.saved) for one in cut if isinstance(one, CutEach) and one.place not in rebound)
    return given_back(site, traffic.plus(Border(bound=tuple(cut), restore=restore)))


def _inputs_read(site: LoopSite, traffic: Traffic) -> tuple[_Read, Traffic]:
    """The expressions by which the towers read the inputs; raises Faults for those that the loop cannot replace."""
    facts, region = site.facts, site.region
    written = written_first(region)
    found: list[Diagnostic] = []
    nests = _nests(facts, region, written)
    places: dict[int, list[str]] = {i.uid: [] for i in region.inputs}
    tuples: dict[str, tuple[str, Sequence]] = {}
    kept: dict[str, str] = {}
    for access in region.tower_reads():
        value = access.value
        if isinstance(value, Input) and value.uid in places and access.place not in written:
            with noted(found):
                read = _input_read(site, nests, access)
                traffic = traffic if read is None else declare(facts, region, traffic, access, read.text)
                places[value.uid] += [read.text] if read is not None and read.text not in places[value.uid] else []
                tuples |= {read.text: read.holder} if read is not None and read.holder is not None else {}
    for _, access in nests:
        with noted(found):
            text = _nest_text(facts, region, access)
            traffic = declare(facts, region, traffic, access, text)
            if text:
                kept[text], traffic = traffic.fresh(*whole_names(text))
    for value in region.inputs:
        nested = any(path_to(nest, value) for nest, _ in nests)
        if value.op == DATA and not places[value.uid] and not nested:
            found.append(finding(facts, site.made_at(value), PlanFault.DATA_WITHOUT_NAME))
    if found:
        raise Faults(found)
    return _Read(places, nests, tuples, kept), traffic


def _input_read(site: LoopSite, nests: Nested, access: Access) -> _InputRead | None:
    """How an input is read; None where the towers need no name for it."""
    region, holder = site.region, access.place.holder
    if holder is not None and (region.in_tower(holder.site) or any(holder is nest for nest, _ in nests)):
        return None  # a list or object that each tower makes anew, or that is cut as a whole
    text = _input_text(region, access)
    around = [nest for nest, _ in nests if holder is not None and path_to(nest, holder)]
    if around and any(access.node in _chosen_from(site.facts, region, nest) for nest in around):
        return None  # a part of what is cut as a whole, read through that
    if around:
        raise refuse(site.facts, access.node, PlanFault.INPUT_BY_ANOTHER_NAME)
    if text is None:
        if _local_of_callee(region, access) and not _is_earlier_default(region, access):
            return None
        raise refuse(site.facts, access.node, PlanFault.INPUT_NOT_REPLACEABLE)
    if isinstance(holder, Sequence) and not holder.mutable:
        return _InputRead(text, (reach(region.block.frame, holder) or "", holder))
    return _InputRead(text, None)


def _input_text(region: Region, access: Access) -> str | None:
    """The expression for the place of an input: in a list that the towers add to, counted from its front."""
    place, holder = access.place, access.place.holder
    if is_frozen(holder):
        return None
    if isinstance(holder, Sequence) and place.key.startswith("-") and _is_changed(region, holder):
        known = holder.elements if holder.ends is None else holder.elements[: holder.ends[0]]
        at = next((number for number, element in enumerate(known) if element is access.value), None)
        place = place._replace(key="?" if at is None else str(at))
    return spelling(region.block.frame, place)


def _is_changed(region: Region, held: Sequence) -> bool:
    return any(region.in_tower(effect.site) for effect in region.block.facts.changes_of(held))


def _shard_of(
    site: LoopSite, before: Traffic, read: _Read, group: list[Input], alone: bool
) -> tuple[dict[str, str], Traffic]:
    """Adds the shard of inputs that are cut together; with the expressions for their whole batches.

    alone: they are all inputs that there are.
    """
    traffic, lead, lists = before, None, None
    if not read.places[group[0].uid]:
        lead, traffic = _lead_in_nest(site, traffic, read, group[0])
    reads = [(text, i.batch.axis, read.tuples.get(text)) for i in group for text in read.places[i.uid]]
    if not reads and lead is None:
        return {}, traffic
    if len(reads) >= MANY and lead is None and not any(holder for *_, holder in reads):
        together, traffic = traffic.fresh("inputs", "tower_inputs")
        parts, traffic = traffic.fresh("parts", "tower_parts")
        lists = (together, parts)
    whole: list[str] = []
    for index, (text, _, holder) in enumerate(reads):
        if lists is not None:
            name = f"{lists[0]}[{index}]"
        elif holder is None:
            name, traffic = traffic.fresh(*whole_names(text))
        else:
            name, traffic = saved_tuple(traffic, holder[0])
            name += text[len(holder[0]) :]
        whole.append(name)
    texts, traffic = _regrouped(site, traffic, [(text, holder) for text, _, holder in reads])
    inputs = [CutInput(*one) for one in zip(texts, whole, (axis for _, axis, _ in reads), strict=True)]
    cut = [*inputs, lead] if lead is not None else inputs
    helper = _helper(group, site.alone, max(one.axis for one in cut))
    suffix = "" if alone else f"_{leaf(cut[0].place)}"
    rows, traffic = traffic.fresh_rows(suffix, _known(helper))
    shard = Cut(rows, tuple(inputs), helper, lead, lists)
    added = replace(traffic.plus(Border(shards=(shard,))), groups=(*traffic.groups, tuple(group)))
    return {text: name for (text, *_), name in zip(reads, whole, strict=True)}, added


def _helper(group: list[Input], alone: bool, axis: int) -> str:
    """The helper that gives each tower its part of some inputs, or inputs of its own; arguments as below."""
    if group[0].is_own:
        return "own_batches" if is_taken(group[0]) else "own_inputs"
    if any(is_sparse(i) for i in group):
        return "shard_sparse"
    return ("shard_data_along" if axis else "shard_data") if group[0].op == DATA else _cutting(group, alone, axis)


def _cutting(group: list[Input], alone: bool, axis: int) -> str:
    """The helper that cuts tensors.

    alone: batches may be of a single example. axis: 0 if all are cut along their first one.
    """
    fixed = not alone and all(map(_static, group))
    return ("shard_static" if fixed else "shard") + ("_along" if axis else "")


def _known(helper: str) -> Known:
    """When the rows are known that a helper gives to a tower."""
    return "fixed" if "static" in helper else "building" if "data" in helper else "running"


def _optional(site: LoopSite, places: dict[int, list[str]]) -> dict[Input, str]:
    """Inputs that only one branch creates, with the expression that is None when it was not taken."""
    region, found = site.region, dict[Input, str]()
    around = {one.stmt for one in _around(region)}
    for maybe in site.facts.maybe:
        value, text = maybe.value, spelling(region.block.frame, maybe.place)
        # a condition around the loop, too, holds for all of it
        if not isinstance(value, Input) or region.in_tower(maybe.site) or maybe.site.stmt in around:
            continue
        if text is not None and text in places.get(value.uid, ()):
            _check_optional(site, value, places, maybe.plain or (maybe.unset and maybe.place.kind != "attr"))
            holder, _, name = text.rpartition(".")
            found[value] = f"getattr({holder}, {name!r}, None)" if maybe.unset else text
    for value in (i for i in region.inputs if places.get(i.uid)):
        text, frames = places[value.uid][0], region.lacking.get(value.uid, ())
        if frames or (value not in found and none_in_other_call(region, text)):
            _check_optional(site, value, places, not all(is_none_in(frame, text) for frame in frames))
            found[value] = text
    return found


def _check_optional(site: LoopSite, value: Input, places: dict[int, list[str]], unseen: bool) -> None:
    """Refuse an input of one branch that has no single expression, is no plain tensor, or is not seen to be there."""
    if len(places[value.uid]) > 1 or is_sparse(value) or value.is_own or unseen:
        raise refuse(site.facts, site.made_at(value), PlanFault.INPUT_OF_ONE_BRANCH)


def _around(region: Region) -> list[Site]:
    """The statements around the block of the model, through callers up to the module."""
    first = next((a.site for i, a in region.block.accesses() if i in region.tower), None)
    return list(first.chain()) if first is not None else []


def _nests(facts: Facts, region: Region, written: set[Place]) -> list[tuple[Sequence | Mapping, Access]]:
    """Lists and dicts of inputs that the towers do not read element by element."""
    reads = [a for a in region.tower_reads() if a.place not in written]
    apart = {(a.place.owner, a.value.uid) for a in reads if _is_chosen(a.node)}
    found: dict[Place, tuple[Sequence | Mapping, Access]] = {}
    in_parts: dict[int, bool] = {}  # whether a list or dict is read by its elements alone
    for access in reads:
        value = access.value
        if not isinstance(value, (Sequence, Mapping)) or region.in_tower(value.site):
            continue
        inputs = [] if in_parts.get(value.uid) else [i for i in inputs_in(value) if i in region.inputs]
        if value.uid not in in_parts:
            known = not getattr(value, "unmeasured", False)
            by_element = not inputs or (known and all((value.uid, i.uid) in apart for i in inputs))
            entries = isinstance(value, Mapping) and not _is_read_whole(facts, region, value, written)
            in_parts[value.uid] = by_element or entries
        if in_parts[value.uid] or _local_of_callee(region, access):
            continue
        if any(is_sparse(i) for i in inputs):
            raise refuse(facts, access.node, PlanFault.SPARSE_AMONG_OTHERS)
        if not whole_inputs(value) or any(i.is_own for i in inputs):
            raise refuse(facts, access.node, PlanFault.INPUTS_AMONG_OTHERS)
        found.setdefault(access.place, (value, access))
    return [(nest, access) for nest, access in found.values() if not _is_part(facts, region, access, found.values())]


def _is_part(facts: Facts, region: Region, access: Access, nests: Iterable[tuple[Sequence | Mapping, Access]]) -> bool:
    """Whether a list or dict is read as a part of another that is cut as a whole."""
    around = [nest for nest, _ in nests if nest is not access.value and path_to(nest, access.value)]
    if any(access.node in _chosen_from(facts, region, nest) for nest in around):
        return True
    holder = access.place.holder
    if isinstance(holder, Sequence) and not holder.mutable:
        raise refuse(facts, access.node, PlanFault.INPUTS_NOT_REPLACEABLE)
    return False


def _is_read_whole(facts: Facts, region: Region, value: Mapping, written: set[Place]) -> bool:
    """Whether a dict is read for more than an entry that is an input, or to hand it to a function of the script.

    A statement that puts an entry into it reads none, and an entry that the towers put there is read as others are.
    """
    reads = [a for a in region.reads_of(value) if a.place not in written and not _is_filled_by(facts, a)]
    inputs = [a for a in region.reads_within(value) if isinstance(a.value, Input)]
    taken = {a.node for a in inputs}
    frames = (a.place.frame for a in reads if a.place.kind == "name")
    sites = {f.call_site.stmt for f in frames if f is not None and f.call_site is not None}
    return any(
        facts.selections.get(a.node) not in taken and not (a.site.stmt in sites and _is_argument(facts, a.node))
        for a in reads
    )


def _is_filled_by(facts: Facts, access: Access) -> bool:
    """Whether a dict is read to put an entry into it: `inputs['x'] = …`."""
    entry = facts.selections.get(access.node)
    return isinstance(entry, ast.Subscript) and isinstance(entry.ctx, ast.Store)


def _is_argument(facts: Facts, node: ast.AST) -> bool:
    """Whether an expression is an argument of a call as it stands."""
    parents = facts.walked[facts.tree_of(facts.path_of(node))].parents
    return isinstance(parents.get(node), (ast.Call, ast.keyword))


def _is_chosen(node: ast.AST) -> bool:
    """Whether an element is read by its own key or name."""
    return isinstance(node, ast.Attribute) or (isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant))


def _chosen_from(facts: Facts, region: Region, nest: Sequence | Mapping) -> set[ast.AST]:
    """The expressions by which the towers select values from a nest, at any depth."""
    found: set[ast.AST] = set()
    for access in region.tower_reads():
        node = facts.selections.get(access.node) if access.value is nest else None
        while node is not None:
            found.add(node)
            node = facts.selections.get(node)
    return found


def _nest_text(facts: Facts, region: Region, access: Access) -> str:
    text = spelling(region.block.frame, access.place)
    if text is None:
        raise refuse(facts, access.node, PlanFault.INPUTS_NOT_REPLACEABLE)
    return text


def _lead_in_nest(site: LoopSite, traffic: Traffic, read: _Read, lead: Input) -> tuple[CutInput | None, Traffic]:
    """The input that rows are counted on, where it stands in a list or a dict only."""
    for nest, access in read.nests:
        path = path_to(nest, lead)
        text = spelling(site.region.block.frame, access.place)
        if path is not None and text is not None:
            name, traffic = traffic.fresh(f"first_{leaf(text)}", f"lead_{leaf(text)}")
            return CutInput(name, read.kept[text] + path, lead.batch.axis), traffic
    return None, traffic


def _regrouped(
    site: LoopSite, traffic: Traffic, held_by: list[tuple[str, tuple[str, Sequence] | None]]
) -> tuple[list[str], Traffic]:
    """Names for the shards of inputs to which nothing can be assigned, and the tuples made of these names."""
    found, reads = list[str](), site.region.tower_reads()
    for text, held in held_by:
        name = text
        if held is not None:
            name, traffic = traffic.fresh(leaf(text), f"tower_{leaf(text)}")
            traffic = make_anew(site, traffic, reads, held, text[len(held[0]) :], name)
        found.append(name)
    return found, traffic


def _aliases_out(
    facts: Facts,
    region: Region,
    traffic: Traffic,
    saved: dict[str, str],
    parts_of_tuples: set[str],
    optional: Iterable[Input],
) -> Traffic:
    """Restore names that the towers bind to an input: after the loop they mean the whole batch again."""
    by_input: dict[int, str] = {}
    for group in (*traffic.groups, tuple(optional)):
        for access in (read for value in group for read in region.reads_of(value)):
            text = _input_text(region, access)
            if text in saved:
                by_input.setdefault(access.value.uid, saved[text])
    rebound = set(_bound_texts(region))
    maybe = {one.place: one for one in region.maybe}  # what other branches leave there
    restore = [*traffic.border.restore]
    restore += [pair for pair in saved.items() if pair[0] not in rebound and pair[0] not in parts_of_tuples]
    for access in region.writes:
        text, whole = spelling(region.block.frame, access.place), by_input.get(access.value.uid)
        if not text or whole is None or not is_input(region.written[access.place][-1]):
            continue
        other = maybe.get(access.place)
        if other is not None and other.plain:
            continue  # what is bound is no input: it is merged where it is read
        if other is not None and other.none and not other.unset:
            whole = f"{text} if {text} is None else {whole}"
        if (text, whole) not in restore:
            restore.append((text, whole))
    return replace(traffic, whole=by_input, border=replace(traffic.border, restore=tuple(restore)))


def _bound_texts(region: Region) -> set[str]:
    return {text for place in region.written if (text := spelling(region.block.frame, place))}


def _local_of_callee(region: Region, access: Access) -> bool:
    """A parameter or local of a function that the towers call: it is handed what the loop re-binds."""
    frame = access.place.frame
    if access.place.kind == "name":
        return frame is not None and frame.call_site is not None and region.in_tower(frame.call_site)
    holder = access.place.holder
    return holder is not None and (region.in_tower(holder.site) or holder.site is None)


def _is_earlier_default(region: Region, access: Access) -> bool:
    """A default argument that was evaluated in front of the towers, where they do not define the function again."""
    frame = access.place.frame if access.place.kind == "name" else None
    return (
        frame is not None
        and frame.function is not None
        and access.place.key in frame.by_default
        and not region.in_tower(frame.function.site)
    )


def _static(value: Input) -> bool:
    return not is_sparse(value) and not value.is_own and fixed_size(value) is not None


def _fixed_rows(value: Input) -> object:
    """The number of rows that a shape fixes, as a number or by the batch size that it is a multiple of; else None."""
    rows = fixed_size(value) if _static(value) else None
    return None if rows is None else rows.factors() if rows.value is None else rows.value


def _check_parts(facts: Facts, group: list[Input]) -> None:
    """Refuse a partial run that does not begin with the input that determines the number of rows of each shard."""
    for run in (run for run in facts.runs if run.handle is not None):
        keys = {key.uid for key, _ in run.feeds}
        if group[0].uid not in keys and any(i.uid in keys for i in group[1:]):
            raise refuse(facts, run.call, PlanFault.PART_OF_RUN_WITHOUT_LEAD)


def _groups(inputs: list[Input], site: LoopSite) -> list[list[Input]]:
    """Inputs that can share a count of rows: no run is seen to feed them different ones, or one without the other.

    The count is read from one of them, so that one must be fed whenever a value of the group is
    fetched: it must lie behind every value that leaves the towers and depends on the group.
    """
    rest = list(inputs)
    steps, unled = site.group.steps, inputs_fed_without(site.facts, inputs)
    unlike = inputs_with_other_row_counts(site.facts, site.region.needed.values()) | unsure(site.facts) | unled
    behind: list[set[Value]] = []
    for value in site.region.needed.values():
        if isinstance(value, Tensor) and not isinstance(value, Input) and value.roots:
            roots = set(value.roots) & set(rest)
            if roots and roots not in behind:
                behind.append(roots)
    groups: list[list[Input]] = []
    losses = [set(s.loss.roots) & set(rest) for s in steps]
    while rest:
        lead = max(
            rest,
            key=lambda i: (
                sum(i in loss for loss in losses),
                sum(i in b for b in behind),
                not is_sparse(i),
                -sum((other.uid, i.uid) in unled for other in rest),
                -rest.index(i),
            ),
        )
        together = [
            i
            for i in rest
            if all((i in loss) <= (lead in loss) for loss in losses)
            and (i.batch.axis == lead.batch.axis or i.op == DATA)
            and _fixed_rows(i) == _fixed_rows(lead)
            and (i.uid, lead.uid) not in unlike
            and (i.op == DATA) == (lead.op == DATA)
        ]
        groups.append([lead, *(i for i in together if i is not lead)])
        rest = [i for i in rest if i not in together]
    return groups


def keeps_size(access: Access, scaling: Scaling) -> bool:
    """True if a batch size is read that stays the size of one tower: a flag, or an entry of a file of settings."""
    origins = access.value.origins if isinstance(access.value, Number) else ()
    own = [o for o in origins if o in scaling.flags and (reads_flag(access, o) or o.node is access.node)]
    return bool(own) and access.place not in scaling.set


def numbers_in(site: LoopSite, before: Traffic, scaled: frozenset[Origin], scaling: Scaling) -> Traffic:
    """Adds the batch sizes that the towers read: inside they count one shard; raises Faults."""
    traffic, region = before, site.region
    keys = {o.key for o in scaled}
    written = written_first(region)
    found: list[Diagnostic] = []
    done: set[str] = set()
    for access in region.tower_reads():
        with noted(found):
            if has_rows(access.value, keys):
                _check_filled(site.facts, region, access)
            kept = access.place in written or keeps_size(access, scaling)
            text = None if kept else _number_read(site, access, keys)
            if text is not None and text not in done:
                done.add(text)
                traffic = _rebind(site, traffic, access, text)
    for access, text in _read_elsewhere(site, keys):
        with noted(found):
            if text not in done and not keeps_size(access, scaling):
                done.add(text)
                if not _is_size_here(region, text, keys):
                    raise refuse(site.facts, access.node, PlanFault.SIZE_NOT_REPLACEABLE)
                traffic = _rebind(site, traffic, access, text)
    if found:
        raise Faults(found)
    return traffic


def _read_elsewhere(site: LoopSite, keys: set[tuple[object, ...]]) -> Iterator[tuple[Access, str]]:
    """Batch sizes that the towers read in another execution of the block only, which builds a model of its own.

    With them the expressions, in the names of that execution.
    """
    region, facts = site.region, site.facts
    for access, number in facts.numbers:
        if access.write or not grows_by_key(number, keys):
            continue
        if region.in_tower(access.site) or not region.in_any_tower(access.site):
            continue
        frame = next(around.frame for around in access.site.chain() if around.stmt in region.stmts)
        text = spelling(frame, access.place) if frame is not region.block.frame else None
        if text is None or any(region.in_any_tower(write.site) for write in facts.writes_to(access.place)):
            continue
        own = region.block.frame
        here = access.place._replace(owner=own.uid, frame=own) if access.place.frame is frame else access.place
        yield access._replace(place=here), text


def _is_size_here(region: Region, text: str, keys: set[tuple[object, ...]]) -> bool:
    """Whether an expression of names and attributes is a batch size in this execution of the block, too."""
    first, *attributes = text.split(".")
    seen = region.block.frame.lookup(first)
    value = seen[1] if seen is not None else None
    for attribute in attributes:
        value = value.attributes.get(attribute) if isinstance(value, Instance) else None
    return grows_by_key(value, keys)


def _number_read(site: LoopSite, access: Access, keys: set[tuple[object, ...]]) -> str | None:
    """The expression by which a batch size is read; None for other values, and where a callee is handed it."""
    value = access.value
    if not isinstance(value, Number):
        return None
    if not grows_by_key(value, keys):
        if any(o.key in keys for o in value.origins):
            raise refuse(site.facts, access.node, PlanFault.NUMBER_IN_UNKNOWN_WAY)
        return None
    text = None if is_frozen(access.place.holder) else spelling(site.region.block.frame, access.place)
    if text is None and not _local_of_callee(site.region, access):
        raise refuse(site.facts, access.node, PlanFault.SIZE_NOT_REPLACEABLE)
    return text


def _rebind(site: LoopSite, traffic: Traffic, access: Access, text: str) -> Traffic:
    """Inside the towers the expression means the size of one shard."""
    holder = access.place.holder
    if isinstance(holder, Sequence) and not holder.mutable:
        return _number_in_tuple(site, traffic, access, text, holder)
    traffic = declare(site.facts, site.region, traffic, access, text)
    saved, traffic = traffic.fresh(f"global_{leaf(text)}", f"whole_{leaf(text)}")
    resize = Resize(text, saved, rows_of=counted_rows(site.facts, traffic, access))
    return traffic.plus(Border(bound=(resize,), restore=((text, saved),)))


def parts_carried(site: LoopSite, before: Traffic) -> Traffic:
    """Adds what each tower goes on with: the value that it made in an earlier loop, in place of the merged one."""
    traffic = before
    for access in site.region.carried:
        text = spelling(site.region.block.frame, access.place)
        assert text is not None
        traffic = declare(site.facts, site.region, traffic, access, text)
        saved, traffic = traffic.fresh(*whole_names(text))
        lacking = site.region.lacking.get(access.value.uid, ())
        holder, _, name = text.rpartition(".")
        unset = holder and not all(is_none_in(frame, text) for frame in lacking)
        source = f"getattr({holder}, {name!r}, None)" if unset else text
        keep = Keep(text, saved, source if lacking else "")
        traffic = traffic.plus(Border(bound=(keep,), restore=((text, saved),)))
    return _counted_on_parts(site, traffic) if site.region.carried and not traffic.border.shards else traffic


def _counted_on_parts(site: LoopSite, traffic: Traffic) -> Traffic:
    """Adds the count of a tower's rows where it reads no input: on what it made in an earlier loop, or on an input."""
    told = rows_told(site.region)
    if told is None:
        return traffic
    access, axis = told
    text = spelling(site.region.block.frame, access.place) or ""
    saved = traffic.border.rebound.get(text, text)
    name, traffic = traffic.fresh(f"first_{leaf(text)}", f"lead_{leaf(text)}")
    rows, traffic = traffic.fresh_rows("")
    helper = "shard_along" if axis else "shard"
    shard = Cut(rows, (), helper, lead=CutInput(name, saved, axis))
    return replace(traffic.plus(Border(shards=(shard,))), groups=(site.region.inputs,))


def _check_filled(facts: Facts, region: Region, access: Access) -> None:
    """Rows that Python makes with the batch size are made by each tower; where it cannot, it would read all of them."""
    value, parent = access.value, facts.parents.get(access.node)
    if region.in_tower(value.site) and isinstance(parent, (ast.For, ast.comprehension)) and parent.iter is access.node:
        return  # a turn for each of the tower's rows
    if not region.in_tower(value.site) or not are_alike(value):
        raise refuse(facts, access.node, PlanFault.ROWS_FROM_PYTHON)
    if any(not a.write and region.comes_after(a) for a in facts.accesses_of(value)):
        raise refuse(facts, access.node, PlanFault.ROWS_FROM_PYTHON_READ_TWICE)


def _number_in_tuple(site: LoopSite, traffic: Traffic, access: Access, text: str, holder: Sequence) -> Traffic:
    """A batch size in a tuple: inside the towers the tuple is made anew, with the size of one shard."""
    facts, region = site.facts, site.region
    whole, key = reach(region.block.frame, holder) or "", key_of(holder, access)
    if not key:
        raise refuse(facts, access.node, PlanFault.SIZE_IN_TUPLE)
    name, traffic = traffic.fresh(leaf(text), f"tower_{leaf(text)}")
    saved, traffic = saved_tuple(traffic, whole)
    resize = Resize(text, saved + key, name, counted_rows(facts, traffic, access))
    return make_anew(site, traffic.plus(Border(bound=(resize,))), region.tower_reads(), (whole, holder), key, name)
