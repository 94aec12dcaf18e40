"""Values that depend on how many rows a batch has: in a batch of N times as many they are others."""

from __future__ import annotations

from collections.abc import Callable, Container

from converter.analysis.tensors.places import RANGES
from converter.analysis.traits import Trait, has
from converter.analysis.values import Count, Number, Origin, Tensor, Value, needed

COUNTED = "it computes with the number of rows of the batch"
SIZED = "it computes with the batch size"
NUMBERED = "the rows of the batch are numbered"


def of_number_of_rows(value: Tensor, origins: Container[Origin]) -> str:
    """How an operation depends on the number of rows, or on a batch size among these numbers; "" where it does not.

    A shape that is written with such a number says no more than the batch itself.
    """
    if is_computed_with(value, lambda number: is_size(number, origins)):
        return SIZED
    if value.batch.kind != "example":
        return ""
    if value.op in RANGES:
        return NUMBERED
    return COUNTED if is_computed_with(value, lambda number: isinstance(number, Count)) else ""


def is_computed_with(value: Tensor, counts: Callable[[Value], bool]) -> bool:
    """Whether a sum, a product or their like has an operand that is such a number, or that is made of one alone."""
    arithmetic = has(value.op, Trait.SCALES) or has(value.op, Trait.ADDS)
    return arithmetic and any(_is_made_of(operand, counts) for operand in value.inputs)


def _is_made_of(value: Value, counts: Callable[[Value], bool]) -> bool:
    """Whether a number, or one that is a tensor, is made of such a count.

    The number of a step is none, which a queue gives for as many steps as there are batches.
    """
    if not isinstance(value, Tensor) or value.batch.kind != "free":
        return not isinstance(value, Tensor) and counts(value)
    behind = needed([value]).values()
    steps = any(isinstance(made, Tensor) and has(made.op, Trait.COUNTS_STEPS) for made in behind)
    return not steps and any(map(counts, behind))


def is_size(value: Value, origins: Container[Origin]) -> bool:
    """Whether a value is a number that one of these numbers enters."""
    return isinstance(value, Number) and any(origin in origins for origin in value.origins)
