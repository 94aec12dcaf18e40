"""Probability distributions: objects with per-example parameters, and the results of their methods.

The shapes follow `Distribution` (tensorflow/python/ops/distributions/distribution.py, 1.15): a sample has the
sample shape, then the batch shape of the parameters, then the event shape; a log probability has no event axes.
tensorflow_probability keeps that.
"""

from __future__ import annotations

from dataclasses import replace

from converter.analysis.call import Call, Handler
from converter.analysis.reasons import Why
from converter.analysis.rows import below, keeps, table
from converter.analysis.tensors import algebra, reductions, shaping
from converter.analysis.traits import Trait
from converter.analysis.values import FREE, Batch, Lengths, Number, Tensor, Typed, Value, opaque

# Parameters that are broadcast with each other, in the order of the positional arguments.
SCALARS = {
    "Normal": ("loc", "scale"),
    "NormalWithSoftplusScale": ("loc", "scale"),
    "Laplace": ("loc", "scale"),
    "Logistic": ("loc", "scale"),
    "Uniform": ("low", "high"),
    "Bernoulli": ("logits", "probs"),
    "Beta": ("concentration1", "concentration0"),
    "Gamma": ("concentration", "rate"),
    "Exponential": ("rate",),
    "Poisson": ("rate", "log_rate"),
    "StudentT": ("df", "loc", "scale"),
}
# The last axis of the parameters lists the classes; an event is the number of one of them.
CHOICES = {"Categorical": ("logits", "probs")}
# The last axis of the parameters is an event's own.
VECTORS = {
    "MultivariateNormalDiag": ("loc", "scale_diag"),
    "MultivariateNormalDiagWithSoftplusScale": ("loc", "scale_diag"),
    "OneHotCategorical": ("logits", "probs"),
    "Dirichlet": ("concentration",),
}
KINDS = {**SCALARS, **CHOICES, **VECTORS}
PLACES = (
    "distributions. contrib.distributions. tensorflow_probability.distributions. "
    "tensorflow_probability.python.distributions."
)
PARAMETERS, ROWS = "the parameters", "the batch shape"


def _distribution(call: Call) -> Value:
    kind = call.name.rpartition(".")[2]
    made = call.typed("Distribution")
    given = [(name, value) for at, name in enumerate(KINDS[kind]) if (value := call.get(at, name)) is not None]
    parameters = algebra.elementwise(call.walk.facts, "distribution", [value for _, value in given])
    made.state[PARAMETERS] = parameters
    made.state[ROWS] = parameters if kind in SCALARS else _without_last(parameters)
    for name in KINDS[kind]:  # parameters that are not given are computed from those that are
        made.state[name] = next((v for n, v in given if n == name), parameters)
    return made


def _without_last(tensor: Tensor) -> Tensor:
    """Reduces the last axis; opaque if that may be the batch axis."""
    shrunk = reductions.reduce(tensor, Number(-1), "other", keep=False)
    if tensor.batch.kind == "example" and shrunk.batch.kind != "example":
        shrunk.batch = opaque(Why.LAST_AXIS)
    return shrunk


def _of(call: Call) -> Typed:
    assert isinstance(call.receiver, Typed)
    return call.receiver


def _state(made: Typed, name: str) -> Tensor:
    value = made.state[name]
    assert isinstance(value, Tensor)
    return value


def _kind(made: Typed) -> str:
    return made.name.rpartition(".")[2]


def _with_inputs(call: Call, tensor: Tensor, dims: Lengths) -> Tensor:
    return Tensor(algebra.not_linear(tensor.batch), (*call.values(), tensor), dims, call.name)


def _sample(call: Call) -> Value:
    """The sample shape stands in front of the axes of the parameters: none, a number, or a list of numbers."""
    made = _of(call)
    single = _state(made, ROWS if _kind(made) in CHOICES else PARAMETERS)
    shape = call.get(0, "sample_shape")
    entries = [] if shape is None else shaping.shape_entries(shape)
    if entries is None:
        unknown = opaque(Why.SAMPLE_SHAPE) if made.roots else FREE
        return Tensor(unknown, (*call.values(), single), None, call.name)
    dims = None if single.dims is None else (*(shaping.lengths_of(entries) or ()), *single.dims)
    axis = shaping.batch_entry(call.walk.facts, entries)
    result = _with_inputs(call, single, dims)
    if single.batch.kind == "example":
        result.batch = replace(single.batch, axis=single.batch.axis + len(entries))
        if axis is not None:
            result.batch = opaque(Why.SAMPLES_FOR_EACH)
    elif axis is not None:
        result.batch = shaping.batch_of_shape(call.walk.facts, entries)
    return result


def _of_value(call: Call) -> Value:
    """log_prob and its like: a number for each event, broadcast with the parameters."""
    made, value = _of(call), call.tensor(0, "value")
    if _kind(made) in CHOICES:
        found = algebra.elementwise(call.walk.facts, "distribution", [value, _state(made, ROWS)])
    else:
        found = algebra.elementwise(call.walk.facts, "distribution", [value, _state(made, PARAMETERS)])
        found = _without_last(found) if _kind(made) in VECTORS else found
    return _with_inputs(call, found, found.lengths)


def _statistic(call: Call) -> Value:
    """mean, stddev and their like have the shape of a sample."""
    made = _of(call)
    tensor = _state(made, ROWS if _kind(made) in CHOICES else PARAMETERS)
    return _with_inputs(call, tensor, tensor.lengths)


def _entropy(call: Call) -> Value:
    tensor = _state(_of(call), ROWS)
    return _with_inputs(call, tensor, tensor.lengths)


def _divergence(call: Call) -> Value:
    """kl_divergence and cross_entropy of two distributions: a number for each pair of events."""
    two = [v for v in [call.receiver, *call.args, *call.kwargs.values()] if _is_distribution(v)]
    if len(two) != 2:
        known = any(v.roots for v in call.values())
        kept = opaque(Why.UNKNOWN_DISTRIBUTION) if known else FREE
        return call.gives(kept)
    rows = [_state(v, ROWS) for v in two if isinstance(v, Typed)]
    found = algebra.elementwise(call.walk.facts, "distribution", rows)
    return _with_inputs(call, found, found.lengths)


def _is_distribution(value: Value | None) -> bool:
    return isinstance(value, Typed) and value.kind == "Distribution"


def _square(call: Call) -> Value:
    """A matrix whose triangle is taken, as an operator: its axes stay."""
    made = call.typed("Triangle")
    made.state["matrix"] = call.tensor(0, "tril")
    return made


def _to_dense(call: Call) -> Value:
    tensor = _state(_of(call), "matrix")
    if tensor.batch.kind != "free" and (tensor.rank is None or tensor.batch.axis >= tensor.rank - 2):
        return Tensor(opaque(Why.TRIANGLE), (*call.values(), tensor), None, call.name)
    return _with_inputs(call, tensor, tensor.lengths)


def _of_band(tensor: Tensor, name: str) -> Batch:
    """The batch behind tf.matrix_band_part, which works on the last two axes."""
    kept = tensor.batch
    last = kept.kind == "example" and tensor.rank is not None and kept.axis >= tensor.rank - 2
    return opaque(Why.BAND) if last else kept


VALUES = "log_prob prob cdf log_cdf survival_function log_survival_function"
TRAITS: dict[Trait, str] = {
    Trait.RANDOM: "*random* *dropout* *truncated_normal* *multinomial* *sampled* *nce_loss* *sample*",
}

CALLS: dict[str, Handler] = table(
    (below(PLACES, KINDS), _distribution),
    (below(PLACES, "kl_divergence kl"), _divergence),
    ("Distribution.sample", _sample),
    (below("Distribution.", VALUES), _of_value),
    (below("Distribution.", "mean stddev variance mode"), _statistic),
    ("Distribution.entropy", _entropy),
    (below("Distribution.", "kl_divergence cross_entropy"), _divergence),
    (below("linalg. contrib.linalg.", "LinearOperatorLowerTriangular"), _square),
    ("contrib.linalg.LinearOperatorTriL", _square),
    ("Triangle.to_dense", _to_dense),
    ("matrix_band_part linalg.band_part", keeps("input", batch=_of_band)),
)
