"""Operations that are told places: rows of a batch by their numbers, entries of a sparse tensor, boxes in images.

Source: array_ops.py, sparse_ops.py, image_ops_impl.py and ctc_ops.py of TensorFlow 1.15, and runs of each operation on
a whole batch and on its halves.
"""

from __future__ import annotations

from converter.analysis.call import Call, Handler
from converter.analysis.reasons import Why
from converter.analysis.rows import table
from converter.analysis.tensors import algebra, shaping
from converter.analysis.tensors.places import are_fed, count_rows, own_row_first
from converter.analysis.tensors.sparse import PATHS, is_sparse, taken_as_sparse
from converter.analysis.traits import Trait
from converter.analysis.values import FREE, Batch, Sequence, Tensor, Value, opaque, tensors_in

ROWS = Batch("example", 0)


def _crop(call: Call) -> Value:
    """`crop_and_resize`: one crop for each box, of the image whose number stands beside the box."""
    images, boxes, numbers = call.tensor(0, "image"), call.tensor(1, "boxes"), call.tensor(2, "box_ind", "box_indices")
    kept = boxes.batch if boxes.batch.kind != "free" else numbers.batch
    if images.batch.kind == "free":
        return call.gives(kept, (None,) * 4)
    if images.batch == ROWS and kept == numbers.batch and kept.kind == "example" and count_rows(numbers):
        return call.gives(kept, (None,) * 4)
    return call.gives(_unknown(call, numbers), (None,) * 4)


def _unknown(call: Call, places: Tensor) -> Batch:
    """The batch of what is picked from rows, or put into them, by numbers that are not the rows' own."""
    if are_fed(places):
        return opaque(Why.PLACES_FED, call.name)
    return opaque(Why.PICKED_BY_INDEX if places.batch.kind == "free" else Why.PICKED_BY_PLACE)


def _scatter(call: Call) -> Value:
    """`scatter_nd`: a tensor of a given shape, with updates at the places that are written beside them."""
    return _placed(call, call.tensor(0, "indices"), call.tensor(1, "updates"), call.get(2, "shape"))


def _sparse_to_dense(call: Call) -> Value:
    """`sparse_to_dense(indices, shape, values)`: also of the parts of a sparse tensor."""
    places, values = call.tensor(0, "sparse_indices"), call.tensor(2, "sparse_values")
    of_places, of_values = (_whole_of(part) for part in (places, values))
    if of_places is not None and of_places is of_values:
        return call.gives(of_places.batch, of_places.lengths)
    return _placed(call, places, values, call.get(1, "output_shape"))


def _whole_of(part: Tensor) -> Tensor | None:
    """The sparse tensor of which a tensor is the attribute `indices` or `values`."""
    whole = part.inputs[0] if part.op in ("indices", "values") and part.inputs else None
    return whole if isinstance(whole, Tensor) and is_sparse(whole) else None


def _placed(call: Call, places: Tensor, values: Tensor, shape: Value | None) -> Value:
    entries = shaping.shape_entries(shape)
    batched = [t for v in call.values() for t in tensors_in(v) if algebra.is_batched(t)]
    rows = shaping.batch_entry(call.walk.facts, entries) == 0
    if not batched and not rows:
        return call.gives(FREE, shaping.lengths_of(entries))
    packed = values.batch.kind == "example" and values.batch.axis == 0 and values.batch.packed == places.batch.packed
    alike = values.batch.kind == "free" or packed  # scatter_nd asks for as many updates as there are rows of places
    if rows and alike and own_row_first(places):
        return call.gives(ROWS, shaping.lengths_of(entries))
    return call.gives(_unknown(call, places))


def _indicator(call: Call) -> Value:
    """`sparse_to_indicator`: a row for each row of a sparse tensor."""
    tensor = call.tensor(0, "sp_input")
    taken_as_sparse(tensor)
    size = call.constant(1, "vocab_size")
    dims = (*(tensor.dims or (None, None))[:-1], size if isinstance(size, int) else None)
    return call.gives(tensor.batch, dims)


def _edit_distance(call: Call) -> Value:
    """`edit_distance`: a number for each row of two sparse tensors."""
    pair = [call.tensor(0, "hypothesis"), call.tensor(1, "truth")]
    for tensor in pair:
        taken_as_sparse(tensor)
    kinds = {tensor.batch for tensor in pair}
    known = all(is_sparse(tensor) for tensor in pair) and kinds == {ROWS}
    kept = ROWS if known else FREE if kinds == {FREE} else opaque(Why.UNKNOWN_CALL, call.name)
    return call.gives(kept, (None,))


def _decoder(call: Call) -> Value:
    """CTC decoders: sparse tensors with a row for each sequence, and a row of scores for each."""
    inputs = call.tensor(0, "inputs")
    kept = ROWS if inputs.batch == Batch("example", 1) else inputs.batch
    if kept.kind == "example" and kept is not ROWS:
        kept = opaque(Why.UNKNOWN_CALL, call.name)  # the examples lie along the second axis
    given = call.constant(3, "top_paths") if "beam" in call.name else 1
    greedy = "beam" not in call.name or (len(call.args) < 4 and "top_paths" not in call.kwargs)
    count = 1 if greedy else given if isinstance(given, int) else None
    paths: list[Value] = [Tensor(kept, call.values(), (None, None), PATHS) for _ in range(count or 1)]
    scores = call.gives(kept, (None, count))
    return Sequence([Sequence(paths, mutable=True, many=count is None), scores])


TRAITS: dict[Trait, str] = {
    Trait.TAKES_SPARSE_ROWS: "edit_distance",
}

CALLS: dict[str, Handler] = table(
    ("image.crop_and_resize", _crop),
    ("scatter_nd", _scatter),
    ("sparse_to_dense sparse.sparse_to_dense", _sparse_to_dense),
    ("sparse_to_indicator sparse.to_indicator", _indicator),
    ("edit_distance", _edit_distance),
    ("nn.ctc_greedy_decoder nn.ctc_beam_search_decoder nn.ctc_beam_search_decoder_v2", _decoder),
)
