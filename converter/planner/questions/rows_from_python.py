"""Lists and arrays of Python's that have a row for each example, made with the batch size.

`[steps] * batch_size`, `list(range(batch_size))`.
"""

from __future__ import annotations

import ast
from collections.abc import Container

from converter.analysis.arrays.shapes import FILLED, arguments_of, filled_shape, shape_of
from converter.analysis.values import Host, Number, Sequence, Value, grows_by_key

COPIES = ("numpy.array", "numpy.asarray")  # arrays with the rows of what they are given


def has_rows(value: Value, sizes: Container[tuple[object, ...]]) -> bool:
    """Whether a list or an array was made with as many rows as there are examples.

    sizes: the keys of the batch sizes' origins.
    """
    if isinstance(value, Sequence):
        return any(grows_by_key(v, sizes) for v in (*value.inputs, *_ends(value)) if v not in value.elements)
    if isinstance(value, Host) and filled_shape(value) is not None and isinstance(value.node, ast.BinOp):
        return any(has_rows(v, sizes) for v in value.inputs)
    if not isinstance(value, Host) or not value.call.startswith("numpy.") or value.roots:
        return False
    if value.call in COPIES:
        return any(has_rows(v, sizes) for v in value.inputs)
    return any(
        grows_by_key(v, sizes) for i in value.inputs for v in (i, *(i.elements if isinstance(i, Sequence) else ()))
    )


def are_alike(value: Value) -> bool:
    """True if all such rows are equal: then each tower can make its own."""
    if not isinstance(value, Host):
        return isinstance(value, Sequence) and not _ends(value)
    if value.call in COPIES:
        return any(map(are_alike, value.inputs))
    return (
        filled_shape(value) is not None
        or value.call in FILLED
        or (value.call == "numpy.tile" and _is_repeated_whole(value))
    )


def _ends(value: Sequence) -> list[Value]:
    """What a range of numbers ends with, or a list of one: `range(batch_size)`; nothing for any other list."""
    return [v for e in value.elements if isinstance(e, Number) and e.turn for v in e.inputs]


def _is_repeated_whole(tiled: Host) -> bool:
    """Whether all rows of `np.tile(row, (rows, …))` are equal: the first axis is new, or had one entry before."""
    given = arguments_of(tiled, tiled.node) if isinstance(tiled.node, ast.Call) else None
    shape, times = (shape_of(given.get(0, "A")), given.get(1, "reps")) if given is not None else (None, None)
    if shape is None or not isinstance(times, Sequence) or times.many:
        return False
    return len(shape) < len(times.elements) or (len(shape) == len(times.elements) and shape[0] == 1)
