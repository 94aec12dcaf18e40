"""Placeholders with a plain number of rows, in a script that has no other batch."""

from __future__ import annotations

import pytest

from tests.scripts import codes, converted, run

SCRIPT = """\
import numpy as np
import tensorflow as tf

{inputs}
loss = tf.reduce_mean(tf.square(tf.layers.dense(x, 1) - y))
train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
with tf.Session() as sess:
    for step in range(9):
        sess.run(train_op, {{{feed}}})
"""
FIXED = "x = tf.placeholder(tf.float32, [8, 16])\ny = tf.placeholder(tf.float32, [8, 1])"
OPEN = FIXED.replace("[8", "[None")
ARRAYS = "x: np.random.rand(8, 16), y: np.random.rand(8, 1)"


def test_the_rows_are_shared() -> None:
    made = converted(SCRIPT.format(inputs=FIXED, feed=ARRAYS))
    assert "shard_static([x_batch, y_batch], gpu)" in made and "tf.placeholder(tf.float32, [8, 16])" in made
    assert ARRAYS in made and "tower_device" in made


@pytest.mark.parametrize(
    ("inputs", "feed", "found"),
    [
        (FIXED, ARRAYS, ["TMG303"]),
        (FIXED, "x: data[0:8], y: labels[0:8]", ["TMG304"]),
        (OPEN, ARRAYS, []),  # numbers of what is fed are the batch size
        (FIXED.replace("[8, 1]", "[4, 1]"), ARRAYS, ["TMG202"]),  # which of them are the examples?
        (FIXED.replace("[8", "[1"), ARRAYS.replace("8", "1"), ["TMG202"]),
        (FIXED, "x: 0.5, y: 0.5", ["TMG218"]),
    ],
)
def test_findings(inputs: str, feed: str, found: list[str]) -> None:
    assert codes(SCRIPT.format(inputs=inputs, feed=feed)) == found


OTHER = FIXED + "\nz = tf.placeholder(tf.float32, [4, 16])"


def test_an_input_of_other_rows_goes_into_each_tower() -> None:
    script = SCRIPT.format(inputs=OTHER, feed=ARRAYS + ", z: np.random.rand(4, 16)")
    made = converted(script.replace("- y))", "- y)) + tf.reduce_mean(tf.square(z))"))
    assert "shard_static([x_batch, y_batch], gpu)" in made and "z_batch" not in made
    rng = script.replace("np.random.rand", "rng.rand").replace("np\n", "np\nrng = np.random.RandomState(0)\n", 1)
    assert "shard_static([x_batch, y_batch], gpu)" in converted(rng)


def test_rows_that_all_differ_are_named() -> None:
    inputs = FIXED.replace("[8, 1]", "[4, 1]")
    (found,) = run(SCRIPT.format(inputs=inputs, feed=ARRAYS.replace("rand(8, 1)", "rand(4, 1)"))).diagnostics
    assert found.code == "TMG202" and "plain numbers of rows (x: 8, y: 4)" in found.message
    assert found.line == 4 and "--batch-axis x=0" in (found.hint or "")


def test_settings_beside_a_batch_are_none() -> None:
    inputs = OPEN + "\nw = tf.placeholder(tf.float32, [16])"
    script = SCRIPT.format(inputs=inputs, feed=ARRAYS + ", w: np.random.rand(16)")
    made = converted(script.replace("(x, 1)", "(x * w, 1)"))
    assert "shard([x_batch, y_batch], gpu)" in made


STEPS = "z = tf.placeholder(tf.float32, [5, {rows}, 16])\n"


def _beside_steps(rows: str, batches: str = "rows", feed: str = "np.random.rand(5, rows, 16)") -> str:
    inputs = "rows = 8\n" + STEPS.format(rows=rows) + FIXED.replace("[8", f"[{batches}")
    script = SCRIPT.format(inputs=inputs, feed=ARRAYS.replace("(8", "(rows") + f", z: {feed}")
    return script.replace("(x, 1)", "(tf.concat([x, tf.reduce_mean(z, 0)], 1), 1)")


@pytest.mark.parametrize("feed", ["np.random.rand(5, rows, 16)", "load()['steps']"])
def test_the_named_number_of_rows_tells_another_axis(feed: str) -> None:
    made = converted(_beside_steps("rows", feed=feed).replace("as np\n", "as np\nfrom reader import load\n", 1))
    assert "shard_static_along([z_batch], [1], gpu)" in made and "shard_static([x_batch, y_batch], gpu)" in made


@pytest.mark.parametrize("rows", ["8", "2 * rows", "rows // 2"])
def test_another_number_tells_no_axis(rows: str) -> None:
    made = run(_beside_steps(rows).replace("reduce_mean(z, 0)", "ones([1, 1]) * tf.reduce_mean(z)"))
    assert "[z_batch" not in (made.text or "")


@pytest.mark.parametrize("made", ["tf.random_normal([8, 16])", "tf.reduce_mean(tf.zeros([5, 8, 16]), 0)"])
def test_as_many_rows_made_in_the_model_are_refused(made: str) -> None:
    script = SCRIPT.format(inputs=FIXED, feed="x: data[0:8], y: labels[0:8]").replace("(x, 1)", f"(x + {made}, 1)")
    assert codes(script) == ["TMG254"]
    assert codes(script.replace(made, "tf.random_normal([16])")) == ["TMG304"]
    assert codes(script.replace(made, "tf.random_normal(tf.shape(x))")) == ["TMG304"]
