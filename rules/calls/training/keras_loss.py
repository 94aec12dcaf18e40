"""Losses and measures of Keras that are called on tensors: one value for each row of their last axis, or its mean."""

from __future__ import annotations

from dataclasses import replace

from converter.analysis.call import Call, Handler
from converter.analysis.reasons import Why
from converter.analysis.tensors import algebra
from converter.analysis.traits import Trait
from converter.analysis.values import Constant, Symbol, Tensor, Typed, Value, opaque
from rules.calls.training.loss import reduction

LAST = (  # a sum or a mean over the last axis (tensorflow/python/keras/losses.py and metrics.py, 1.15)
    "categorical_crossentropy binary_crossentropy mean_squared_error mse mean_absolute_error mae hinge squared_hinge "
    "categorical_hinge kullback_leibler_divergence poisson logcosh cosine_proximity cosine_similarity "
    "categorical_accuracy binary_accuracy"
).split()
SPARSE = ("sparse_categorical_crossentropy", "sparse_categorical_accuracy")  # of labels without that axis
MEANS = ("auto", "sum_over_batch_size")
MEAN_CLASSES = (  # a mean over the last axis for each row
    "MeanSquaredError MeanAbsoluteError MeanAbsolutePercentageError MeanSquaredLogarithmicError BinaryCrossentropy "
    "Hinge SquaredHinge Poisson LogCosh Huber"
).split()
CLASSES = (
    *MEAN_CLASSES,
    *("CategoricalCrossentropy", "SparseCategoricalCrossentropy", "CategoricalHinge", "KLDivergence"),
)
MODULES = ("keras.losses.", "keras.objectives.", "keras.metrics.", "keras.backend.")


def _by_last_axis(call: Call) -> Value:
    """Reduces the last axis of the predictions, which holds the classes or the components of an example."""
    labels, predictions = call.tensor(0, "y_true", "target"), call.tensor(1, "y_pred", "output")
    axis = call.constant(99, "axis")
    operands = [predictions] if call.name.rpartition(".")[2] in SPARSE else [labels, predictions]
    kept = algebra.combine([t for t in operands if t.batch.kind != "free"])
    ranks = {t.rank for t in operands if t.rank is not None}
    if kept.kind == "example":
        if axis not in (None, -1) or not ranks:
            kept = opaque(Why.AXIS_UNKNOWN, call.name)
        elif kept.axis == max(ranks) - 1:
            kept = opaque(Why.ALONG_EXAMPLES, call.name)
    dims = None if predictions.dims is None else predictions.dims[:-1]
    return Tensor(kept, call.values(), dims, call.name)


def _called(call: Call) -> Value:
    """An object of a loss class, called on labels and predictions: the mean over all entries, if nothing else is asked.

    Source: Loss.__call__ of tensorflow/python/keras/losses.py and losses_utils.py, 1.15: AUTO is SUM_OVER_BATCH_SIZE.
    """
    made = call.receiver
    name = getattr(made, "name", "")
    operands = [t for t in (call.tensor(0, "y_true"), call.tensor(1, "y_pred")) if t.batch.kind != "free"]
    if not operands:
        return Tensor(inputs=call.values(), op=name)
    asked: Value = Constant("auto")
    told: list[Value] = []
    if isinstance(made, Typed):
        asked, told = made.kwargs.get("reduction", asked), made.args
    if any(not isinstance(getattr(value, "value", None), bool) for value in told) or call.get(2, "sample_weight"):
        return Tensor(opaque(Why.UNKNOWN_CALL, name), call.values(), None, name)
    how = asked.name.rpartition(".")[2] if isinstance(asked, Symbol) else str(getattr(asked, "value", ""))
    if how.lower() not in MEANS:
        return Tensor(opaque(Why.UNKNOWN_CALL, name), call.values(), None, name)
    if name.rpartition(".")[2] not in MEAN_CLASSES and any(t.rank is None or t.rank < 2 for t in operands[-1:]):
        return Tensor(opaque(Why.AXIS_UNKNOWN, name), call.values(), None, name)
    if "Sparse" not in name:  # broadcast: a column beside a vector gives pairs of examples
        operands = [algebra.elementwise(call.walk.facts, "subtract", [call.tensor(0, "y_true"), operands[-1]])]
    kept = reduction(replace(call, name=name, args=call.args[:2], kwargs={"reduction": asked}), operands)
    return Tensor(kept, call.values(), (), name)


TRAITS: dict[Trait, str] = {
    Trait.ADDS_UP: "keras.backend.sum",
    Trait.AVERAGES: "keras.backend.mean",
}

CALLS: dict[str, Handler] = {
    **{
        m + name: _by_last_axis
        for m in MODULES
        for name in (*LAST, *SPARSE)
        if m != "keras.backend." or name in ("categorical_crossentropy", "sparse_categorical_crossentropy")
    },
    **{f"keras.losses.{name}": lambda call: call.typed("Keras loss") for name in CLASSES},
    "Keras loss.__call__": _called,
}
