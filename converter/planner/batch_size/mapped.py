"""Functions that data sets apply to whole batches, and what they make of all rows of a batch together.

`Dataset.map` behind `batch` is computed once for the batches of all GPUs. A function that treats each row by itself
gives the same for a batch of N times as many rows; one that takes a mean over them, or counts them, does not.
"""

from __future__ import annotations

import ast
from collections.abc import Container, Iterator

from converter.analysis.facts import Facts, Mapped
from converter.analysis.reasons import UNSEEN_CODE
from converter.analysis.traits import Trait, has
from converter.analysis.values import Host, Origin, Sequence, Tensor, Value, needed
from converter.planner.questions.rows_together import SIZED, is_size, of_number_of_rows

Found = tuple[ast.AST, str]  # where something is made of the rows together, and how

REDUCED = "a mean, a sum or another value of all rows of the batch is taken"
NOT_FOLLOWED = "it goes through code that is not followed"


def of_whole_batches(facts: Facts, origins: Container[Origin]) -> Iterator[Found]:
    """What functions of data sets make of all rows of a batch together, where the batch grows with these numbers."""
    for one in facts.mapped:
        values = sorted(needed([one.made]).values(), key=lambda value: value.uid)
        grows = _grows(one, origins)
        for value in values:
            if isinstance(value, Tensor) and (how := _together(value, grows, origins)):
                yield value.node or (value.site.stmt if value.site else one.call), how
            elif isinstance(value, Host) and grows and any(map(_is_example, value.inputs)):
                yield value.node or one.call, NOT_FOLLOWED


def by_python(facts: Facts, origins: Container[Origin]) -> Iterator[Tensor]:
    """The results of Python code to which functions of data sets give whole batches."""
    for one in facts.mapped:
        if _grows(one, origins):
            yield from (v for v in needed([one.made]).values() if isinstance(v, Tensor) and _is_of_python(v))


def _grows(one: Mapped, origins: Container[Origin]) -> bool:
    sizes = one.size.elements if isinstance(one.size, Sequence) else [one.size]
    return any(size is not None and is_size(size, origins) for size in sizes)


def _together(value: Tensor, grows: bool, origins: Container[Origin]) -> str:
    """How a tensor depends on all rows of its batch; "" where it does not. grows: whether the batch does."""
    if (how := of_number_of_rows(value, origins)) and (grows or how == SIZED):
        return how
    if not grows or _is_of_python(value):
        return ""
    if value.batch.kind == "opaque":
        return value.batch.reason
    largest = has(value.op, Trait.LARGEST) and any(map(_is_example, value.inputs))
    return REDUCED if value.batch.kind == "reduced" or (largest and value.batch.kind == "free") else ""


def _is_example(value: Value) -> bool:
    return isinstance(value, Tensor) and value.batch.kind == "example"


def _is_of_python(value: Tensor) -> bool:
    return value.batch.why in UNSEEN_CODE or has(value.op, Trait.CALLS_PYTHON)
