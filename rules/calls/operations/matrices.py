"""Operations on matrices, `[…, rows, columns]`, and transforms along the last axes: the axes in front stay.

Source: array_ops.py, linalg_impl.py, linalg_ops.py and spectral_ops.py of TensorFlow 1.15.
"""

from __future__ import annotations

from converter.analysis.call import Call, Handler
from converter.analysis.reasons import Why
from converter.analysis.rows import table, together
from converter.analysis.tensors import algebra
from converter.analysis.values import Batch, Lengths, Record, Tensor, Value, opaque


def _in_front(call: Call, tensor: Tensor, axes: int) -> Batch:
    """The batch of a result, where an operation works on the last axes of a tensor: it must lie in front of them."""
    kept = tensor.batch
    if kept.kind != "example":
        return kept
    if tensor.rank is None or kept.axis >= tensor.rank - axes:
        return opaque(Why.MATRIX_OF_BATCH, call.name)
    return kept


def _of_last(axes: int, change: int) -> Handler:
    """A handler for an operation on the last axes; change: how many axes the result has more, or fewer."""

    def handle(call: Call) -> Value:
        tensor = call.tensor(0, "input", "tensor", "matrix", "x", "a", "diagonal", *SIGNALS)
        dims = None if tensor.rank is None else (None,) * max(tensor.rank + change, 0)
        if "k" in call.kwargs and change:  # several diagonals are a matrix
            dims = None
        return call.gives(_in_front(call, tensor, axes), dims)

    return handle


def _on_diagonal(call: Call) -> Value:
    """`tf.diag(x)`, of shape `x.shape + x.shape`: the examples lie along two of the axes (array_ops.diag, 1.15)."""
    tensor = call.tensor(0, "diagonal")
    dims = None if tensor.rank is None else (None,) * (2 * tensor.rank)
    return call.gives(opaque(Why.PAIRED) if tensor.batch.kind == "example" else tensor.batch, dims)


def _diagonals(call: Call) -> Value:
    """`tf.matrix_diag(x)`: a matrix of each row; of a vector of examples, one matrix with them along both axes."""
    tensor = call.tensor(0, "diagonal")
    alone = tensor.rank == 1 and tensor.batch.kind == "example"
    return _on_diagonal(call) if alone else _of_last(1, 1)(call)


def _part(call: Call) -> Value:
    """One of the parts of a matrix, of any number of axes."""
    kept = _in_front(call, call.tensor(0, "input", "tensor", "matrix"), 2)
    return call.gives(kept)


def _svd(call: Call) -> Value:
    return _part(call) if call.constant(2, "compute_uv") is False else together(_part, _part, _part)(call)


def _solve(call: Call) -> Value:
    """The solution for a matrix and right sides: the axes in front of both are the same."""
    names: tuple[tuple[str, ...], ...] = (("matrix", "chol", "a"), ("rhs", "b"))
    both = [call.tensor(at, *given) for at, given in enumerate(names)]
    batched = [_in_front(call, t, 2) for t in both if t.batch.kind != "free"]
    if len(batched) == 2 and batched[0] != batched[1] or len({t.rank for t in both}) > 1:
        return call.gives(opaque(Why.MATRIX_OF_BATCH, call.name))
    return call.gives(batched[0] if batched else Batch(), both[1].dims)


def _matvec(call: Call) -> Value:
    """Matrices times vectors: `[…, m, n]` and `[…, n]` give `[…, m]`."""
    matrix, vector = call.tensor(0, "a"), call.tensor(1, "b")
    if matrix.batch.kind == "free" and matrix.rank == 2:
        return call.gives(_in_front(call, vector, 1), vector.lengths)
    kept = _in_front(call, matrix, 2)
    known = matrix.rank is not None and vector.rank is not None and vector.rank == matrix.rank - 1
    fits = vector.batch.kind == "free" or _in_front(call, vector, 1) == kept
    if matrix.batch.kind == "free" and vector.batch.kind == "free" or (known and fits):
        return call.gives(kept, vector.lengths)
    return call.gives(opaque(Why.MATRIX_OF_BATCH, call.name))


def _set_diagonal(call: Call) -> Value:
    tensor, diagonal = call.tensor(0, "input"), call.tensor(1, "diagonal")
    kept = _in_front(call, tensor, 2)
    if diagonal.batch.kind != "free" and _in_front(call, diagonal, 1) != kept:
        kept = opaque(Why.MATRIX_OF_BATCH, call.name)
    return call.gives(kept, tensor.lengths)


def _roll(call: Call) -> Value:
    """`tf.roll` and `tf.sort` along an axis other than the batch's."""
    from converter.analysis.tensors import moving

    tensor = call.tensor(0, "input", "values")
    given = call.get(2, "axis") if call.name == "roll" else call.get(1, "axis")
    axes = moving.axis_numbers(given) if given is not None else (-1,)
    kept = tensor.batch if call.name == "roll" else algebra.not_linear(tensor.batch)
    if kept.kind == "example":
        numbers = axes if isinstance(axes, tuple) else (None,)
        places = [None if n is None else moving.positive(n, tensor.rank, kept.axis) for n in numbers]
        kept = opaque(Why.ALONG_BATCH, call.name) if None in places or kept.axis in places else kept
    return call.gives(kept, tensor.lengths)


def _batch_gather(call: Call) -> Value:
    """Entries of each row, at places that are told row by row: each place becomes what lies there.

    Source: array_ops.py of TensorFlow 1.15, where all axes of the places but the last are rows.
    """
    params, indices = call.tensor(0, "params"), call.tensor(1, "indices")
    lengths: Lengths = None
    if indices.lengths is not None and params.lengths is not None:
        lengths = (*indices.lengths, *params.lengths[len(indices.lengths) :])
    rows = indices.rank is not None and indices.rank > 1
    same = params.batch == indices.batch and params.batch.kind == "example" and params.batch.axis == 0 and rows
    if same or not (algebra.is_batched(params) or algebra.is_batched(indices)):
        return call.gives(params.batch, lengths)
    return call.gives(opaque(Why.PICKED_BY_INDEX))


def _pool_with_places(call: Call) -> Value:
    """Maxima, and where each stands: in its image, or in the whole batch with `include_batch_in_index`.

    Source: nn_ops.py, `max_pool_with_argmax_v1`, and gen_nn_ops.py of TensorFlow 1.15.
    """
    tensor = call.tensor(0, "input")
    dims = (None,) * 4  # it takes images alone
    places = tensor.batch
    if places.kind == "example" and call.get(7, "include_batch_in_index") is not None:
        places = places if call.constant(7, "include_batch_in_index") is False else opaque(Why.PLACES_OF_BATCH)
    both = (algebra.not_linear(tensor.batch), places)
    parts: list[Value] = [call.gives(kept, dims) for kept in both]
    return Record(("output", "argmax"), parts)


def _frame(call: Call) -> Value:
    """Pieces of a signal along its last axis; along another one they are not followed."""
    if call.constant(5, "axis") not in (None, -1):
        return call.gives(opaque(Why.AXIS_UNKNOWN, call.name))
    return _of_last(1, 1)(call)


SIGNALS = ("signal", "signals", "stfts", "log_mel_spectrograms", "logits", "inputs")  # names of first arguments

CALLS: dict[str, Handler] = table(
    (
        "cholesky linalg.cholesky matrix_inverse linalg.inv matrix_square_root linalg.sqrtm linalg.expm linalg.logm "
        "linalg.adjoint linalg.pinv fft2d ifft2d signal.fft2d signal.ifft2d signal.rfft2d signal.irfft2d",
        _of_last(2, 0),
    ),
    (
        "fft ifft signal.fft signal.ifft signal.rfft signal.irfft signal.dct signal.idct "
        "signal.mfccs_from_log_mel_spectrograms contrib.seq2seq.hardmax",
        _of_last(1, 0),
    ),
    ("matrix_determinant linalg.det linalg.logdet trace linalg.trace", _of_last(2, -2)),
    ("matrix_diag_part linalg.diag_part self_adjoint_eigvals linalg.eigvalsh", _of_last(2, -1)),
    ("diag linalg.tensor_diag", _on_diagonal),
    ("matrix_diag linalg.diag", _diagonals),
    ("signal.stft", _of_last(1, 1)),
    ("signal.inverse_stft signal.overlap_and_add", _of_last(2, -1)),
    ("signal.frame", _frame),
    ("qr linalg.qr self_adjoint_eig linalg.eigh linalg.slogdet", together(_part, _part)),
    ("svd linalg.svd", _svd),
    (
        "matrix_solve linalg.solve matrix_triangular_solve linalg.triangular_solve cholesky_solve "
        "linalg.cholesky_solve matrix_solve_ls linalg.lstsq",
        _solve,
    ),
    ("linalg.matvec", _matvec),
    ("matrix_set_diag linalg.set_diag", _set_diagonal),
    ("roll sort argsort", _roll),
    ("batch_gather", _batch_gather),
    ("nn.max_pool_with_argmax", _pool_with_places),
)
