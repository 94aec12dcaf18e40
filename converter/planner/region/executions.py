"""Several executions of the block of a loop: a class whose constructor is called in two branches, with other arguments.

    if labelled:
        net = Net(classes=10)       # its build() makes self.y
    else:
        net = Net()                 # its build() leaves None there

Each execution builds a model of its own, and the loop in `build()` serves both. So it does for a class that is made
several times with other settings, each model trained after the one before.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace

from converter.analysis.facts import TrainStep
from converter.analysis.values import Batch, Frame, Instance, Tensor, Value, is_none
from converter.dataclass import dataclass
from converter.planner.region.region import Region
from converter.planner.writing.spelling import spelling


@dataclass(frozen=True)
class StepGroup:
    """Training steps that share a loop, and where it stands."""

    steps: list[TrainStep]
    region: Region


def in_one_loop(groups: Sequence[StepGroup]) -> StepGroup | None:
    """The group whose loop serves all executions of one block; None where their loops would differ.

    It is the group with the most inputs and parts of earlier loops; one that another execution lacks is taken if it is
    there.
    """
    first, *others = sorted(groups, key=_weight, reverse=True)
    if not others:
        return None
    ahead = _ahead(first, others)
    if ahead is None:
        return None
    lacking: dict[int, tuple[Frame, ...]] = {}
    for value in first.region.inputs:
        without = [g.region for g in others if all(i.node is not value.node for i in g.region.inputs)]
        if without:
            lacking[value.uid] = tuple(region.block.frame for region in without)
    for text, part in _carried(first.region).items():
        frames = tuple(g.region.block.frame for g in others if text not in _carried(g.region))
        lacking |= {part.uid: frames} if frames else {}
    packed = frozenset(
        text
        for other in others
        for text, (kind, _) in _left(other.region).items()
        if isinstance(kind, Batch) and kind.packed == "major"
    )
    return StepGroup(first.steps, replace(first.region, lacking=lacking, packed=packed, ahead=ahead))


def _weight(group: StepGroup) -> tuple[int, int, int]:
    region = group.region
    return len(region.inputs), len(region.carried), len(region.needed)


def kept_inside(regions: Sequence[Region]) -> frozenset[ast.stmt]:
    """The statements of opened blocks that the towers of some regions keep, and not only what comes before them."""
    kept: set[ast.stmt] = set()
    for holder, rest in (pair for region in regions for pair in region.behind.items()):
        arms = (arm for arm in (getattr(holder, "body", []), getattr(holder, "orelse", [])) if rest[0] in arm)
        kept.update(stmt for arm in arms for stmt in arm if stmt not in rest)
    return frozenset(kept)


def never_in_one_loop(one: Region, two: Region) -> bool:
    """True if the same statements are the towers of two executions, and one loop cannot serve both."""
    same = one.block.body is two.block.body and one.behind == two.behind
    return same and not _is_same_loop(one, two) and not _is_same_loop(two, one)


def _ahead(first: StepGroup, others: Sequence[StepGroup]) -> tuple[Region, ...] | None:
    """The loops ahead of one that serves all executions of its block; None where their loops would differ.

    Those ahead serve all executions, too, or an execution has its own in other code, as in a method of its class.
    """
    ahead = list(first.region.ahead)
    for other in others:
        if _calls(first) != _calls(other) or not _is_same_loop(first.region, other.region):
            return None
        for mine in other.region.ahead:
            there = [one for one in ahead if one.block.body is mine.block.body]
            if there and not all(_is_same_loop(one, mine) for one in there):
                return None
            ahead += [] if there else [mine]
    return tuple(ahead)


def none_in_other_call(region: Region, text: str) -> bool:
    """Whether another call of the function that a loop stands in leaves None under a name, as one that only tests."""
    block = region.block
    frames = block.facts.frames_by_node.get(block.frame.node, ())
    return any(is_none_in(frame, text) for frame in frames if frame is not block.frame)


def lacked_in_other_calls(region: Region, text: str) -> bool:
    """Whether other calls go through the statements of the towers and never give their objects an attribute.

    False where such a call may be over before it comes to the statement that does.
    """
    inner = (node for stmt in region.block.body if not isinstance(stmt, ast.Return) for node in ast.walk(stmt))
    if any(isinstance(node, ast.Return) for node in inner):
        return False
    holder, _, name = text.rpartition(".")
    calls = region.other_calls if holder and name.isidentifier() else {}
    lacking = [frame for frame, bound in calls.items() if name not in bound]
    return bool(lacking) and all(
        isinstance(_value_in(frame, holder), Instance) and _value_in(frame, text) is None for frame in lacking
    )


def is_none_in(frame: Frame, text: str) -> bool:
    """True if a dotted name is None in a frame."""
    value = _value_in(frame, text)
    return value is not None and is_none(value)


def is_absent_in(frame: Frame, text: str) -> bool:
    """True if a dotted name is None in a frame, or an object that the frame holds has no such attribute."""
    holder, _, name = text.rpartition(".")
    return is_none_in(frame, text) or (isinstance(_value_in(frame, holder), Instance) and not _value_in(frame, text))


def _value_in(frame: Frame, text: str) -> Value | None:
    """What a dotted name means in a frame."""
    first, *attributes = text.split(".")
    seen = frame.lookup(first)
    value = seen[1] if seen is not None else None
    for name in attributes:
        known = value.attributes if isinstance(value, Instance) else {}
        value = known.get(name) or (value.cls.find(name) if isinstance(value, Instance) and value.cls else None)
    return value


def _calls(group: StepGroup) -> set[ast.AST]:
    return {step.call for step in group.steps}


def _is_same_loop(one: Region, two: Region) -> bool:
    """True if two executions put the same statements into the towers, and leave alike what is read behind them.

    A statement of the first that does nothing in the other, under a condition that does not hold there, may stay.
    """
    if one.block.body is not two.block.body or one.block.frame is two.block.frame or one.handed or two.handed:
        return False
    if (one.forward, one.splits, one.behind) != (two.forward, two.splits, two.behind):
        return False
    if not (two.tower <= one.tower and two.before <= one.before and two.after <= one.after | one.tower):
        return False
    carried = _carried(one), _carried(two)
    if not carried[1].keys() <= carried[0].keys():
        return False
    if not all(is_absent_in(two.block.frame, text) for text in carried[0].keys() - carried[1].keys()):
        return False
    if not ((one.tower - two.tower) | (one.before - two.before)).isdisjoint(_busy(two)):
        return False
    left = [_left(region) for region in (one, two)]
    read = {text for kinds in left for text, (_, read_behind) in kinds.items() if read_behind}
    nothing = (None, False)
    return all(_are_merged_alike(*(side.get(text, nothing)[0] for side in left)) for text in read)


def _carried(region: Region) -> dict[str, Value]:
    """What each tower made in an earlier loop, by the expressions for it."""
    return {spelling(region.block.frame, access.place) or "": access.value for access in region.carried}


def _busy(region: Region) -> set[int]:
    """The statements that make tensors or have effects in an execution of a block."""
    facts, block = region.block.facts, region.block
    sites = (*(tensor.site for tensor in facts.tensors), *(effect.site for effect in facts.effects))
    return {index for site in sites if (index := block.statement(site)) is not None}


def _are_merged_alike(one: object, two: object) -> bool:
    """True for values of one kind, and for rows of which one has several for each example, example after example."""
    if isinstance(one, Batch) and isinstance(two, Batch) and "minor" not in (one.packed, two.packed):
        affine = two.affine if two.how == "sum" else one.affine  # a mean stays one when a constant is added
        return one == replace(two, rows=one.rows, affine=affine)
    return one == two


def _left(region: Region) -> dict[str, tuple[object, bool]]:
    """What the towers leave, by expressions for its places: the kind of value, and whether it is read behind them."""
    places = {access.place for access in region.writes}
    reads = (a for a in region.block.facts.accesses if not a.write and a.place in places)
    behind = {access.place for access in reads if not region.in_tower(access.site)}
    found: dict[str, tuple[object, bool]] = {}
    for access in region.writes:
        text = spelling(region.block.frame, access.place)
        if text is not None:
            found[text] = (_kind(access.value), access.place in behind)
    return found


def _kind(value: Value) -> object:
    return value.batch if isinstance(value, Tensor) else type(value)
