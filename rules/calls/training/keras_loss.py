"""Losses and measures of Keras that are called on tensors: one value for each row of their last axis."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import Literal

from converter.analysis.call import Call, Handler
from converter.analysis.reasons import Why
from converter.analysis.rows import below, makes, table
from converter.analysis.tensors import algebra, reductions
from converter.analysis.traits import Trait
from converter.analysis.values import Constant, How, Typed, Value, is_none, opaque
from rules.calls.training.loss import told_reduction

LAST = (  # a sum or a mean over the last axis (tensorflow/python/keras/losses.py and metrics.py, 1.15)
    "categorical_crossentropy binary_crossentropy mean_squared_error mse mean_absolute_error mae hinge squared_hinge "
    "categorical_hinge kullback_leibler_divergence poisson logcosh cosine_proximity cosine_similarity "
    "categorical_accuracy binary_accuracy"
).split()
SPARSE = ("sparse_categorical_crossentropy", "sparse_categorical_accuracy")  # of labels without that axis
# Classes whose objects compute one of these for each row and reduce what they get; where they are told how.
LOSS_OBJECTS = {
    "keras.losses.BinaryCrossentropy": ("binary_crossentropy", 2),
    "keras.losses.CategoricalCrossentropy": ("categorical_crossentropy", 2),
    "keras.losses.CategoricalHinge": ("categorical_hinge", 0),
    "keras.losses.Hinge": ("hinge", 0),
    "keras.losses.Huber": ("huber_loss", 1),
    "keras.losses.KLDivergence": ("kullback_leibler_divergence", 0),
    "keras.losses.LogCosh": ("logcosh", 0),
    "keras.losses.MeanAbsoluteError": ("mean_absolute_error", 0),
    "keras.losses.MeanAbsolutePercentageError": ("mean_absolute_percentage_error", 0),
    "keras.losses.MeanSquaredError": ("mean_squared_error", 0),
    "keras.losses.MeanSquaredLogarithmicError": ("mean_squared_logarithmic_error", 0),
    "keras.losses.Poisson": ("poisson", 0),
    "keras.losses.SparseCategoricalCrossentropy": ("sparse_categorical_crossentropy", 1),
    "keras.losses.SquaredHinge": ("squared_hinge", 0),
}
MEANS = (  # functions that take a mean over the last axis
    "mean_squared_error mean_absolute_error mean_absolute_percentage_error mean_squared_logarithmic_error hinge "
    "squared_hinge poisson logcosh binary_crossentropy huber_loss"
).split()
HOW: dict[str, How | Literal["none"]] = {"auto": "mean", "sum_over_batch_size": "mean", "sum": "sum", "none": "none"}


def _by_last_axis(call: Call) -> Value:
    """Reduces the last axis of the predictions, which holds the classes or the components of an example."""
    labels, predictions = call.tensor(0, "y_true", "target"), call.tensor(1, "y_pred", "output")
    axis = call.constant(99, "axis")
    sparse = call.name.rpartition(".")[2] in SPARSE
    # A column beside a vector is broadcast: it gives pairs of examples.
    both = predictions if sparse else algebra.elementwise(call.walk.facts, "subtract", [labels, predictions])
    kept = both.batch
    ranks = {t.rank for t in ([predictions] if sparse else [labels, predictions]) if t.rank is not None}
    if kept.kind == "example":
        if axis not in (None, -1) or not ranks:
            kept = opaque(Why.AXIS_UNKNOWN, call.name)
        elif kept.axis == max(ranks) - 1:
            kept = opaque(Why.ALONG_EXAMPLES, call.name)
    dims = None if predictions.lengths is None else predictions.lengths[:-1]
    return call.gives(kept, dims)


def _call_loss(call: Call) -> Value:
    """A loss object that is called on labels and predictions: their losses, reduced as the object was told.

    Without a word that is their sum divided by their number, weighted or not (losses.py and losses_utils.py, 1.15).
    """
    assert isinstance(call.receiver, Typed)
    function, position = LOSS_OBJECTS[call.receiver.name]
    rows = algebra.as_tensor(_by_last_axis(replace(call, name=function)))
    weights = call.get(2, "sample_weight")
    if weights is not None and not is_none(weights):
        rows = algebra.elementwise(call.walk.facts, "multiply", [rows, weights])
    how = HOW.get(_reduction_of(call.receiver, position))
    if how == "none":
        return rows
    if how is None:
        return call.gives(opaque(Why.UNKNOWN_CALL, call.name), ())
    if how == "mean" and rows.batch.why is Why.ALONG_EXAMPLES and function in MEANS:  # of vectors: a mean of means
        rows = algebra.elementwise(call.walk.facts, "subtract", [call.tensor(0, "y_true"), call.tensor(1, "y_pred")])
    made = reductions.reduce(rows, None, how, False)
    made.inputs = (*made.inputs, *call.values())
    return made


def _reduction_of(loss: Typed, position: int) -> str:
    """How an object reduces the losses of the rows, in lower case; "" where that is not seen."""
    given = loss.kwargs.get("reduction", loss.args[position] if len(loss.args) > position else Constant("auto"))
    if isinstance(loss.node, ast.Call) and any(keyword.arg is None for keyword in loss.node.keywords):
        return ""
    return told_reduction(given)


TRAITS: dict[Trait, str] = {
    Trait.ADDS_UP: "keras.backend.sum",
    Trait.AVERAGES: "keras.backend.mean",
}

CALLS: dict[str, Handler] = table(
    (below("keras.losses. keras.objectives. keras.metrics.", (*LAST, *SPARSE)), _by_last_axis),
    (below("keras.backend.", "categorical_crossentropy sparse_categorical_crossentropy"), _by_last_axis),
    (LOSS_OBJECTS, makes("KerasLoss")),
    ("KerasLoss.__call__", _call_loss),
)
