"""The model reads a number that depends on the batch size in an unknown way."""

from __future__ import annotations

from collections.abc import Container, Iterator

from converter.analysis.counts.size_names import named_batch
from converter.analysis.facts import Facts, RunCall, behind_losses
from converter.analysis.inputs.row_counts import may_count_rows, takes_what_counts_rows
from converter.analysis.reasons import Why
from converter.analysis.traits import Trait, has
from converter.analysis.values import FED, Host, Input, Number, Sequence, Tensor, Value, closure, needed
from converter.diagnostics import Diagnostic
from converter.planner.batch_size.batch_size import BatchSize
from converter.planner.batch_size.fed.number import is_fed_number
from converter.planner.cases import Placed, Selected
from converter.planner.checking import check
from converter.planner.plan_faults import PlanFault
from converter.planner.questions.rows_from_python import are_alike, has_rows
from converter.planner.questions.rows_together import of_number_of_rows
from converter.planner.questions.tensors_of_size import counts_examples, is_made_of_size
from converter.planner.region.inputs import uncut_values
from converter.planner.region.region import Region
from converter.planner.wording import finding

CODES = ("TMG207",)


@check(Selected)
def unknown_number_of_rows(case: Selected) -> Iterator[Diagnostic]:
    """Batches that the model gives a number of rows which is not known to be the batch size."""
    yield from uncut_values(case.facts, case.steps, {Why.UNSIZED: "TMG207 unsized"})


@check(Placed)
def fed_as_no_integer(case: Placed) -> Iterator[Diagnostic]:
    """A fed batch size, or what is computed from it, is the whole batch's: valid after the loop, wrong in a tower."""
    facts = case.facts
    for value in behind_losses(case.steps).values():
        if not isinstance(value, Input) or "placeholder" not in value.op or value.batch.kind != "free" or value.dims:
            continue
        if any(value in number.inputs for number in facts.fed_sizes):
            continue
        written = {a.place.key for a in facts.accesses_of(value) if a.write and isinstance(a.place.key, str)}
        if named_batch(written):
            yield finding(facts, value.node or case.steps[0].call, "TMG207 fed_as_no_integer")
        elif takes_what_counts_rows(facts, value) or may_count_rows(facts, value):
            yield finding(facts, value.node or case.steps[0].call, "TMG207 counts_rows")


@check(Placed, batch="per-gpu")
def fed_size_may_not_grow(case: Placed) -> Iterator[Diagnostic]:
    """Values computed after the loop with a fed batch size that may stay what it is while the batch grows."""
    facts, size = case.facts, case.size
    trained = {step.result.uid for step in case.steps}
    for run in facts.runs if facts.fed_sizes else ():
        behind = _read_after(run, case.regions) if run.computes(trained) else None
        if behind is not None and not _grows(run, size):
            yield finding(facts, behind.node or run.call, "TMG207 fed_size_may_not_grow")


def _read_after(run: RunCall, regions: tuple[Region, ...]) -> Tensor | None:
    """What a run computes of a fed batch size outside of the towers; None where it does not."""
    for value in run.behind.values():
        site = value.site
        if isinstance(value, Tensor) and site is not None and not any(r.in_any_tower(site) for r in regions):
            given = [v for i in value.inputs for v in (i, *(i.elements if isinstance(i, Sequence) else ()))]
            if any(map(is_fed_number, given)):
                return value
    return None


def _grows(run: RunCall, size: BatchSize) -> bool:
    """Whether the number that a run is fed is a multiple of the batch size, or counted by Python of what is there."""
    numbers = [value for key, value in run.feeds if is_fed_number(key)]
    return bool(numbers) and all(_is_of_batch(number, size) for number in numbers)


def _is_of_batch(value: Value, size: BatchSize) -> bool:
    counted = not isinstance(value, Number) or all(o.key[0] == "computed" for o in value.origins)
    return counted and getattr(value, "value", None) is None or bool(getattr(value, "linear", set()) & size.scaled)


@check(Placed, batch="per-gpu")
def prepared_by_size(case: Placed) -> Iterator[Diagnostic]:
    """Batches that are prepared in front of the towers, for all of them at once, with their number of rows."""
    sizes = case.size.scaled
    for one in (v for v in behind_losses(case.steps).values() if isinstance(v, Input)):
        for value in needed(one.inputs).values():
            if isinstance(value, Tensor) and of_number_of_rows(value, sizes):
                yield finding(case.facts, value.node or one.node or case.steps[0].call, "TMG207 prepared_by_size")


@check(Placed, unless=("TMG224",))
def tensor_of_size(case: Placed) -> Iterator[Diagnostic]:
    """Tensors made of the batch size that the towers read, but do not make, or that are read after the towers, too."""
    sizes = {o.key for o in case.size.counted_in_towers(case.options.batch) if o.key[0] != FED}
    values = [v for v in behind_losses(case.steps).values() if isinstance(v, Tensor)]
    inside = [v for v in values if v.site is not None and any(r.in_any_tower(v.site) for r in case.regions)]
    known = {v.uid for v in inside}
    read = needed(i for v in inside for i in v.inputs if i.uid not in known and _is_made_elsewhere(i))
    for value in (v for v in read.values() if v.uid not in known and is_made_of_size(v, sizes)):
        if counts_examples(case.facts, value, sizes):
            continue
        assert isinstance(value, Tensor)
        yield finding(case.facts, value.node or case.steps[0].call, "TMG207 tensor_before_towers")
    for value in inside:
        if counts_examples(case.facts, value, sizes):
            yield finding(case.facts, value.node or case.steps[0].call, "TMG207 examples_so_far")
        elif is_made_of_size(value, sizes) and any(_has_own_rows(v, sizes) for v in value.inputs):
            yield finding(case.facts, value.node or case.steps[0].call, PlanFault.ROWS_FROM_PYTHON)
        elif is_made_of_size(value, sizes) and any(_is_read_after(case.facts, r, value) for r in case.regions):
            yield finding(case.facts, value.node or case.steps[0].call, "TMG207 tensor_read_after")


def _has_own_rows(value: Value, sizes: Container[tuple[object, ...]]) -> bool:
    """Whether an array has a row for each example, each another one: a tower would have drawn or counted its own."""
    return isinstance(value, Host) and has_rows(value, sizes) and not are_alike(value)


def _is_made_elsewhere(value: Value) -> bool:
    """Whether a statement makes a tensor without a batch, not the operation that reads it, of a number."""
    return isinstance(value, Tensor) and value.batch.kind == "free" and value.site is not None


def _is_read_after(facts: Facts, region: Region, made: Tensor) -> bool:
    """Whether a tensor, or what is computed from it without the batch, is read after the towers that make it."""
    if not region.in_tower(made.site):
        return False
    return any(
        isinstance(access.value, Tensor)
        and access.value.batch.kind == "free"
        and region.in_tower(access.value.site)
        and made.uid in facts.behind(access.value)
        for access in region.reads_after
    )


@check(Placed, unless=("TMG255",), batch="total")
def size_in_loss(case: Placed) -> Iterator[Diagnostic]:
    """Sums and products of the towers with the batch size, but for sums over the examples that are divided by it."""
    sizes = {o.key for o in case.size.counted_in_towers(case.options.batch) if o.key[0] != FED}
    for value in behind_losses(case.steps).values():
        if not isinstance(value, Tensor) or value.batch.kind not in ("example", "reduced") or value.node is None:
            continue
        if not any(region.in_tower(value.site) for region in case.regions) or _is_mean_of_sum(value):
            continue
        arithmetic = has(value.op, Trait.SCALES) or has(value.op, Trait.ADDS)
        if arithmetic and any(_has_size(v, sizes) for v in value.inputs):
            yield finding(case.facts, value.node, "TMG207 size_in_loss")


def _is_mean_of_sum(value: Tensor) -> bool:
    """Whether a sum over the examples becomes a mean here."""
    reduced = [v.batch.how for v in value.inputs if isinstance(v, Tensor) and v.batch.kind == "reduced"]
    return value.batch.kind == "reduced" and value.batch.how == "mean" and reduced == ["sum"]


def _has_size(value: Value, sizes: Container[tuple[object, ...]]) -> bool:
    """Whether an operand is a number computed from the batch size, in Python or in the graph.

    A tensor of ones or zeros may have as many rows as that: none of its entries tells how many.
    """
    if not isinstance(value, Number) and not (isinstance(value, Tensor) and value.batch.kind == "free"):
        return False
    behind = closure([value], lambda one: () if isinstance(one, Input) or _is_filled(one) else one.inputs)
    return any(origin.key in sizes for one in behind if isinstance(one, Number) for origin in one.origins)


def _is_filled(value: Value) -> bool:
    return isinstance(value, Tensor) and (has(value.op, Trait.ONES) or has(value.op, Trait.ZEROS))
