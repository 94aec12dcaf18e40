"""Layers of a network: convolutions, pooling, dense layers and the losses on logits."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING

from converter.analysis.call import Call, Context, Handler
from converter.analysis.effects import EffectKind
from converter.analysis.python.following import follow
from converter.analysis.reasons import Why
from converter.analysis.rows import below, keeps, one_more, table
from converter.analysis.tensors import algebra, shaping
from converter.analysis.tensors.lengths import of_number, windows
from converter.analysis.tensors.places import are_fed, gathered
from converter.analysis.tensors.sparse import taken_as_sparse
from converter.analysis.traits import Trait
from converter.analysis.values import (
    Batch,
    Bound,
    Constant,
    Factor,
    Function,
    Host,
    Input,
    Lengths,
    Number,
    Sequence,
    Symbol,
    Tensor,
    Typed,
    Value,
    is_none,
    needed,
    opaque,
    other,
    tensors_in,
)
from rules.calls.operations.static_shape import take_rows

if TYPE_CHECKING:
    from converter.analysis.walk import Walk


def _channels(call: Call) -> Factor:
    count = call.get(1, "filters", "num_outputs", "units")
    return of_number(count) if isinstance(count, Number) else None


def _layer(call: Call) -> Value:
    """A layer with variables: the batch axis stays, the last dimension is the layer's."""
    tensor = call.tensor(0, "inputs", "x", "input", "value")
    call.walk.effect(EffectKind.VARIABLE, call.name, None, call.node)
    _normalizer(call)
    dims: Lengths = None if tensor.lengths is None else (None, *_spatial_lengths(call, tensor), _channels(call))
    dense = call.name.rpartition(".")[2] in DENSE
    if tensor.lengths is not None and dense:
        dims = (*tensor.lengths[:-1], _channels(call))
    kept = algebra.along_last(tensor, call.name) if dense else algebra.by_rows(tensor.batch, call.name)
    linear = tensor.batch.kind == "reduced" and _is_linear(call)
    return call.gives(tensor.batch if linear else kept, dims)


def _normalized(call: Call) -> Value:
    """A layer with variables whose result has the shape of its input."""
    made = _layer(call)
    assert isinstance(made, Tensor)
    made.lengths = call.tensor(0, "inputs").lengths
    return made


def _is_linear(call: Call) -> bool:
    """Whether a layer applies no function that is not linear: `tf.contrib`'s rectify unless they are told otherwise."""
    if call.name.rpartition(".")[2] == "fully_connected":
        scoped = next(call.walk.facts.effects_of(EffectKind.BATCH_NORM_SCOPE), None) is not None
        applied = call.get(2, "activation_fn")
        return applied is not None and is_none(applied) and is_none(call.get(3, "normalizer_fn")) and not scoped
    applied = call.get(2, "activation") if call.name == "layers.dense" else call.kwargs.get("activation")
    return call.name.startswith("layers.") and is_none(applied)


def _spatial_lengths(call: Call, tensor: Tensor) -> tuple[Factor, ...]:
    """Height and width after a convolution or pooling, by TensorFlow's rules for SAME and VALID padding."""
    assert tensor.lengths is not None
    inner = tensor.lengths[1:-1]
    unknown = (None,) * len(inner)
    plain = call.name in WITH_STRIDES or call.name.startswith("layers.")
    other = any(map(call.given, ("data_format", "dilation_rate", "dilations")))
    if "transpose" in call.name or not plain or other:
        return unknown
    at = {"nn": (1, 2, 3), "layers": (1, 2, 3) if "pool" in call.name else (2, 3, 4)}[call.name.split(".")[0]]
    sizes = _each_way(call.get(at[0], "ksize", "pool_size", "kernel_size"), len(inner))
    filters = call.get(1, "filter", "filters")
    if isinstance(filters, Tensor) and filters.lengths and len(filters.lengths) > len(inner):
        sizes = list(filters.lengths[: len(inner)])
    given = call.get(at[1], "strides", "stride")
    strides = _each_way(given, len(inner)) if given is not None else [1] * len(inner)
    padding = str(call.constant(at[2], "padding") or ("VALID" if call.name.startswith("layers.") else "")).upper()
    if padding not in ("SAME", "VALID") or not len(inner) == len(sizes) == len(strides):
        return unknown
    ways = zip(inner, sizes if padding == "VALID" else [1] * len(inner), strides, strict=True)
    return tuple(windows(length, size, stride) for length, size, stride in ways)


def _each_way(value: Value | None, count: int) -> list[Factor]:
    """One number for each inner dimension: from a scalar, or from a list that may hold batch and channels too."""
    if isinstance(value, Sequence):
        numbers = [of_number(e) if isinstance(e, Number) else None for e in value.elements]
        return numbers[1:-1] if len(numbers) == count + 2 else numbers if len(numbers) == count else [None] * count
    return [of_number(value) if isinstance(value, Number) else None] * count


def _normalizer(call: Call) -> None:
    """`normalizer_fn=slim.batch_norm` makes update ops as the layer itself would."""
    by_name = [call.kwargs.get(name) for name in ("normalizer_fn", "activation_fn", "activation")]
    given = [value for value in (*by_name, *call.args[2:]) if value is not None]  # or by position, behind the sizes
    if any(isinstance(value, Symbol) and "batch_norm" in value.name for value in given):
        call.walk.effect(EffectKind.BATCH_NORM, call.name, None, call.node)
    for value in given:
        if isinstance(value, Function):
            follow(call, value, [call.tensor(0, "inputs")])


def _arg_scope(call: Call) -> Value:
    """slim.arg_scope: defaults for the layers inside; a normalizer among them counts for all of them."""
    for value in call.kwargs.values():
        if isinstance(value, Symbol) and "batch_norm" in value.name:
            call.walk.effect(EffectKind.BATCH_NORM_SCOPE, call.name, None, call.node)
    scoped = call.get(0, "list_ops_or_scope")
    if isinstance(scoped, Sequence) and any(isinstance(v, Symbol) and "batch_norm" in v.name for v in scoped.elements):
        call.walk.effect(EffectKind.BATCH_NORM_SCOPE, call.name, None, call.node)
    return call.typed("ArgScope")


def _enter_arg_scope(walk: Walk, scope: Typed, node: ast.expr) -> Callable[[], object]:
    """Inside, functions of the script that the scope names are given its arguments, unless a call gives others."""
    named = scope.args[0] if scope.args else None
    if isinstance(named, Typed) and named.kind == scope.kind:
        return _enter_arg_scope(walk, named, node)  # `with arg_scope(scope):`
    functions = [v for v in named.elements if isinstance(v, Function)] if isinstance(named, Sequence) else []
    walk.given.append((frozenset(function.node for function in functions), scope.kwargs))
    return walk.given.pop


def _batch_norm(call: Call) -> Value:
    tensor = call.tensor(0, "inputs", "x")
    call.walk.effect(EffectKind.VARIABLE, call.name, None, call.node)
    call.walk.effect(EffectKind.BATCH_NORM, call.name, _training(call), call.node)
    return call.gives(algebra.not_linear(tensor.batch), tensor.lengths)


def _training(call: Call) -> Value | None:
    """What a batch norm is told of being in training; None if an arg_scope may tell it.

    Source: layers/normalization.py (False unless it is told) and contrib/layers/python/layers/layers.py (True) of 1.15.
    """
    plain = call.name.startswith("layers.")
    told = call.get(14, "training") if plain else call.get(9, "is_training")
    if told is not None:
        return told
    scoped = not plain and next(call.walk.facts.effects_of(EffectKind.BATCH_NORM_SCOPE), None) is not None
    return None if scoped else Constant(not plain)


def _fused_batch_norm(call: Call) -> Value:
    tensor = call.tensor(0, "x")
    kept = Batch("reduced", how="other", why=Why.STATISTIC)
    statistics = [Tensor(kept, call.values(), (None,)) for _ in range(2)]
    return Sequence([call.gives(algebra.not_linear(tensor.batch), tensor.lengths), *statistics])


def _spatial(call: Call) -> Value:
    """Convolution or pooling by an operation: rank stays."""
    tensor = call.tensor(0, "input", "value", "inputs", "x")
    if call.name.startswith("nn.conv2d_transpose") and tensor.batch.kind == "free":
        tensor = call.tensor(0, "value", "input")
    last = tensor.lengths[-1] if tensor.lengths and "pool" in call.name else None
    dims: Lengths = None if tensor.lengths is None else (None, *_spatial_lengths(call, tensor), last)
    filters = call.get(1, "filter", "filters")
    if dims and isinstance(filters, Tensor) and filters.lengths:
        dims = (*dims[:-1], filters.lengths[-2 if "transpose" in call.name else -1])
    told = shaping.lengths_of(shaping.shape_entries(call.get(2, "output_shape"))) if "transpose" in call.name else None
    if dims and told:
        dims = (told[0], *dims[1:])
    largest = "max" in call.name or (call.name.endswith(".pool") and call.constant(2, "pooling_type") != "AVG")
    linear = tensor.batch.kind == "reduced" and not largest
    kept = tensor.batch if linear else algebra.by_rows(tensor.batch, call.name)
    return call.gives(kept, dims)


def _flatten(call: Call) -> Value:
    tensor = call.tensor(0, "inputs")
    kept = tensor.batch if tensor.batch.kind == "reduced" else algebra.by_rows(tensor.batch, call.name)
    return call.gives(kept, (None, shaping.element_count(tensor)))


def _per_row_loss(call: Call) -> Value:
    """A loss for each row: the class axis of the logits is gone."""
    logits = call.tensor(0, "logits") if "logits" in call.kwargs else call.tensor(0)
    labels = call.kwargs.get("labels") or call.get(1)
    axis = call.constant(2, "dim", "axis")
    if isinstance(labels, Input) and labels.batch == Batch("example", 0):
        take_rows(call, logits)
    if isinstance(labels, Input) and labels.shape is None and logits.batch.kind == "example" and not logits.batch.axis:
        call.walk.effect(EffectKind.LABELS, call.name, labels, call.node)
    unseen = logits.batch.kind == "free" and any(isinstance(v, (Host, Bound)) for v in needed([logits]).values())
    if logits.batch.kind == "free" and isinstance(labels, Tensor) and labels.batch.kind != "free":
        logits = labels if "sparse" not in call.name else Tensor(labels.batch, (labels,), None)
    operands = [t for t in (logits, algebra.as_tensor(labels) if labels is not None else None) if t is not None]
    kept = logits.batch if "sparse" in call.name else algebra.combine(operands)
    if {t.batch.packed for t in operands if t.batch.kind == "example"} >= {"", "minor"}:
        kept = opaque(Why.CONFLICT)
    if unseen and kept.kind == "example":
        kept = opaque(Why.UNSEEN)
    kept = algebra.not_linear(kept) if axis not in (None, -1) or "sparse" in call.name else _but_classes(operands, kept)
    dims = None if logits.lengths is None else logits.lengths[:-1]
    if isinstance(axis, int) and axis >= 0 and kept.kind == "example" and axis <= kept.axis:
        before = axis < kept.axis
        kept = Batch("example", max(kept.axis - 1, 0), kept.rows) if before else other(Why.CLASSES)
    return call.gives(kept, dims)


def _but_classes(operands: list[Tensor], kept: Batch) -> Batch:
    """The batch of a loss along the last axis: none where that is the axis of the examples."""
    last = any(map(algebra.has_examples_last, operands))
    return other(Why.CLASSES) if last and kept.kind == "example" else algebra.not_linear(kept)


def _sampled_loss(call: Call) -> Value:
    """nce_loss and sampled_softmax_loss: a value for each example, with candidates drawn per tower."""
    labels, inputs = call.tensor(2, "labels"), call.tensor(3, "inputs")
    kept = inputs.batch if inputs.batch.kind == "example" else labels.batch
    if kept.kind == "example":
        kept = Batch("example", 0, kept.rows)
    return call.gives(algebra.not_linear(kept), (None,))


def _embedding(call: Call) -> Value:
    if call.name.endswith("_sparse"):
        taken_as_sparse(call.get(1, "sp_ids"))
        taken_as_sparse(call.get(2, "sp_weights"))
    ids, params = call.tensor(1, "ids", "sp_ids"), call.get(0, "params")
    if params is not None and any(t.batch.kind != "free" for t in tensors_in(params)):  # no table: rows of the batch
        if isinstance(params, Tensor) and not call.name.endswith("_sparse"):
            return gathered(call.walk.facts, params, ids, 0, tuple(call.values()), call.name)
        kept = opaque(Why.PLACES_FED, call.name) if are_fed(ids) else opaque(Why.PICKED_BY_INDEX)
        return call.gives(kept)
    width = params.lengths[1:] if isinstance(params, Tensor) and params.lengths else (None,)
    dims = (None, *width) if call.name.endswith("_sparse") else None if ids.lengths is None else (*ids.lengths, *width)
    return call.gives(ids.batch, dims)


def _stack_layers(call: Call) -> Value:
    """slim.repeat and slim.stack: a layer function applied again and again."""
    tensor = call.tensor(0, "inputs")
    layer = call.get(2 if call.name.endswith("repeat") else 1, "layer")
    rest = call.args[3:] if call.name.endswith("repeat") else []
    if layer is None:
        return call.gives(algebra.not_linear(tensor.batch))
    result = follow(call, layer, [tensor, *rest], call.kwargs)
    return Tensor(result.batch, (*call.values(), result), None, call.name) if isinstance(result, Tensor) else result


WITH_STRIDES = ("nn.conv1d", "nn.conv2d", "nn.conv3d", "nn.max_pool", "nn.avg_pool", "nn.max_pool3d", "nn.avg_pool3d")
LAYERS = (
    "layers.conv1d layers.conv2d layers.conv3d layers.separable_conv1d layers.separable_conv2d "
    "layers.conv2d_transpose layers.conv3d_transpose layers.dense"
).split()
SLIM = (
    "conv2d convolution convolution2d conv2d_transpose convolution2d_transpose separable_conv2d "
    "separable_convolution2d conv2d_in_plane convolution2d_in_plane convolution1d convolution3d "
    "conv3d_transpose convolution3d_transpose fully_connected linear relu relu6 conv1d conv3d bias_add"
).split()
SPATIAL = (
    "nn.conv1d nn.conv2d nn.conv3d nn.depthwise_conv2d nn.separable_conv2d nn.atrous_conv2d nn.conv2d_transpose "
    "nn.conv3d_transpose nn.convolution nn.max_pool nn.avg_pool nn.max_pool3d nn.avg_pool3d nn.pool nn.dilation2d "
    "layers.max_pooling1d layers.max_pooling2d layers.max_pooling3d layers.average_pooling1d layers.average_pooling2d "
    "layers.average_pooling3d nn.avg_pool1d nn.max_pool1d nn.conv1d_transpose nn.atrous_conv2d_transpose "
    "nn.depthwise_conv2d_native nn.max_pool2d nn.avg_pool2d nn.erosion2d nn.fractional_max_pool"
).split()
DENSE = ("dense", "fully_connected", "linear", "relu", "relu6", "bias_add")  # any axes but the last are rows
BOTH = [f"contrib.{module}." for module in ("slim", "layers")]

TRAITS: dict[Trait, str] = {
    Trait.COLLECTED_BY_NAME_SCOPE: (
        "contrib.slim.max_pool2d contrib.slim.avg_pool2d contrib.slim.max_pool3d contrib.slim.avg_pool3d "
        "contrib.slim.pool contrib.slim.flatten contrib.layers.max_pool2d contrib.layers.avg_pool2d "
        "contrib.layers.max_pool3d contrib.layers.avg_pool3d contrib.layers.pool contrib.layers.flatten"
    ),
    Trait.UPDATES_COLLECTION: "update_ops",
    Trait.NORMALIZES: "batch_normalization batch_norm BatchNormalization fused_batch_norm",
    Trait.ADDS_UP: "nn.l2_loss",
    Trait.DATA_PAIR: (
        "nn.softmax_cross_entropy_with_logits nn.softmax_cross_entropy_with_logits_v2 "
        "nn.sparse_softmax_cross_entropy_with_logits"
    ),
    Trait.ROW_BY_ROW: "nn.softmax_cross_entropy_with_logits nn.softmax_cross_entropy_with_logits_v2",
    Trait.BESIDE_ROWS: "nn.sparse_softmax_cross_entropy_with_logits",
    Trait.TOLD_WIDTH: "nn.nce_loss nn.sampled_softmax_loss",
    Trait.DATA_FIRST: "layers.dense layers.conv1d layers.conv2d contrib.layers.fully_connected nn.conv2d",
    Trait.TAKES_SPARSE_ROWS: "nn.embedding_lookup_sparse",
    Trait.LAYER: "layers.* contrib.* keras.*",
    Trait.MODULE_OF_LAYERS: "layers contrib",
    Trait.OF_OBJECTS: "keras.*",
    Trait.NAMES_NO_OUTPUT: "layers.* contrib.* keras.* losses.*",
    Trait.LOOKS_UP: "nn.embedding_lookup",
    Trait.DENSE_GRADIENT: (
        "nn.conv2d nn.conv2d_transpose layers.dense layers.conv1d layers.conv2d layers.conv2d_transpose "
        "layers.separable_conv2d layers.batch_normalization contrib.layers.fully_connected contrib.layers.conv2d "
        "contrib.layers.conv2d_transpose contrib.layers.batch_norm contrib.slim.fully_connected contrib.slim.conv2d "
        "contrib.slim.conv2d_transpose contrib.slim.batch_norm"
    ),
    Trait.TAKES_ROWS_OF_SLICES: "embedding_lookup",
    Trait.TAKES_ROWS: (
        "embedding_lookup embedding_lookup_sparse safe_embedding_lookup_sparse embedding_lookup_unique nce_loss "
        "sampled_softmax_loss"
    ),
    Trait.MAKES_TABLES: (
        "embed_sequence embedding_column shared_embedding_columns input_layer linear_model input_from_feature_columns"
    ),
}

CONTEXTS: dict[str, Context] = {"ArgScope": _enter_arg_scope}

CALLS: dict[str, Handler] = table(
    (LAYERS, _layer),
    (below(BOTH, SLIM), _layer),
    ((*below(BOTH, "batch_norm"), "layers.batch_normalization"), _batch_norm),
    (below(BOTH, "layer_norm instance_norm group_norm unit_norm"), _normalized),
    ("nn.fused_batch_norm", _fused_batch_norm),
    ("contrib.slim.arg_scope contrib.framework.arg_scope", _arg_scope),
    (SPATIAL, _spatial),
    (below(BOTH, "pool max_pool2d max_pool3d avg_pool2d avg_pool3d"), _spatial),
    (below(("layers.", *BOTH), "flatten"), _flatten),
    (below("nn.softmax_ nn.sparse_softmax_", "cross_entropy_with_logits"), _per_row_loss),
    ("nn.softmax_cross_entropy_with_logits_v2", _per_row_loss),
    ("nn.nce_loss nn.sampled_softmax_loss", _sampled_loss),
    ("nn.embedding_lookup nn.embedding_lookup_sparse contrib.layers.embedding_lookup_unique", _embedding),
    ("contrib.layers.embed_sequence", keeps("ids", lengths=one_more, effect=EffectKind.VARIABLE)),
    (below(BOTH, "repeat stack"), _stack_layers),
)
