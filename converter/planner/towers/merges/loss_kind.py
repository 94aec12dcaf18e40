"""Whether a loss is a mean over the examples, a sum, or neither, and how the towers' losses are merged."""

from __future__ import annotations

import ast
from collections.abc import Container, Iterator

from converter.analysis.facts import Facts, TrainStep
from converter.analysis.reasons import Why
from converter.analysis.tensors.algebra import is_shared_out, uncast
from converter.analysis.traits import Trait, has
from converter.analysis.values import Input, Number, Tensor, Value, closure, depends_on, is_of_own, needed, tensors_in
from converter.diagnostics import Diagnostic
from converter.options import Options
from converter.plan.border import Mean, Sum
from converter.planner.plan_faults import PlanFault
from converter.planner.questions.batch_statistics import norms_among
from converter.planner.questions.batch_values import counts_examples
from converter.planner.questions.fixed_size import fixed_size
from converter.planner.region.region import Region
from converter.planner.wording import finding, refuse


def loss_how(
    facts: Facts, counts: Container[int], step: TrainStep, options: Options
) -> tuple[type[Mean | Sum], list[Diagnostic]]:
    """How a loss is merged, with warnings for losses that are not means and so differ from one GPU.

    counts: the masked means whose towers are weighed by what their masks leave.
    """
    value, batch = step.loss, step.loss.batch
    warnings: list[Diagnostic] = []
    if is_of_own(value) and batch.kind == "opaque":  # no number
        raise refuse(facts, step.call, PlanFault.OWN_EXAMPLES_UNCLEAR)
    once = options.batch == "total" or options.loss == "global"
    summed = batch.kind == "example" or (batch.kind == "reduced" and batch.how == "sum")
    warnings += warn_of_statistics(facts, value) if options.batch == "total" else ()
    if batch.why is Why.SUM_IN_BRANCH and once:
        raise refuse(facts, step.call, PlanFault.SUM_IN_BRANCH, reason=batch.reason)
    if summed and once:
        if batch.affine:
            raise refuse(facts, step.call, PlanFault.SUM_AND_TERM)
        return Sum, warnings
    if summed:
        warnings.append(finding(facts, step.call, PlanFault.SUM_OVER_EXAMPLES))
    elif why := why_no_mean(value, counts):
        warnings.append(
            finding(facts, step.call, PlanFault.NO_MEAN_ALL_THE_SAME if once else PlanFault.NO_MEAN, why=why)
        )
    elif is_divided_by_size(value):
        apart = step.call if once else _run_of_other_rows(facts, value)
        kind = PlanFault.DIVIDED_BY_SIZE if once else PlanFault.DIVIDED_BY_GROWN_SIZE
        warnings += [finding(facts, apart, kind)] if apart is not None else []
    return Mean, warnings


def warn_of_statistics(facts: Facts, loss: Tensor, region: Region | None = None) -> Iterator[Diagnostic]:
    """Warns of statistics that a tower takes of its part of the batch, where the original has the whole batch.

    region: the towers, where the loss is computed behind them.
    """
    shared = statistics_of_share(facts, loss, region)
    if shared is not None:
        yield finding(facts, shared, PlanFault.STATISTICS_OF_SHARES)


def statistics_of_share(facts: Facts, loss: Tensor, region: Region | None = None) -> ast.AST | None:
    """Where a tower takes statistics of its part of the batch that a loss is computed from; arguments as above."""
    made = [v for v in needed([loss]).values() if isinstance(v, Tensor)]
    return _shared_statistics(facts, [v for v in made if region is None or region.in_tower(v.site)])


def needs_whole_batch(loss: Tensor, counts: Container[int]) -> bool:
    """True if no weighting of the towers' losses gives the loss of the whole batch.

    counts: the masked means whose towers are weighed by what their masks leave.
    """
    summed = loss.batch.kind == "reduced" and loss.batch.how == "sum"
    return bool(why_no_mean(loss, counts)) or (summed and loss.batch.affine) or is_divided_by_size(loss)


def is_divided_by_size(loss: Tensor) -> bool:
    """Whether a sum over the examples is divided by a number that a step may have fewer of, as at an epoch's end.

    The mean over the rows that a step has is another number then.
    """
    values = needed([loss]).values()
    inputs = [v for v in values if isinstance(v, Input) and v.batch.kind == "example"]
    if all(fixed_size(v) is not None for v in inputs):
        return False
    return any(isinstance(v, Tensor) and _is_sum_by_number(v) for v in values)


def _run_of_other_rows(facts: Facts, loss: Tensor) -> ast.AST | None:
    """The first run that trains nothing and feeds rows for such a loss that the batch size does not count."""
    made = [v for v in needed([loss]).values() if isinstance(v, Tensor)]
    sizes = frozenset(o for v in made if _is_sum_by_number(v) for n in _numbers_beside(v) for o in n.origins)
    trained = {step.result.uid for step in facts.train_steps}
    runs = (run for run in facts.runs if run.feeds and run.computes({loss.uid}) and not run.computes(trained))
    return next((run.call for run in runs if not depends_on([fed for _, fed in run.feeds], sizes)), None)


def _is_sum_by_number(value: Tensor) -> bool:
    if not has(value.op, Trait.SCALES) or value.batch.kind != "reduced" or value.batch.how != "mean":
        return False
    sums = any(isinstance(v, Tensor) and v.batch.kind == "reduced" and v.batch.how == "sum" for v in value.inputs)
    return sums and any(number.origins for number in _numbers_beside(value))


def _numbers_beside(value: Tensor) -> Iterator[Number]:
    """The numbers that a sum is divided by, as they are or as tensors."""
    tensors = [v for v in value.inputs if isinstance(v, Tensor)]
    yield from (v for v in (*value.inputs, *_behind_free(tensors)) if isinstance(v, Number))


def _behind_free(tensors: list[Tensor]) -> Iterator[Value]:
    """What numbers are converted from: `tf.cast(batch_size, tf.float32)`, `tf.to_float(tf.constant(batch_size))`."""
    for tensor in tensors:
        inner = uncast(tensor)
        if tensor.batch.kind == "free" and (inner is tensor or not isinstance(inner, Input)):
            yield from inner.inputs


def why_no_mean(loss: Tensor, counts: Container[int]) -> str:
    """Why a loss is not known to be a mean over the examples; "" where it is one."""
    batch = loss.batch
    if batch.kind == "opaque" or batch.how == "other" or (batch.over is not None and loss.uid not in counts):
        return batch.reason or Why.DIVISOR_UNSEEN.value
    if _sets_against_batch(loss):
        return Why.AGAINST_BATCH.value
    return Why.AGAINST_MEAN.value if _weighs_by_mean(loss) else ""


def _sets_against_batch(loss: Tensor) -> bool:
    """True if examples are combined with a reduction of the batch other than a mean (batch norms use means)."""
    for value in needed([loss]).values():
        if isinstance(value, Tensor) and value.batch.kind == "example":
            reduced = [v for v in value.inputs if isinstance(v, Tensor) and v.batch.kind == "reduced"]
            if any(map(_is_no_mean, needed(reduced).values())):
                return True
    return False


def _weighs_by_mean(loss: Tensor) -> bool:
    """True if examples are multiplied by a mean of their batch: `mean(mean(w) * ce)` is a product of two means.

    Only what a mean and sums lead from there to the loss makes one; anything else is a layer, as of a batch norm.
    """
    todo, seen = [loss], set[int]()
    while todo:
        value = todo.pop()
        operands = [t for v in value.operands for t in tensors_in(v) if t.batch.kind != "free"]
        if value.uid in seen or value.batch.kind == "free":
            continue
        seen.add(value.uid)
        scales = has(value.op, Trait.SCALES)
        both = {t.batch.kind for t in operands} >= {"example", "reduced"}
        if both and (scales or value.batch.kind == "reduced"):  # weights of a loss, too
            return True
        means = value.op == "reduce" and value.batch.how == "mean"
        adds = has(value.op, Trait.ADDS) or has(value.op, Trait.LINEAR)
        todo += operands if means or adds or (scales and len(operands) == 1) else ()
    return False


def _is_no_mean(value: Value) -> bool:
    """Whether it reduces examples by a sum, a norm or a maximum."""
    if not isinstance(value, Tensor) or value.op != "reduce":
        return False
    return value.batch.kind == "reduced" and value.batch.how != "mean"


def _shared_statistics(facts: Facts, made: list[Tensor]) -> ast.AST | None:
    """A value that combines examples with statistics of their batch, as a batch norm does; None if there is none."""
    for value in made:
        kinds = {v.batch.kind for v in value.inputs if isinstance(v, Tensor)}
        if value.batch.kind == "example" and kinds >= {"example", "reduced"}:
            return value.node
    norm = next((norm.node for norm in norms_among(facts, made)), None)
    return norm if norm is not None else _scaled_by_rows(made)


def _scaled_by_rows(made: list[Tensor]) -> ast.AST | None:
    """A value that scales examples by their number, but for those whose sum is a mean; None if none does.

    `h / tf.cast(tf.shape(h)[0], tf.float32)`: a tower has fewer rows than the batch.
    """
    scaled = [v for v in made if v.batch.kind == "example" and has(v.op, Trait.SCALES)]
    counted = [v for v in scaled if any(counts_examples(uncast(one)) for one in v.inputs)]
    sums = [v.inputs[0] for v in made if v.op == "reduce" and v.batch.how == "mean" and is_shared_out(v.inputs[0])]
    means = {v.uid for v in closure(sums, lambda one: filter(is_shared_out, one.inputs))} if counted else set()
    return next((v.node for v in counted if v.uid not in means), None)
