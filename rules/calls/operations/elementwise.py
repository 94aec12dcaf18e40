"""Operations that work element by element: the batch axis stays where it is."""

from __future__ import annotations

from converter.analysis.call import Call, Handler
from converter.analysis.inputs.embedded_data import data_constant
from converter.analysis.reasons import Why
from converter.analysis.rows import below, keeps, makes, table
from converter.analysis.tensors import algebra, moving, shaping
from converter.analysis.traits import Argument, Trait
from converter.analysis.values import FREE, Batch, Constant, Sequence, ShapeOf, Tensor, Value, opaque


def _elementwise(call: Call) -> Value:
    op = call.name.rpartition(".")[2]
    values = [v for v in (*call.args, *call.kwargs.values()) if not _is_option(v)]
    if op == "add_n" and values and isinstance(values[0], Sequence):
        return algebra.elementwise(call.walk.facts, "add_n", values[0].elements or values)
    return algebra.elementwise(call.walk.facts, SPELLINGS.get(op, op), values)


def _is_option(value: Value) -> bool:
    return isinstance(value, Constant)


def _first(call: Call) -> Value:
    """Works element by element on its first argument; the others are settings."""
    tensor = call.tensor(
        0, "x", "tensor", "input", "inputs", "features", "logits", "value", "values", "input_tensor", "input_"
    )
    op = SPELLINGS.get(op := call.name.rpartition(".")[2], op)
    result = algebra.elementwise(call.walk.facts, op, [tensor])
    result.inputs = tuple(call.values())
    return result


# Operations along an axis, with the default axis; None if the default is all axes.
ALONG = {
    "cumsum": 0,
    "cumprod": 0,
    "nn.softmax": -1,
    "softmax": -1,
    "nn.log_softmax": -1,
    "nn.l2_normalize": None,
    "clip_by_norm": None,
    "clip_by_average_norm": None,
}


def _ensure_shape(call: Call) -> Value:
    result, entries = _first(call), shaping.shape_entries(call.get(1, "shape"))
    if isinstance(result, Tensor) and entries is not None:
        result.lengths = algebra.broadcast([result, Tensor(lengths=shaping.lengths_of(entries))])
    return result


def _cast(call: Call) -> Value:
    given = call.get(0, "x")
    if isinstance(given, ShapeOf):
        return given  # the same lengths, as other numbers
    data = data_constant(call.walk, given, call.node)
    return data if data is not None else _first(call)


def _along(call: Call) -> Value:
    """An operation along an axis: the result is opaque if that is the batch axis."""
    result = _first(call)
    assert isinstance(result, Tensor)
    given = call.get(2 if call.name.startswith("clip_") else 1, "axis", "axes", "dim")
    axes = moving.axis_numbers(given) if given is not None else (ALONG[call.name],)
    if result.batch.kind != "example":
        return result
    if isinstance(axes, tuple) and None not in axes:
        front = [moving.positive(a, result.rank, result.batch.axis) for a in axes if a is not None]
        if result.batch.axis not in front:
            return result
    result.batch = opaque(Why.ALONG_BATCH, call.name)
    return result


def _rows_alone(tensor: Tensor, name: str) -> Batch:
    """The batch of a result that has the shape of a tensor, and none of its numbers."""
    return tensor.batch if tensor.batch.kind == "example" else FREE


def _where(call: Call) -> Value:
    if len(call.args) + len(call.kwargs) < 3:
        found = algebra.elementwise(call.walk.facts, "where", call.values()[:1])
        found.lengths = None if found.lengths is None else (None, found.rank)
        if found.batch.kind != "free":
            found.batch = opaque(Why.PLACES)
        return found
    sides = [call.tensor(1, "x"), call.tensor(2, "y")]
    chosen = algebra.elementwise(call.walk.facts, "where", sides)
    if (picked := _rows_of_either(call, chosen)) is not None:
        return picked
    if call.tensor(0, "condition").batch.kind == "free" and all(t.batch.kind in ("free", "reduced") for t in sides):
        chosen.batch = algebra.combine(sides, "add")  # one of the two, the same in each tower
        chosen.inputs = tuple(call.values())
        return chosen
    made = _elementwise(call)
    if isinstance(made, Tensor) and made.rank is None:
        made.lengths = chosen.lengths  # that of both sides, whatever is known of the condition
    return made


def _rows_of_either(call: Call, chosen: Tensor) -> Value | None:
    """`tf.where` with a vector condition picks whole rows (array_ops.py, 1.15); None for other conditions.

    chosen: what the two sides give, element by element.
    """
    condition = call.tensor(0, "condition")
    if condition.rank != 1 or condition.batch.kind != "example" or chosen.rank in (None, 0, 1):
        return None
    if chosen.batch.kind == "free":
        chosen.batch = condition.batch
    elif chosen.batch.kind != "example" or chosen.batch.axis or chosen.batch.packed != condition.batch.packed:
        return None
    chosen.inputs = tuple(call.values())
    return chosen


SPELLINGS = {
    "mul": "multiply",
    "sub": "subtract",
    "div": "divide",
    "truediv": "divide",
    "realdiv": "divide",
    "div_no_nan": "divide",
    "floordiv": "divide",
    "neg": "negative",
    "scalar_mul": "multiply",
}

BINARY = (
    "add multiply mul subtract sub divide div truediv realdiv floordiv div_no_nan floor_div add_n accumulate_n pow "
    "maximum minimum mod floormod squared_difference equal not_equal greater greater_equal less less_equal "
    "logical_and logical_or logical_xor atan2 complex nn.bias_add nn.sigmoid_cross_entropy_with_logits "
    "nn.weighted_cross_entropy_with_logits igamma lerp scalar_mul igammac xdivy xlogy multiply_no_nan truncatediv "
    "truncatemod cross linalg.cross keras.backend.binary_crossentropy polygamma zeta betainc nextafter "
    "nn.log_poisson_loss where_v2"
).split()
UNARY = (
    "abs negative neg exp log log1p expm1 sqrt rsqrt square sign sin cos tan tanh sigmoid asin acos atan ceil floor "
    "round rint reciprocal erf lgamma digamma logical_not to_int32 to_int64 identity stop_gradient clip_by_value "
    "is_nan is_inf is_finite check_numerics verify_tensor_all_finite real imag nn.relu nn.relu6 nn.elu nn.selu "
    "nn.crelu nn.leaky_relu nn.softplus nn.softsign nn.sigmoid nn.tanh nn.lrn nn.local_response_normalization "
    "nn.dropout nn.swish log_sigmoid nn.batch_norm_with_global_normalization layers.dropout contrib.layers.dropout "
    "contrib.slim.dropout as_string decode_raw Print contrib.layers.softmax contrib.slim.softmax guarantee_const "
    "quantize image.per_image_standardization random_crop bitcast saturate_cast acosh asinh atanh cosh sinh erfc conj "
    "angle to_bfloat16 to_complex64 to_complex128 reciprocal_no_nan bessel_i0 bessel_i0e bessel_i1 bessel_i1e "
    "fake_quant_with_min_max_args fake_quant_with_min_max_vars string_to_number string_strip substr "
    "string_to_hash_bucket string_to_hash_bucket_fast string_to_hash_bucket_strong regex_replace strings.length "
    "strings.lower strings.upper strings.regex_full_match decode_base64 encode_base64 contrib.nn.alpha_dropout "
    "contrib.nn.scaled_softplus"
).split()

POSITIONS: dict[Argument, dict[str, int]] = {Argument.NAME: {"identity": 1}}

TRAITS: dict[Trait, str] = {
    Trait.COMPUTES_ONE: (
        "cast to_float to_int32 identity abs sqrt square exp log add subtract multiply div divide maximum minimum "
        "greater greater_equal less less_equal equal not_equal stop_gradient ones_like zeros_like"
    ),
    Trait.CLIPS_ENTRIES: "clip_by_value",
    Trait.DIVIDES_OR_MULTIPLIES: "divide div truediv multiply scalar_mul",
    Trait.DATA_PAIR: (
        "add subtract sub multiply mul divide div truediv squared_difference nn.sigmoid_cross_entropy_with_logits"
    ),
    Trait.DATA_FIRST: "identity square",
    Trait.LINEAR: (
        "identity cast negative to_float to_double check_numerics verify_tensor_all_finite Print stop_gradient"
    ),
    Trait.OTHER_FLOATS: "float64 double to_double float16 half",
    Trait.ADDS: "add subtract add_n",
    Trait.DENSE_GRADIENT: "add subtract multiply divide bias_add nn.bias_add",
    Trait.ADDS_LIST: "add_n",
    Trait.SAME: "identity",
    Trait.SCALES: "multiply divide",
    Trait.COUNTS: (
        "reduce cast to_float to_double sign not_equal equal greater greater_equal less less_equal compare logical_and "
        "logical_or logical_not bitwise invert abs add multiply subtract maximum minimum clip_by_value where "
        "zeros_like ones_like subscript identity stop_gradient square"
    ),
    Trait.GUARDS: "add identity maximum",
    Trait.ANY_AXIS: (
        "add subtract multiply divide pow mod negative square squared_difference abs sqrt exp log sin cos tanh "
        "sigmoid relu softplus identity cast reduce moments maximum minimum rsqrt log1p expm1 sign tan asin acos atan "
        "sinh cosh ceil floor round rint reciprocal erf erfc lgamma digamma igamma igammac xdivy xlogy relu6 elu selu "
        "leaky_relu softsign swish log_sigmoid clip_by_value stop_gradient"
    ),
    Trait.KEEPS_SPARSE: "cast identity to_float to_double to_int32 to_int64",
    Trait.OF_ONE_NUMBER: (
        "add subtract multiply divide pow mod negative exp log sqrt square maximum minimum cast to_float identity "
        "add_n abs stop_gradient reciprocal"
    ),
    Trait.FLOAT32: "to_float image.per_image_standardization",
    Trait.OWN_DTYPE: (
        "cast saturate_cast bitcast decode_raw equal not_equal greater greater_equal less less_equal is_nan "
        "is_inf is_finite rank to_int32 to_int64 to_double string_to_number"
    ),
    Trait.TAKES_DTYPE: "cast",
    Trait.INTEGER: "to_int32 to_int64",
    Trait.CASTS: "cast to_float to_double to_int32 to_int64 identity",
    Trait.SAME_NUMBERS: "cast to_int32 to_int64 identity",
    Trait.CHOOSES: "where",
    Trait.PASSES_ROW_NUMBERS: "add subtract multiply cast to_float to_int32 to_int64 identity",
    Trait.TELLS_ROWS: "mod floormod compare equal not_equal less less_equal greater greater_equal maximum minimum",
    Trait.ROW_BY_ROW: (
        "add subtract multiply divide maximum minimum where select where_v2 pow mod floormod squared_difference "
        "compare equal not_equal greater greater_equal less less_equal logical_and logical_or logical_xor add_n "
        "accumulate_n sigmoid_cross_entropy_with_logits weighted_cross_entropy_with_logits binary_crossentropy igamma "
        "igammac xdivy xlogy multiply_no_nan atan2 complex lerp truncatediv truncatemod floor_div polygamma zeta "
        "betainc nextafter log_poisson_loss"
    ),
    Trait.BESIDE_ROWS: "where select",
    Trait.COMPARES: "equal not_equal compare greater greater_equal less less_equal assert_*",
    Trait.IN_DENOMINATOR: "cast to_float identity reduce add maximum",
    Trait.TAKES_NUMBERS: "add_n accumulate_n",
    Trait.ELEMENT_BY_ELEMENT: (
        "clip_by_value identity scalar_mul cast multiply negative sign zeros_like check_numerics"
    ),
    Trait.OF_ONE_VARIABLE: "zeros_like",
    Trait.ONES: "ones ones_like",
    Trait.ZEROS: "zeros zeros_like",
    Trait.ADDITIVE: "square abs multiply scalar_mul pow float",
}

# tables whose entries are single values (lookup_ops.py, 1.15): each key is looked up by itself
TABLES = (
    "HashTable StaticHashTable StaticVocabularyTable IdTableWithHashBuckets index_table_from_file "
    "index_table_from_tensor index_to_string_table_from_file index_to_string_table_from_tensor"
)

CALLS: dict[str, Handler] = table(
    (BINARY, _elementwise),
    (UNARY, _first),
    ("ensure_shape", _ensure_shape),
    ("cast to_float to_double", _cast),
    ("zeros_like ones_like contrib.layers.zeros_like", keeps("tensor", "input", batch=_rows_alone)),
    (ALONG, _along),
    ("where select", _where),
    (below("lookup. contrib.lookup.", TABLES), makes("Table")),
    ("Table.lookup", keeps("keys", batch=lambda keys, name: algebra.not_linear(keys.batch))),
)
