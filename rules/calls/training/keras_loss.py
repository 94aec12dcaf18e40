"""Losses and measures of Keras that are called on tensors: one value for each row of their last axis."""

from __future__ import annotations

from converter.analysis.call import Call, Handler
from converter.analysis.reasons import Why
from converter.analysis.tensors import algebra
from converter.analysis.traits import Trait
from converter.analysis.values import Tensor, Value, opaque

LAST = (  # a sum or a mean over the last axis (tensorflow/python/keras/losses.py and metrics.py, 1.15)
    "categorical_crossentropy binary_crossentropy mean_squared_error mse mean_absolute_error mae hinge squared_hinge "
    "categorical_hinge kullback_leibler_divergence poisson logcosh cosine_proximity cosine_similarity "
    "categorical_accuracy binary_accuracy"
).split()
SPARSE = ("sparse_categorical_crossentropy", "sparse_categorical_accuracy")  # of labels without that axis
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


TRAITS: dict[Trait, str] = {
    Trait.ADDS_UP: "keras.backend.sum",
    Trait.AVERAGES: "keras.backend.mean",
}

CALLS: dict[str, Handler] = {
    m + name: _by_last_axis
    for m in MODULES
    for name in (*LAST, *SPARSE)
    if m != "keras.backend." or name in ("categorical_crossentropy", "sparse_categorical_crossentropy")
}
