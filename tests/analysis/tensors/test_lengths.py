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


IMAGE = """\
image = tf.reshape(tf.layers.dense(x, units * border * 4), [-1, units, border, 4])
kernel = tf.get_variable('kernel', [2, border, 4, 8])
"""


@pytest.mark.parametrize(
    ("made", "places"),
    [
        ("tf.layers.conv2d(image, 8, [2, border])", 1),  # as wide as the image
        ("tf.nn.conv2d(image, kernel, [1, 1, 1, 1], 'VALID')", 1),
        ("tf.layers.conv2d(image, 8, [2, border], strides=[1, 2])", 1),
        ("tf.layers.conv2d(image, 8, [3, 3], padding='same')", "border"),
        ("tf.nn.max_pool(image, [1, 1, border, 1], [1, 1, 1, 1], 'VALID')", 1),
        ("tf.layers.max_pooling2d(image, [1, border - 1], 1)", 2),
        ("tf.layers.conv2d(image, 8, [2, 3])", "border - 2"),
        ("tf.layers.conv2d(image, 8, [2, other])", None),  # no more than that it is not 1
        ("tf.layers.conv2d(image, 8, [2, 3], padding='same', strides=2)", None),
        ("tf.layers.conv2d_transpose(image, 8, [2, border])", None),
        ("tf.nn.conv2d(image, kernel, [1, 1, 1, 1], 'VALID', dilations=[1, 2, 2, 1])", None),
    ],
)
def test_windows_of_named_sizes(made: str, places: object) -> None:
    wide = value_of(UNITS + IMAGE + f"result = {made}\n")
    same = value_of(UNITS + IMAGE + f"result = tf.zeros([{places}])\n")
    assert isinstance(wide, Tensor) and wide.lengths is not None and isinstance(same, Tensor) and same.lengths
    assert (wide.lengths[2] == same.lengths[0]) is (places is not None)


def test_pooled_over_what_a_filter_leaves_of_a_length() -> None:
    left = "wide = tf.nn.conv2d(image, kernel, [1, 1, 1, 1], 'VALID')\n"
    made = value_of(
        UNITS + IMAGE + left + "result = tf.nn.max_pool(wide, [1, units - 2 + 1, 1, 1], [1] * 4, 'VALID')\n"
    )
    assert isinstance(made, Tensor) and made.dims == (None, 1, 1, 8)


TABLE = """\
import sys
import numpy as np
settings = {{}}
for line in open('settings.txt').readlines():
    pair = line.split('=')
    settings[pair[0]] = pair[1]
steps, width = int(settings['steps']), int(settings['width'])
words = tf.placeholder(tf.int32, [None, steps])
if sys.argv[1]:
    table = {pretrained}
else:
    table = tf.get_variable('table', [100, width])
found = tf.transpose(tf.nn.embedding_lookup(table, words), [1, 0, 2])
result = tf.split(tf.reshape(found, [-1, {read}]), {pieces}, 0)[0]
"""


@pytest.mark.parametrize(
    ("pretrained", "read", "pieces", "found"),
    [
        ("tf.Variable(np.load('table.npy'))", "width", "steps", "example 0"),
        ("tf.get_variable('other', [100, width])", "width", "steps", "example 0"),
        ("tf.get_variable('other', [100, 2 * width])", "width", "steps", "opaque"),
        ("tf.Variable(np.load('table.npy'))", "steps", "steps", "opaque"),
        ("tf.Variable(np.load('table.npy'))", "width", "int(settings['pieces'])", "opaque"),
    ],
)
def test_tables_of_one_width_and_settings_of_a_file(pretrained: str, read: str, pieces: str, found: str) -> None:
    made = value_of(TABLE.format(pretrained=pretrained, read=read, pieces=pieces))
    assert isinstance(made, Tensor) and batch(made.batch) == found
