"""Keras layers that a session's model calls on its tensors: axis 0 stays the batch.

Source: tensorflow/python/keras/layers of TensorFlow 1.15.
"""

from __future__ import annotations

from converter.analysis.call import Call, Handler
from converter.analysis.effects import EffectKind
from converter.analysis.python.following import follow, not_followed
from converter.analysis.reasons import Why
from converter.analysis.rows import below, makes, table
from converter.analysis.tensors import algebra, moving, shaping
from converter.analysis.traits import Trait, has
from converter.analysis.values import (
    FREE,
    Bound,
    Constant,
    Host,
    Instance,
    Number,
    Sequence,
    Symbol,
    Tensor,
    Typed,
    Value,
    opaque,
    tensors_in,
)

Dims = tuple[int | None, ...] | None

SEQUENTIAL = ("keras.Sequential", "keras.models.Sequential")
LAYERS_IN = "layers"  # the key of the layers in the state of such a model

# Layers that take the entries along any axis but the last for rows of their own.
ANY_AXIS = frozenset(
    "Dense Activation ReLU LeakyReLU PReLU ELU ThresholdedReLU Softmax Embedding Dropout GaussianNoise GaussianDropout "
    "AlphaDropout Masking ActivityRegularization BatchNormalization".split()
)


def _call_layer(call: Call) -> Value:
    """An object of a layer class, called on its input."""
    receiver = call.receiver
    made_by = getattr(receiver, "name", "")
    kind = made_by.rpartition(".")[2]
    call.walk.effect(EffectKind.OBJECT_VARIABLE, made_by, receiver, call.node)
    if "BatchNorm" in kind:
        call.walk.effect(EffectKind.BATCH_NORM, made_by, None, call.node)
    if isinstance(receiver, Typed):
        if kind in MERGES:
            return _of_several(call, call.get(0, "inputs"), kind, _given(receiver, 0, "axis"))
        if kind == "Lambda" and (function := _given(receiver, 0, "function")) is not None:
            return _lambda(call, function)
        if kind in RECURRENT:
            return _recurrent(call, receiver, kind)
        if kind in PRODUCTS:
            return _product(call, call.get(0, "inputs"), _given(receiver, 0, "axes") if kind == "Dot" else Number(1))
    tensor = call.tensor(0, "inputs")
    kept = algebra.by_rows(tensor.batch, made_by) if kind not in ANY_AXIS else algebra.along_last(tensor, made_by)
    return Tensor(kept, (*call.values(),), _dims(tensor, receiver, kind), made_by)


def _sequential(call: Call) -> Value:
    """`Sequential([layer, layer])`, which more layers may be added to."""
    call.walk.effect(EffectKind.OTHER_TRAINING, f"tf.{call.name}", None, call.node)
    made, given = call.typed("Object"), call.get(0, "layers")
    known = given is None or (isinstance(given, Sequence) and not given.many)
    if known:
        made.state[LAYERS_IN] = Sequence([*given.elements] if isinstance(given, Sequence) else [], mutable=True)
    return made


def _add(call: Call) -> Value:
    """`model.add(layer)`; of other objects it is not followed."""
    layers = call.receiver.state.get(LAYERS_IN) if isinstance(call.receiver, Typed) else None
    if layers is None:
        return not_followed(call, call.receiver or Host())
    return follow(call, Bound(layers, "append"), call.args[:1])


def _call_object(call: Call) -> Value:
    """An object of a class of the library, called on a batch: a `Sequential` calls its layers, one after the other.

    Of other Keras models and layers the variables alone are known.
    """
    model = call.receiver
    if not isinstance(model, Typed) or not has(model.name, Trait.KERAS):
        return not_followed(call, model or Host())
    layers, value = model.state.get(LAYERS_IN), call.get(0, "inputs", "x")
    if isinstance(layers, Sequence) and value is not None and _are_layers(layers):
        for layer in layers.elements:
            value = call.walk.stamp(follow(call, layer, [value]), call.node)
        return value
    call.walk.effect(EffectKind.OBJECT_VARIABLE, model.name, model, call.node)
    values = call.values()
    batched = any(tensor.batch.kind != "free" for part in values for tensor in tensors_in(part))
    return call.gives(opaque(Why.UNKNOWN_CALL, f"tf.{model.name}") if batched else FREE)


def _are_layers(layers: Sequence) -> bool:
    """Whether all layers of a model are known."""
    return not layers.many and all(isinstance(one, Instance) or _is_layer(one) for one in layers.elements)


def _is_layer(value: Value) -> bool:
    return isinstance(value, Typed) and (value.kind == "Layer" or LAYERS_IN in value.state)


def _given(layer: Typed, position: int, name: str) -> Value | None:
    """An argument of the call that made a layer."""
    return layer.kwargs.get(name, layer.args[position] if position < len(layer.args) else None)


def _dims(tensor: Tensor, receiver: Value | None, kind: str) -> Dims:
    """The dimensions behind a layer, as far as its class tells them."""
    if kind == "Flatten":
        return (None, shaping.element_count(tensor))
    if kind.startswith("Global"):
        return (None, None)
    if kind == "RepeatVector":
        return (None, None, None)
    if kind in ("Reshape", "TimeDistributed", "Bidirectional"):
        shape = _given(receiver, 0, "target_shape") if isinstance(receiver, Typed) and kind == "Reshape" else None
        return (None, *(None for _ in shape.elements)) if isinstance(shape, Sequence) and not shape.many else None
    if tensor.dims is None:
        return None
    return (*tensor.dims, None) if kind == "Embedding" else (None,) * len(tensor.dims)


def _recurrent(call: Call, receiver: Typed, kind: str) -> Value:
    """The last output of each row or all of them, and the states where they are asked for."""
    tensor = call.tensor(0, "inputs")

    def asks(name: str) -> bool:
        given = receiver.kwargs.get(name)
        return given is not None and not (isinstance(given, Constant) and given.value is False)

    dims: Dims = (None, None, None) if asks("return_sequences") else (None, None)
    kept = algebra.by_rows(tensor.batch, receiver.name)
    made = Tensor(kept, (*call.values(),), dims, receiver.name)
    if not asks("return_state"):
        return made
    states = [Tensor(kept, (*call.values(),), (None, None), receiver.name) for _ in range(RECURRENT[kind])]
    return Sequence([made, *states], mutable=True)


def _of_several(call: Call, given: Value | None, kind: str, axis: Value | None) -> Value:
    """A layer of a list of tensors: element by element, or one behind the other along an axis, by default the last."""
    parts = given.elements if isinstance(given, Sequence) and not given.many else []
    if not parts:
        return call.gives(opaque(Why.UNKNOWN_CALL, call.name))
    if MERGES[kind.capitalize()]:
        made = algebra.elementwise(call.walk.facts, MERGES[kind.capitalize()], parts)
        made.op = f"keras.layers.{kind}"
        return made
    return moving.concat(given or Sequence(parts), axis or Number(-1))


def _product(call: Call, given: Value | None, axes: Value | None) -> Value:
    """`Dot` and attention: a product of the tensors of each example, as long as no axis summed over is the batch's."""
    parts = [algebra.as_tensor(v) for v in given.elements] if isinstance(given, Sequence) and not given.many else []
    over = axes.elements if isinstance(axes, Sequence) and not axes.many else [axes]
    ranks = {tensor.rank for tensor in parts}
    known = all(_is_behind(a, ranks) for a in over)
    kept = {tensor.batch for tensor in parts}
    if len(kept) == 1 and known and all(t.batch.kind == "example" and not t.batch.axis for t in parts):
        return call.gives(kept.pop())
    batched = any(tensor.batch.kind != "free" for tensor in parts) or not parts
    return call.gives(opaque(Why.UNKNOWN_CALL, call.name) if batched else FREE)


def _is_behind(axis: Value | None, ranks: set[int | None]) -> bool:
    """Whether an axis is known not to be the first, of tensors with these numbers of axes."""
    number = axis.value if isinstance(axis, Number) else None
    if not isinstance(number, int):
        return False
    return number > 0 or (number < 0 and all(rank is not None and rank + number > 0 for rank in ranks))


def _dot(call: Call) -> Value:
    """`tf.keras.layers.dot([x, y], 1)`."""
    return _product(call, call.get(0, "inputs"), call.get(1, "axes"))


def _merge(call: Call) -> Value:
    """`tf.keras.layers.add([x, y])` and its like."""
    return _of_several(call, call.get(0, "inputs"), call.name.rpartition(".")[2], call.get(1, "axis"))


def _lambda(call: Call, function: Value) -> Value:
    return algebra.as_tensor(follow(call, function, call.args[:1]))


MERGES = {  # layers of several tensors, and what each does to them element by element
    "Add": "add",
    "Subtract": "subtract",
    "Multiply": "multiply",
    "Average": "add",
    "Maximum": "maximum",
    "Minimum": "minimum",
    "Concatenate": "",
}
RECURRENT = {"LSTM": 2, "GRU": 1, "SimpleRNN": 1, "CuDNNLSTM": 2, "CuDNNGRU": 1}  # with the number of their states
PRODUCTS = ("Dot", "Attention", "AdditiveAttention")  # layers that multiply tensors of the same example
SPATIAL = "Conv{}D MaxPooling{}D MaxPool{}D AveragePooling{}D AvgPool{}D Convolution{}D ZeroPadding{}D UpSampling{}D"
GLOBAL = "GlobalAveragePooling{}D GlobalMaxPooling{}D GlobalAvgPool{}D GlobalMaxPool{}D Cropping{}D SpatialDropout{}D"
LAYERS = [
    *(kind.format(rank) for kind in (*SPATIAL.split(), *GLOBAL.split()) for rank in (1, 2, 3)),
    *(
        "Dense Conv2DTranspose Conv3DTranspose Convolution2DTranspose Convolution3DTranspose SeparableConv1D "
        "SeparableConv2D SeparableConvolution1D SeparableConvolution2D DepthwiseConv2D LocallyConnected1D "
        "LocallyConnected2D Flatten Dropout GaussianNoise GaussianDropout AlphaDropout Embedding BatchNormalization "
        "LayerNormalization Activation ReLU LeakyReLU ELU PReLU ThresholdedReLU Softmax Masking Permute Reshape "
        "RepeatVector TimeDistributed Bidirectional Lambda"
    ).split(),
    *MERGES,
    *RECURRENT,
    *PRODUCTS,
]


def _pad_sequences(call: Call) -> Value:
    """A function of NumPy's arrays: lists of numbers become rows of one length."""
    return Host((Symbol("tf", call.name), *call.args, *call.kwargs.values()), call.name, call.node)


CALLS: dict[str, Handler] = table(
    (below("layers. keras.layers.", LAYERS), makes("Layer")),
    ("keras.layers.dot", _dot),
    (below("keras.layers.", map(str.lower, MERGES)), _merge),
    ("keras.preprocessing.sequence.pad_sequences", _pad_sequences),
    ("Layer.__call__ Layer.apply Layer.call", _call_layer),
    (SEQUENTIAL, _sequential),
    ("Object.add", _add),
    ("Object.__call__ Object.call", _call_object),
)
