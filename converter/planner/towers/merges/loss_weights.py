"""The weight of each tower in a masked mean, that of a loss or of another value that leaves the towers."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from converter.analysis.effects import EffectKind
from converter.analysis.facts import Facts, TrainStep
from converter.analysis.frames import Access
from converter.analysis.traits import Trait, has
from converter.analysis.values import Counted, Input, Tensor, Value, needed
from converter.diagnostics import Diagnostic
from converter.planner.plan_faults import PlanFault
from converter.planner.questions.batch_statistics import norms_behind
from converter.planner.questions.fixed_size import fixed_size
from converter.planner.region.region import Region
from converter.planner.wording import finding
from converter.planner.writing.source_text import SourceText
from converter.planner.writing.spelling import spelling

READ_OFF = {"sum": "{tf}.reduce_sum({text})", "nonzero": "{tf}.count_nonzero({text})", "rows": "{tf}.shape({text})[0]"}


def loss_counts(
    region: Region, values: Iterable[Value], text: SourceText, tensorflow: str
) -> dict[int, tuple[str, bool]]:
    """For each masked mean among values: its denominator in a tower, and whether that is a mean over the tower's rows.

    values: the losses, and what else leaves the towers.
    """
    found: dict[int, tuple[str, bool]] = {}
    for value in values:
        over = value.batch.over if isinstance(value, Tensor) and value.batch.kind == "reduced" else None
        for counted in _ways(over) if over is not None and _is_one_number(over) else ():
            tensor = _seen(region, counted.tensor, text)
            if tensor:
                read_off = READ_OFF.get(counted.how, "{text}")
                found[value.uid] = (read_off.format(tf=tensorflow, text=tensor), counted.how == "mean")
                break
    return found


def _is_one_number(over: Counted) -> bool:
    """Whether a denominator is one for the whole batch, and not one for each class, say, whose means are averaged."""
    dims = () if over.how in READ_OFF else over.tensor.dims  # what is read off a mask is a number
    return dims is None or all(length == 1 for length in dims)


def warn_of_counts(facts: Facts, steps: list[TrainStep], counted: dict[int, tuple[str, bool]]) -> Iterator[Diagnostic]:
    """Warn of masked means in models that cannot take the batch of all towers in one step on one GPU."""
    for step in steps:
        why = _why_one_size(facts, step.loss) if step.loss.uid in counted else None
        if why is not None:
            yield finding(facts, step.call, why)


def _why_one_size(facts: Facts, loss: Tensor) -> PlanFault | None:
    """Why one GPU could not compute this loss on a larger batch; None if it could."""
    behind = needed([loss]).values()
    if any(isinstance(v, Input) and v.batch.kind == "example" and fixed_size(v) is not None for v in behind):
        return PlanFault.MASKED_MEAN_OF_FIXED_SIZE
    norms = (norm for norm in norms_behind(facts, loss) if norm.kind is EffectKind.BATCH_NORM)
    return PlanFault.MASKED_MEAN_AND_BATCH_NORM if any(norms) else None


def _ways(over: Counted) -> list[Counted]:
    """A denominator, and the tensor that it sums, which may have a name where the sum has none."""
    ways = [over]
    tensor = over.tensor
    while over.how == "value" and has(tensor.op, Trait.IN_DENOMINATOR):
        inner = [v for v in tensor.inputs if isinstance(v, Tensor)]
        if not inner:
            break
        if has(tensor.op, Trait.SUMS) and inner[0].batch.kind == "example":
            ways.append(Counted(inner[0], "sum"))
            break
        tensor = inner[0]
        ways.append(Counted(tensor, "value"))
    return ways


def _seen(region: Region, tensor: Tensor, text: SourceText) -> str:
    """The expression for a tensor at the end of a tower, "" where there is none."""
    accesses = [a for i, a in region.block.accesses() if i in region.tower]
    for access in accesses:
        name = spelling(region.block.frame, access.place)
        if access.value is tensor and name is not None and access.place.kind != "item" and _stays(region, access):
            return name
    node = tensor.node
    if not isinstance(node, ast.expr) or tensor.site is None or tensor.site.frame is not region.block.frame:
        return ""
    inside = set(ast.walk(node))
    reads = [a for a in accesses if not a.write and a.node in inside]
    named = all(_is_seen(region, a) and _stays(region, a) for a in reads)
    makes_variables = any(isinstance(n, ast.Attribute) and has(n.attr, Trait.MODULE_OF_LAYERS) for n in inside)
    return text.of(node) if named and reads and not makes_variables else ""


def _is_seen(region: Region, access: Access) -> bool:
    """True for a name of the loop's own function, and for an attribute of an object that it reaches."""
    if access.place.kind == "name":
        return access.place.frame is region.block.frame
    return access.place.kind == "attr" and spelling(region.block.frame, access.place) is not None


def _stays(region: Region, access: Access) -> bool:
    """Whether a name means at the end of a tower what it meant here; inputs are the tower's shards until then."""
    writes = [a for a in region.writes if a.place == access.place]
    last = max(writes, key=lambda a: a.time, default=None)
    return last.value is access.value if last is not None else True
