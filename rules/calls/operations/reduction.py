"""Reductions: over the batch axis they make a mean, a sum, or something else."""

from __future__ import annotations

from converter.analysis.call import Call, Handler
from converter.analysis.effects import EffectKind
from converter.analysis.reasons import Why
from converter.analysis.rows import keeps, table
from converter.analysis.tensors import algebra, reductions
from converter.analysis.tensors.masking import is_count, moved_from
from converter.analysis.traits import Argument, Trait
from converter.analysis.values import (
    FREE,
    Batch,
    How,
    Input,
    Number,
    Record,
    Sequence,
    Tensor,
    Value,
    opaque,
    other,
)

HOW: dict[str, How] = {"reduce_mean": "mean", "reduce_sum": "sum"}


def _are_lengths(call: Call, tensor: Tensor) -> bool:
    """Whether a tensor looks like sequence lengths: one integer per example, fed or counted in this function."""
    if tensor.batch.kind != "example" or tensor.rank != 1:
        return False
    given = moved_from(tensor)
    if isinstance(given, Input):
        return "int" in given.dtype or all(map(is_count, given.inputs)) and bool(given.inputs)
    return is_count(tensor) and tensor.site is not None and tensor.site.frame is call.walk.frame


def _reduce(call: Call) -> Value:
    tensor = call.tensor(0, "input_tensor", "input")
    axis = call.get(1, "axis", "reduction_indices", "dim")
    keep = call.flag(2, "keepdims", "keep_dims")
    if call.name == "reduce_max" and axis is None and _are_lengths(call, tensor):
        call.walk.effect(EffectKind.LONGEST, call.name, tensor, call.node)
        longest = call.gives(FREE, ())
        longest.roots = frozenset()  # the maximum over the whole batch, in every tower
        return longest
    how = HOW.get(call.name, "other")
    why, about = (Why.NEITHER_CALL, call.name) if how == "other" else (Why.NEITHER, "")
    result = reductions.reduce(tensor, axis, how, keep, why, about)
    result.inputs = (*result.inputs, *call.values())
    return result


def _reduces(name: str, how: How, axis: int | None = None, keep: int | None = None, why: Why = Why.NEITHER) -> Handler:
    """The call reduces its first argument; axis, keep: the places of the arguments `axis` and `keepdims`."""

    def reduced(call: Call) -> Value:
        along = None if axis is None else call.get(axis, "axis")
        kept = keep is not None and call.flag(keep, "keepdims", "keep_dims")
        return reductions.reduce(call.tensor(0, name), along, how, kept, why)

    return reduced


def _arg(call: Call) -> Value:
    tensor = call.tensor(0, "input")
    axis = call.get(1, "axis", "dimension")
    if axis is None:
        axis = Number(0)
    return reductions.reduce(tensor, axis, "other", False, Why.ALONG_BATCH, call.name)


def _l2_loss(call: Call) -> Value:
    tensor = call.tensor(0, "t")
    made = reductions.reduce(tensor, None, "sum", False)
    if tensor.batch.kind == "reduced":
        made.batch = algebra.not_linear(tensor.batch)
    return made


def _moments(call: Call) -> Value:
    """Mean and variance over a tower's share, as the original computes them over its batch."""
    tensor = call.tensor(0, "x")
    axes = call.get(1, "axes")
    keep = call.flag(4, "keep_dims", "keepdims")
    both: tuple[How, How] = ("mean", "other")
    parts = [reductions.reduce(tensor, axes, how, keep, Why.VARIANCE) for how in both]
    return Sequence([_statistic(call, part) for part in parts])


def _statistic(call: Call, part: Tensor) -> Tensor:
    if part.batch.kind == "reduced":
        call.walk.effect(EffectKind.BATCH_STATISTICS, "nn.moments", part, call.node)
        part.batch = Batch("reduced", how=part.batch.how, why=part.batch.why or Why.STATISTIC)
        part.op = "moments"
    return part


def _top_k(call: Call) -> Value:
    """The largest values along the last axis; of a vector with one value for each example, the largest of the batch."""
    tensor, count = call.tensor(0, "input"), call.get(1, "k")
    last = tensor.batch.kind == "example" and tensor.rank == tensor.batch.axis + 1
    found = opaque(Why.PICKED_LARGEST) if last else algebra.not_linear(tensor.batch)
    number = getattr(count, "value", None) if isinstance(count, Number) else None
    dims = (*tensor.dims[:-1], number) if tensor.dims and isinstance(number, (int, type(None))) else None
    return Record(("values", "indices"), [call.gives(found, dims) for _ in range(2)])


def _confusion(call: Call) -> Value:
    batched = any(algebra.is_batched(v) for v in call.values())
    return call.gives(Batch("reduced", how="sum") if batched else FREE, (None, None))


def _global_norm(call: Call) -> Value:
    values = call.values()
    return Tensor(other(Why.GLOBAL_NORM) if any(v.roots for v in values) else FREE, values, (), call.name)


def _draws(call: Call) -> Value:
    """Numbers of classes, a row of them for each row of logits: `[batch, num_samples]`."""
    logits = call.tensor(0, "logits")
    number = call.constant(1, "num_samples")
    dims = (None, number if isinstance(number, int) else None)
    behind = logits.batch.kind == "example" and logits.batch.axis != 0
    return call.gives(opaque(Why.CLASSES_DRAWN) if behind else logits.batch, dims)


REDUCTIONS = (
    "reduce_mean reduce_sum reduce_max reduce_min reduce_prod reduce_any reduce_all reduce_logsumexp reduce_std "
    "reduce_variance reduce_euclidean_norm"
).split()

POSITIONS: dict[Argument, dict[str, int]] = {Argument.NAME: {"argmax": 3}}

TRAITS: dict[Trait, str] = {
    Trait.COMPUTES_ONE: (
        "argmax arg_max argmin reduce_mean reduce_max reduce_min reduce_sum reduce_prod reduce_any reduce_all "
        "nn.zero_fraction"
    ),
    Trait.ADDS_UP: "reduce_sum",
    Trait.AVERAGES: "reduce_mean",
    Trait.COUNTS: "reduce_sum reduce_mean reduce_max count_nonzero",
    Trait.ANY_AXIS: "reduce_mean reduce_sum",
    Trait.OWN_DTYPE: "arg_max arg_min argmax argmin nn.in_top_k count_nonzero",
    Trait.INTEGER: "argmax arg_max",
    Trait.IN_DENOMINATOR: "reduce_sum",
    Trait.LARGEST: "reduce_max",
    Trait.TOLD_WIDTH: "nn.top_k multinomial random_categorical",
    Trait.SUMS: "reduce reduce_sum",
    Trait.TAKES_GRADIENTS: "global_norm",
    Trait.TAKES_NUMBERS: "sum reduce_sum",
    Trait.SUMS_SQUARES: "l2_loss",
    Trait.OF_ONE_VARIABLE: "l2_loss",
    Trait.ADDITIVE: "l2_loss reduce_sum",
}

CALLS: dict[str, Handler] = table(
    (REDUCTIONS, _reduce),
    ("argmax argmin arg_max arg_min", _arg),
    ("count_nonzero", _reduces("input_tensor", "sum", axis=1)),
    ("nn.l2_loss", _l2_loss),
    ("norm", _reduces("tensor", "other", axis=2, keep=3, why=Why.NORM)),
    ("nn.moments", _moments),
    ("nn.batch_normalization", keeps("x")),
    ("nn.in_top_k in_top_k", keeps("targets", at=1, lengths=(None,))),
    ("nn.top_k", _top_k),
    ("confusion_matrix contrib.metrics.confusion_matrix", _confusion),
    ("global_norm", _global_norm),
    ("nn.zero_fraction", _reduces("value", "mean")),
    ("multinomial random_categorical", _draws),
)
