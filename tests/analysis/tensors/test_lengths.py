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


@pytest.mark.parametrize(
    ("width", "shape", "found"),
    [
        ("4 * 4 * units", "[-1, 4, 4, units]", ""),
        ("units * 16", "[-1, units, 4, 4]", ""),
        ("units * border", "[-1, border, units]", ""),
        ("3 * units * border", "[-1, 3 * border, units]", ""),
        ("2 * units", "[-1, units]", "major"),  # two rows for each example
        ("4 * 4 * units", "[-1, 4, 4, other]", "major"),  # how many rows, is not known
    ],
)
def test_a_computed_width_is_cut_into_its_factors(width: str, shape: str, found: str) -> None:
    made = value_of(f"{UNITS}result = tf.reshape(tf.layers.dense(x, {width}), {shape})\n")
    assert isinstance(made, Tensor)
    assert (batch(made.batch), made.batch.packed) == ("example 0", found)


def test_factors_are_put_together_again() -> None:
    image = f"{UNITS}image = tf.reshape(tf.layers.dense(x, 16 * units), [-1, 4, 4, units])\n"
    made = value_of(image + "result = tf.reshape(image, [-1, 4 * 4 * units])\n")
    assert isinstance(made, Tensor) and (batch(made.batch), made.batch.packed) == ("example 0", "")
    made = value_of(image + "result = tf.reshape(image, [-1, 4 * other])\n")
    assert isinstance(made, Tensor) and made.batch.packed == "major"


def test_examples_that_are_cut_apart_stay_refused() -> None:
    made = value_of(f"{UNITS}result = tf.reshape(tf.layers.dense(x, 4 * units), [-1, 3, units])\n")
    assert isinstance(made, Tensor) and made.batch.kind == "opaque"


@pytest.mark.parametrize(("condition", "known"), [("x > 0", True), ("unknown > 0", True), ("unknown", False)])
def test_a_choice_of_entries_is_as_long_as_its_sides(condition: str, known: bool) -> None:
    choice = f"tf.where({condition}, x, -x)" if known else f"tf.where({condition})"
    made = value_of(f"{UNITS}unknown = tf.placeholder(tf.float32)\nresult = {choice}\n")
    assert isinstance(made, Tensor) and made.dims == ((None, 9) if known else None)
