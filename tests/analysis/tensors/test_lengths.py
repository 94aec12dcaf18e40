"""Lengths that are computed from others: what is split, put together and reshaped by names of lengths."""

from __future__ import annotations

import pytest

from converter.analysis.values import Tensor
from tests.analysis.readings import batch, value_of

UNITS = """\
import sys
units, border = int(sys.argv[1]), int(sys.argv[2])
other = int(sys.argv[3])
x = tf.placeholder(tf.float32, [None, 9])
steps = tf.TensorArray(tf.float32, 3)
"""


@pytest.mark.parametrize(
    ("width", "pieces", "rows"),
    [
        ("4 * units", "4", "units"),
        ("units * 4", "2", "2 * units"),
        ("2 * units + 2 * border", "2", "units + border"),
        ("512", "4", "128"),
        ("4 * units", "4", None),  # in front of a width that is not a part of it, rows are not known
        ("4 * other", "4", None),
        ("units", "4", None),  # a part that may not be whole
    ],
)
def test_a_piece_of_what_is_split_is_as_long_as_its_part(width: str, pieces: str, rows: str | None) -> None:
    script = f"parts = tf.split(tf.layers.dense(x, {width}), {pieces}, 1)\n"
    script += f"flat = tf.reshape(parts[0], [1, -1, {rows or 'units + border'}])\nresult = flat\n"
    made = value_of(UNITS + script)
    assert isinstance(made, Tensor)
    assert (batch(made.batch), made.batch.packed) == (("example 1", "") if rows else ("opaque", ""))
