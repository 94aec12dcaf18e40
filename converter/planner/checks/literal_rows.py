"""Numbers of the model that are as large as the batch size, of which a tower that shares a batch has fewer rows."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from itertools import chain

from converter.analysis import values
from converter.analysis.facts import Facts, TrainStep
from converter.analysis.reasons import Why
from converter.analysis.traits import Trait, has
from converter.analysis.values import Input, Number, Tensor, Variable, needed
from converter.planner.batch_size.batch_size import BatchSize
from converter.planner.region.region import Region
from converter.planner.writing.findings import refuse

PARTS = (Why.APART, Why.PART, Why.PICKED, Why.SPLIT, Why.REVERSED)


def check_literal_rows(facts: Facts, regions: list[Region], size: BatchSize) -> None:
    """With --batch total a tower has a share of the rows, and a number that is written in the model has them all."""
    known = _values(facts, size)
    keys = {o.key for o in size.origins}
    for tensor in facts.tensors if known else ():
        if not any(region.in_tower(tensor.site) for region in regions):
            continue
        parts = [v for v in tensor.inputs if isinstance(v, Tensor)]
        rows = [v for v in parts if v.batch.kind == "example" and not v.batch.axis]
        told = has(tensor.op, Trait.TOLD_ROWS) and any(n.value in known and _is_apart(n, keys) for n in _first(tensor))
        made = (v for v in parts if v.batch.kind == "free" and not isinstance(v, Variable) and v.dims)
        beside = has(tensor.op, Trait.ROW_BY_ROW) and any(
            v.dims[0] in known and any(r.rank == v.rank for r in rows) and any(_is_apart(n, keys) for n in _first(v))
            for v in made if v.dims
        )  # fmt: skip
        if rows and (told or beside):
            raise refuse(facts, tensor.node or regions[0].block.body[0], "TMG254",
                         "the model has a number here that is as large as the batch size, where each tower has a share "
                         "of the batch",
                         "write the batch size by its name")  # fmt: skip


def check_rows_of_losses(facts: Facts, steps: Sequence[TrainStep], region: Region, size: BatchSize) -> None:
    """With --batch per-gpu a loss that is computed once takes several of the script's batches, one after the other.

    A number in it that is as large as the batch size has the rows of one of them; a part of the rows, such as the
    first half, is another one.
    """
    known, keys = _values(facts, size), {o.key for o in size.origins}
    for value in needed(step.loss for step in steps).values():
        if not isinstance(value, Tensor) or isinstance(value, (Input, Variable)) or region.in_tower(value.site):
            continue
        lists = (v.elements for v in value.inputs if isinstance(v, values.Sequence))
        numbers = (v for v in chain(value.inputs, *lists) if isinstance(v, Number))
        if value.batch.why in PARTS or any(n.value in known and _is_apart(n, keys) for n in numbers):
            raise refuse(facts, value.node or steps[0].call, "TMG254",
                         "the loss counts the rows of one batch here, and is computed of the batches of all towers",
                         "use --batch total, with which these are one batch")  # fmt: skip


def _first(tensor: Tensor) -> Iterator[Number]:
    """The first entries, and the numbers, of what shapes an operation is given: `[64, -1]`."""
    for value in tensor.inputs:
        entries = value.elements[:1] if isinstance(value, values.Sequence) else []
        yield from (v for v in entries if isinstance(v, Number))


def _is_apart(number: Number, keys: set[tuple[object, ...]]) -> bool:
    origins = number.origins
    return bool(origins) and all(o.key[0] == "literal" and o.key not in keys for o in origins)


def _values(facts: Facts, size: BatchSize) -> set[float]:
    """How large the batch size is, as the script has it or as its flags are by default; nothing for a single row."""
    found: set[object] = set()
    names = {o.key[-1] for o in size.scaled if o.key[0] == "flag"}
    for flag in facts.flags:
        if flag.name in names:
            given = [k.value for k in flag.call.keywords if k.arg in ("default", "default_value")]
            given += flag.call.args[1:2] if flag.style == "flags" else []
            found |= {n.value for n in given if isinstance(n, ast.Constant)}
    found |= {o.node.value for o in size.scaled if isinstance(o.node, ast.Constant)}
    return {float(v) for v in found if isinstance(v, int) and not isinstance(v, bool) and v > 1}
