"""How much each tower counts in a loss that is a mean over what a mask leaves of the batch."""

from __future__ import annotations

import ast

from converter.analysis.facts import TrainStep
from converter.analysis.frames import Access
from converter.analysis.values import Counted, Tensor
from converter.planner.places import spelling
from converter.planner.region import Region
from converter.planner.text import Text

READ_OFF = {"sum": "{tf}.reduce_sum({text})", "nonzero": "{tf}.count_nonzero({text})", "rows": "{tf}.shape({text})[0]"}
SUMS = ("reduce", "reduce_sum")


def loss_counts(
    region: Region, steps: list[TrainStep], text: Text, tensorflow: str
) -> dict[int, tuple[str, bool]]:
    """For each such loss: what its denominator is in a tower, and whether that is a mean over the tower's rows."""
    found: dict[int, tuple[str, bool]] = {}
    for step in steps:
        over = step.loss.batch.over
        for counted in _ways(over) if over is not None else ():
            tensor = _seen(region, counted.tensor, text)
            if tensor:
                read_off = READ_OFF.get(counted.how, "{text}")
                found[step.loss.uid] = (read_off.format(tf=tensorflow, text=tensor), counted.how == "mean")
                break
    return found


def _ways(over: Counted) -> list[Counted]:
    """A denominator itself, and what it was summed from, which may be seen where the sum is not."""
    ways = [over]
    tensor = over.tensor
    while over.how == "value" and tensor.op in ("cast", "to_float", "identity", *SUMS, "add", "maximum"):
        inner = [v for v in tensor.inputs if isinstance(v, Tensor)]
        if not inner:
            break
        if tensor.op in SUMS and inner[0].batch.kind == "example":
            ways.append(Counted(inner[0], "sum"))
            break
        tensor = inner[0]
        ways.append(Counted(tensor, "value"))
    return ways


def _seen(region: Region, tensor: Tensor, text: Text) -> str:
    """The expression for a tensor at the end of a tower, "" where there is none."""
    accesses = [a for i, a in region.block.accesses() if i in region.tower]
    for access in accesses:
        name = spelling(region.block.frame, access.place)
        if access.value is tensor and name is not None and access.place.kind == "name" and _stays(region, access):
            return name
    node = tensor.node
    if not isinstance(node, ast.expr) or tensor.site is None or tensor.site.frame is not region.block.frame:
        return ""
    inside = set(ast.walk(node))
    reads = [a for a in accesses if not a.write and a.node in inside]
    named = all(a.place.kind == "name" and a.place.frame is region.block.frame and _stays(region, a) for a in reads)
    makes_variables = any(isinstance(n, ast.Attribute) and n.attr in ("layers", "contrib") for n in inside)
    return text.of(node) if named and reads and not makes_variables else ""


def _stays(region: Region, access: Access) -> bool:
    """Whether a name means at the end of a tower what it meant here; inputs are the tower's shards until then."""
    writes = [a for i, a in region.block.accesses() if i in region.tower and a.write and a.place == access.place]
    last = max(writes, key=lambda a: a.time, default=None)
    return last.value is access.value if last is not None else True
