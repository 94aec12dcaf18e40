"""The model reads a number that depends on the batch size in an unknown way."""

from __future__ import annotations

from collections.abc import Container, Iterator

from converter.analysis.counts.size_names import named_batch
from converter.analysis.facts import Facts, RunCall, behind_losses
from converter.analysis.inputs.row_counts import may_count_rows, takes_what_counts_rows
from converter.analysis.reasons import Why
from converter.analysis.traits import Trait, has
from converter.analysis.values import FED, Input, Number, Sequence, Tensor, Value, needed
from converter.diagnostics import Diagnostic
from converter.planner.batch_size.batch_size import BatchSize
from converter.planner.batch_size.fed.number import is_fed_number
from converter.planner.cases import Placed, Selected
from converter.planner.checking import check
from converter.planner.plan_faults import PlanFault
from converter.planner.questions.tensors_of_size import counts_examples, is_made_of_size
from converter.planner.region.inputs import uncut_values
from converter.planner.region.region import Region
from converter.planner.wording import Words
from converter.planner.writing.findings import error

HINT = "read it off an input in the model, as tf.shape(X)[0]"
READ_ITSELF = "read the batch size itself, or tf.shape(x)[0] of an input, where the model uses the tensor"

CODES = ("TMG207",)

WORDS = {
    PlanFault.NUMBER_OF_FED_SIZE: Words(
        "TMG207",
        "the model reads a number that is computed from a fed batch size before the model",
        "compute it inside the model",
    ),
    PlanFault.ROWS_FROM_PYTHON: Words(
        "TMG207",
        "the model reads rows that Python makes for the whole batch",
        "make them where the model is built, all alike",
    ),
    PlanFault.ROWS_FROM_PYTHON_READ_TWICE: Words(
        "TMG207",
        "rows that Python makes for the whole batch are read by the model and after it",
        "make them once for the model and once for what comes after it",
    ),
    PlanFault.NUMBER_IN_UNKNOWN_WAY: Words(
        "TMG207",
        "the model reads a number that depends on the batch size in an unknown way",
        "compute it from the batch size inside the model",
    ),
    PlanFault.NUMBER_LEFT_BY_TOWERS: Words(
        "TMG207",
        "this number depends on the batch size, and the model sets it: behind the towers it counts one tower's share",
        "set it in front of the model, or compute it from the batch size where it is read",
    ),
    PlanFault.FED_SIZE_OF_WHICH_INPUT: Words(
        "TMG207",
        "the batch size is fed to the model, and it is not known which of its inputs has as many rows",
        "read it off an input in the model, as tf.shape(X)[0]",
    ),
}


@check(Selected)
def unknown_number_of_rows(case: Selected) -> Iterator[Diagnostic]:
    """Batches that the model gives a number of rows which is not known to be the batch size."""
    yield from uncut_values(
        case.facts,
        case.steps,
        "TMG207",
        {
            Why.UNSIZED: "reshape to -1 rows, or name the number batch_size where it is one",
        },
    )


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
            yield error(
                facts,
                value.node or case.steps[0].call,
                "TMG207",
                "the fed batch size is not an integer placeholder: each tower would take the size of the whole "
                "batch for its own",
                HINT,
            )
        elif takes_what_counts_rows(facts, value) or may_count_rows(facts, value):
            yield error(
                facts,
                value.node or case.steps[0].call,
                "TMG207",
                "training feeds this a number that counts rows of its batch, or may do so: each tower would take that "
                "of the whole batch",
                "compute it in the model of tf.shape(x)[0], for an input x",
            )


@check(Placed)
def fed_size_may_not_grow(case: Placed) -> Iterator[Diagnostic]:
    """Values computed after the loop with a fed batch size that may stay what it is while the batch grows."""
    facts, size = case.facts, case.size
    trained = {step.result.uid for step in case.steps}
    for run in facts.runs if case.options.batch == "per-gpu" and facts.fed_sizes else ():
        behind = _read_after(run, case.regions) if run.computes(trained) else None
        if behind is not None and not _grows(run, size):
            yield error(
                facts,
                behind.node or run.call,
                "TMG207",
                "this is computed from the whole batch with a batch size that is fed, and nothing tells that "
                "the number that is fed in training grows as the batch does",
                HINT,
            )


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
        yield error(
            case.facts,
            value.node or case.steps[0].call,
            "TMG207",
            "the model reads this tensor, which is made of the batch size in front of the towers: in each it would "
            "be that of the whole batch",
            READ_ITSELF,
        )
    for value in inside:
        if counts_examples(case.facts, value, sizes):
            yield error(
                case.facts,
                value.node or case.steps[0].call,
                "TMG207",
                "the model counts the examples so far, by the training steps and the batch size: each tower would "
                "count those of its share",
                "compute it in front of the model",
            )
        elif is_made_of_size(value, sizes) and any(_is_read_after(case.facts, r, value) for r in case.regions):
            yield error(
                case.facts,
                value.node or case.steps[0].call,
                "TMG207",
                "this tensor is made of the batch size and read by the model and after it: there it would be that of "
                "one tower's share",
                READ_ITSELF,
            )


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


@check(Placed, unless=("TMG255",))
def size_in_loss(case: Placed) -> Iterator[Diagnostic]:
    """Sums and products of the towers with the batch size, but for sums over the examples that are divided by it."""
    sizes = {o.key for o in case.size.counted_in_towers(case.options.batch) if o.key[0] != FED}
    for value in behind_losses(case.steps).values() if case.options.batch == "total" else ():
        if not isinstance(value, Tensor) or value.batch.kind not in ("example", "reduced") or value.node is None:
            continue
        if not any(region.in_tower(value.site) for region in case.regions) or _is_mean_of_sum(value):
            continue
        arithmetic = has(value.op, Trait.SCALES) or has(value.op, Trait.ADDS)
        if arithmetic and any(_has_size(v, sizes) for v in value.inputs):
            yield error(
                case.facts,
                value.node,
                "TMG207",
                "the loss is computed with the batch size here, which is that of a share of the batch in each tower",
                "divide a sum over the examples by it; or use --batch per-gpu, for which a batch size must be found in "
                "the script",
            )


def _is_mean_of_sum(value: Tensor) -> bool:
    """Whether a sum over the examples becomes a mean here."""
    reduced = [v.batch.how for v in value.inputs if isinstance(v, Tensor) and v.batch.kind == "reduced"]
    return value.batch.kind == "reduced" and value.batch.how == "mean" and reduced == ["sum"]


def _has_size(value: Value, sizes: Container[tuple[object, ...]]) -> bool:
    """Whether an operand is a number computed from the batch size, in Python or in the graph."""
    if isinstance(value, Tensor) and value.batch.kind == "free":
        return any(_has_size(v, sizes) for v in needed([value]).values() if isinstance(v, Number))
    return isinstance(value, Number) and any(origin.key in sizes for origin in value.origins)
