"""Where the gradient of a loss is taken, and what of the towers' losses is seen there."""

from __future__ import annotations

from collections.abc import Sequence

from converter.analysis.facts import TrainStep
from converter.analysis.flow.joined import choices
from converter.analysis.traits import Trait, has
from converter.analysis.values import Tensor, Value
from converter.planner.region.region import Region


def is_taken_beside(region: Region, step: TrainStep, steps: Sequence[TrainStep]) -> bool:
    """Whether the gradient of a loss is taken where the list of the towers' losses is seen under its name.

    It is not seen in another function, and it is not the only one for a call that takes a step for each of several
    losses, as in a loop over their list.
    """
    repeated = any(s.call is step.call and s.loss is not step.loss for s in steps)
    return step.site.frame.uid == region.block.frame.uid and not step.chosen and not repeated


def is_carried(region: Region, loss: Value, steps: Sequence[TrainStep]) -> bool:
    """Whether the merged loss has to carry those of the towers to where the gradient is taken."""
    return any(step.loss is loss and not is_taken_beside(region, step, steps) for step in steps)


def has_rows(loss: Tensor) -> bool:
    """Whether a loss has one value for each example, or for each of whatever its batch was made into.

    One of several branches is enough: what all towers' losses are put together as has to be right for each.
    """
    if loss.batch.kind == "opaque":
        kinds = ((one.batch.kind, bool(one.dims), has(one.op, Trait.CONCATENATES)) for one in choices(loss))
        return any(kind == "example" or rows or joined for kind, rows, joined in kinds)
    return loss.batch.kind == "example"
