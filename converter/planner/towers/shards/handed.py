"""Placeholders that the towers make: what each tower is handed of them, and what they mean after the loop."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable
from dataclasses import replace

from converter.analysis.flow.joined import choices, is_input
from converter.analysis.frames import Access, Place
from converter.analysis.values import Input, Mapping, Sequence, Tensor, Value, grows_by_key
from converter.plan.border import NUM_GPUS, Border, HandedOut, Handing
from converter.planner.plan_faults import PlanFault
from converter.planner.questions.fixed_size import fixed_size
from converter.planner.questions.structures import parts
from converter.planner.region.handed import item_guard, name_given
from converter.planner.region.region import Region
from converter.planner.towers.border.site import LoopSite
from converter.planner.towers.border.traffic import Traffic
from converter.planner.wording import refuse
from converter.planner.writing.spelling import leaf, spelling

HELPER, OWN_HELPER = "TowerInputs", "OwnInputs"


def handing_in(site: LoopSite, before: Traffic) -> Traffic:
    """Adds the object that hands the towers their parts; raises Faults for placeholders that it would take for others.

    It cuts what has dimensions along the first, and hands on what has none; other placeholders are told to it by name.
    """
    handed = site.region.handed
    if not handed:
        return before
    axes: dict[str, int | None] = {}
    sizes = {value.uid for number in site.facts.fed_sizes for value in number.inputs}
    for value in handed:
        name, axis = name_given(value), _axis(value)
        if value.uid in sizes:
            raise refuse(site.facts, site.made_at(value), PlanFault.HANDED_SIZE)
        if not _is_told_by_shape(value, axis):
            if not name:
                raise refuse(site.facts, site.made_at(value), PlanFault.HANDED_WITHOUT_NAME)
            axes[name] = axis
    for value in handed if axes else ():  # what a name tells holds for all that have it
        name, axis = name_given(value), _axis(value)
        if name == "" or axes.get(name or "", axis) != axis:
            raise refuse(site.facts, site.made_at(value), PlanFault.HANDED_WITHOUT_NAME)
    name, traffic = before.fresh("tower_inputs")
    helper = OWN_HELPER if any(value.is_own for value in handed) else HELPER
    return replace(traffic, handing=Handing(name, helper, tuple(axes.items())))


def sized_in(site: LoopSite, before: Traffic, kept: Callable[[Access], bool]) -> Traffic:
    """Pass the whole batch's size to the object that hands out rows, if the model writes a tower's size into shapes.

    kept: whether a batch size that is read stays what it is, of one tower. `NUM_GPUS` stands for their number.
    """
    if not before.handing.name:
        return before
    sizes: set[str] = set()
    for value in site.region.handed:
        number = fixed_size(value) if value.batch.kind == "example" else None
        if number is None:
            continue
        keys = {origin.key for origin in number.factors()}
        read = [a for a in site.region.tower_reads() if grows_by_key(a.value, keys)]
        multiple = len(number.inputs) > 1 and not number.chosen
        if site.alone or multiple:
            raise refuse(site.facts, site.made_at(value), PlanFault.HANDED_OF_FIXED_SIZE)
        texts = {text: access for access in read if (text := spelling(site.region.block.frame, access.place))}
        named = {place for place in before.border.rebound if place in texts}
        named |= {f"{text} * {NUM_GPUS}" for text, access in texts.items() if kept(access)}
        sizes |= named or {""}
    if len(sizes) > 1:
        raise refuse(site.facts, site.made_at(site.region.handed[0]), PlanFault.HANDED_OF_FIXED_SIZE)
    return replace(before, handing=replace(before.handing, size="".join(sizes)))


def _axis(value: Input) -> int | None:
    """The axis along which a placeholder is cut; None for one that all towers get whole."""
    return value.batch.axis if value.is_batch else None


def _is_told_by_shape(value: Input, axis: int | None) -> bool:
    """Whether the helper knows from a placeholder's shape what is cut: along the first axis, if there is one."""
    if value.dims is None:
        return value.shape is None and axis is None
    return axis == (0 if value.dims else None)


def handed_shard(site: LoopSite, before: Traffic, group: list[Input], alone: bool) -> Traffic:
    """Add the shard of placeholders that the model makes: each tower reads rows and weight off one of them."""
    lead = _lead(site, group)
    fixed = all(fixed_size(value) is not None and not value.is_own for value in group)
    rows, traffic = before.fresh_rows("" if alone else f"_{leaf(lead)}", "fixed" if fixed else "running")
    shard = HandedOut(rows, lead, before.handing.helper)
    return replace(traffic.plus(Border(shards=(shard,))), groups=(*traffic.groups, tuple(group)))


def _lead(site: LoopSite, group: list[Input]) -> str:
    """The place that always holds one of the placeholders when a tower is built; raises Refusal if there is none."""
    region = site.region
    maybe = {one.place for one in region.maybe}
    twins = {value.node for value in group if sum(other.node is value.node for other in group) > 1}
    held = [(text, place, value) for value in group for text, place in _texts(region, value)]
    none = _held_elsewise(region)
    texts = [text for text, place, value in held if text not in none and (place not in maybe or value.node in twins)]
    texts += [text for value in group for text in _items(region, value) if not item_guard(region.block, text)]
    if not texts:
        found = PlanFault.HANDED_IN_SOME_BRANCHES if held else PlanFault.HANDED_WITHOUT_PLACE
        raise refuse(site.facts, site.made_at(group[0]), found)
    return texts[0]


def _held_elsewise(region: Region) -> set[str]:
    """The expressions that stand for something else than a placeholder where another branch has built the model."""
    texts = (spelling(region.block.frame, place) for place, left in _left(region).items() if not is_input(left))
    return {text for text in texts if text is not None}


def _left(region: Region) -> dict[Place, Value]:
    """The last value that the towers write to each place, branches included."""
    left = {place: values[-1] for place, values in region.written.items()}
    return {**left, **{one.place: one.value for one in region.maybe if one.place in left}}


def with_twins(region: Region, inputs: list[Input]) -> tuple[list[Input], dict[Input, list[Input]]]:
    """Pair each placeholder with those that other branches create in its place.

    Two branches may build a model by the same call; what stands for one of the models stands for the other.
    """
    named = [value for value in inputs if any(_texts(region, value))]
    twins: dict[Input, list[Input]] = {}
    left: list[Input] = []
    for value in inputs:
        twin = next((one for one in named if one.node is value.node and one.batch == value.batch), None)
        if twin is None or value in named:
            left.append(value)
        else:
            twins.setdefault(twin, []).append(value)
    return left, twins


def given_back(site: LoopSite, before: Traffic) -> Traffic:
    """After the loop every place that holds a tower's part of a placeholder gets the whole one; raises Faults."""
    region, handing = site.region, before.handing
    if not handing.name:
        return before
    cut = [value for value in region.handed if value.is_batch]
    found: dict[str, str] = {}
    for value in cut:
        for text, place in _texts(region, value):
            twin = any(other.node is value.node for other in cut if other is not value)
            found[text] = _guard(site, place, text) if not twin else ""
    _check_given_back(site, cut, found)
    restore = tuple((text, handing.whole(text)) for text, guard in found.items() if not guard)
    guarded = tuple((text, guard) for text, guard in found.items() if guard)
    whole = {**before.whole, **{value.uid: "" for value in cut}}
    return replace(before.plus(Border(restore=restore)), handing=replace(handing, guarded=guarded), whole=whole)


def _check_given_back(site: LoopSite, cut: list[Input], found: Container[str]) -> None:
    """Refuse a part of a placeholder that is read behind the loop where no place gets the whole one."""
    region = site.region
    for place, left in _left(region).items():
        options = _choices(left)
        part = next((value for value in cut if value in options), None)
        computed = any(not isinstance(option, Input) for option in options)
        if part is not None and computed and place.kind == "attr" and spelling(region.block.frame, place) is not None:
            raise refuse(site.facts, site.made_at(part), PlanFault.HANDED_NOT_RESTORED)
    for access in region.reads_after:
        if not is_input(access.value) or not any(value in cut for value in _choices(access.value)):
            continue
        rebuilt = isinstance(access.place.holder, (Sequence, Mapping))  # as a whole
        if not rebuilt and access.place in region.written and spelling(region.block.frame, access.place) not in found:
            raise refuse(site.facts, access.node, PlanFault.HANDED_NOT_RESTORED)


def _choices(value: Value) -> list[Value]:
    """A value, or those of which a condition chooses one."""
    return [*choices(value)] if isinstance(value, Tensor) else [value]


def _texts(region: Region, value: Input) -> Iterable[tuple[str, Place]]:
    """The expressions that stand for a placeholder when a tower is built: names, attributes, entries of other dicts.

    A dict that the towers make themselves is rebuilt as a whole.
    """
    for place, left in _left(region).items():
        kept = isinstance(place.holder, Mapping) and not region.in_tower(place.holder.site)
        held = (place.kind in ("name", "attr") or kept) and is_input(left) and value in _choices(left)
        text = spelling(region.block.frame, place) if held else None
        if text is not None:
            yield text, place


def _items(region: Region, value: Input) -> Iterable[str]:
    """The expressions for a placeholder inside of tuples, lists and dicts that the towers make."""
    for access in region.writes:
        text = spelling(region.block.frame, access.place)
        if text is not None and isinstance(access.value, (Sequence, Mapping)):
            yield from (part.text for part in parts(text, access.value) if part.value is value)


def _guard(site: LoopSite, place: Place, text: str) -> str:
    """The test whether an attribute is there, where only some branches of the model set it; "" where it always is."""
    if place.kind == "item":
        return item_guard(site.region.block, text)
    if not any(one.place == place and one.unset for one in site.facts.maybe):
        return ""
    holder, _, name = text.rpartition(".")
    return f"hasattr({holder}, {name!r})" if holder else f"{name!r} in locals()"
