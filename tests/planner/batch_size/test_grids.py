"""Grids of pictures with a place for each example: literal sides, or sides that are the root of the batch size."""

from __future__ import annotations

import pytest

from tests.scripts import STEP, codes, converted

SCRIPT = (
    """\
import math
import numpy as np
import tensorflow as tf

batch_size = 64


def save_images(images, size, path):
    np.save(path, images.reshape(size[0], size[1], 4, 4))


def plot(images, n):
    return images.reshape((n, n, 4, 4))


def save(images, n):
    images = images * 2.0
    np.save('grid.npy', images.reshape(8, 8, 4, 4))


def sides(number):
    high, wide = int(np.floor(np.sqrt(number))), int(np.ceil(np.sqrt(number)))
    assert high * wide == number
    return high, wide


every = np.load('every.npy')
X = tf.placeholder(tf.float32, [None, 16])
samples = tf.layers.dense(X, 16)
loss = tf.reduce_mean(tf.square(samples - X))
"""
    + STEP
    + """\
with tf.Session() as sess:
    for step in range(100):
        shown, _ = sess.run([samples, train_op], {{X: next_batch(batch_size)}})
    n = {side}
    {line}
"""
)
KEPT = [
    ("int(math.sqrt(batch_size))", "shown.reshape(n, n, 4, 4)"),
    ("int(np.floor(np.sqrt(batch_size)))", "shown.reshape([n, n, 4, 4])"),
    ("int(batch_size ** 0.5)", "np.reshape(shown, (n, n, 4, 4))"),
    ("np.sqrt(batch_size).astype(int)", "save_images(shown, [n, n], 'grid.npy')"),
    ("int(np.power(batch_size, .5))", "plot(shown, n)"),
    ("int(math.sqrt(batch_size))", "shown.reshape(n, -1, 4, 4)"),
    ("8", "shown.reshape(int(np.sqrt(batch_size)), int(np.sqrt(batch_size)), 4, 4)"),
    ("8", "save_images(shown, [8, 8], 'grid.npy')"),
    ("8", "save_images(path='grid.npy', size=(16, 4), images=(shown + 1.) / 2)"),
    ("8", "plot_grid([shown][0], [4, 16])"),
    ("8", "shown.reshape(8, 8, 4, 4)"),
    ("8", "np.reshape(shown, [2, 32, 4, 4])"),
    ("8", "save_images(shown, [10, 10], 'grid.npy')"),  # with room for one batch, and not for two
    ("8", "save_images(shown, sides(shown.shape[0]), 'grid.npy')"),
    ("8", "save_images((shown + 1.) / 2, sides(len(shown)), 'grid.npy')"),
    ("8", "save(shown, 4)"),
]
SCALED = [
    ("int(math.sqrt(batch_size))", "shown[:n * n].reshape(n, n, 4, 4)"),
    ("int(math.sqrt(batch_size))", "save_images(shown[:n * n, :], [n, n], 'grid.npy')"),
    ("int(math.ceil(math.sqrt(batch_size)))", "save_images(shown, [n, n], 'grid.npy')"),
    ("int(math.sqrt(batch_size))", "figure, axes = plt.subplots(n, n)"),
    ("int(math.sqrt(100))", "plot(shown, n)"),
    ("batch_size // 8", "save_images(shown, [8, n], 'grid.npy')"),
    ("int(math.sqrt(batch_size))", "print(np.zeros((n, n)))"),
    ("8", "save_images(shown[:64], [8, 8], 'grid.npy')"),
    ("8", "save_images(shown[:n * n, :], [8, 8], 'grid.npy')"),
    ("8", "plot_grid(shown, [8, 16])"),
    ("8", "plot_grid(shown, [64, 1])"),
    ("8", "plot_grid(shown, [8, 8, 1])"),
    ("8", "plot(shown, 64)"),
    ("8", "shown.reshape(-1, 8, 8)"),
    ("8", "shown.reshape([-1, 8, 8, 1])"),
    ("8", "save_images(np.zeros((64, 16)), [8, 8], 'grid.npy')"),
    ("8", "save_images(sess.run(samples, {X: np.zeros((64, 16))}), [8, 8], 'grid.npy')"),
    ("8", "save_images(sess.run(samples, {X: load('shown.npy')}), [8, 8], 'grid.npy')"),
    ("8", "save_images(shown, [20, 20], 'grid.npy')"),
    ("8", "resize(shown, [10, 10])"),  # a library's numbers may mean anything
    ("8", "save_images(sess.run(samples, {X: every[:64]}), [8, 8], 'grid.npy')"),
]
UNCUT = [  # what is laid out has no name there
    ("8", "save_images(sess.run(samples, {X: next_batch(batch_size)}), [8, 8], 'grid.npy')"),
    ("8", "save(shown, 4); save(every, 4)"),
]


NAMED = """\
    batch_size_root = int(math.sqrt(batch_size))
    save_images({shown}, [batch_size_root, batch_size_root], "grid.npy")
"""


@pytest.mark.parametrize(("shown", "cut"), [("shown", 1), ("shown[:batch_size_root ** 2]", 0)])
def test_side_that_has_the_name_of_a_batch_size(shown: str, cut: int) -> None:
    script = SCRIPT.format(side="0", line="pass") + NAMED.format(shown=shown)
    assert codes(script) == []
    assert converted(script).count("save_images(rows_of_one_gpu(shown), [batch_size_root") == cut


@pytest.mark.parametrize(("side", "line"), KEPT)
def test_a_batch_that_fills_a_grid_is_cut_to_that_of_one_gpu(side: str, line: str) -> None:
    script = SCRIPT.format(side=side, line=line)
    assert codes(script) == []
    shown = "[shown][0]" if "[shown]" in line else "shown"
    assert line.replace(shown, f"rows_of_one_gpu({shown})") in converted(script)


@pytest.mark.parametrize(("side", "line"), UNCUT)
def test_the_batch_is_kept_where_what_is_laid_out_has_no_name(side: str, line: str) -> None:
    assert set(codes(SCRIPT.format(side=side, line=line))) == {"TMG303"}


@pytest.mark.parametrize(("side", "line"), SCALED)
def test_grids_that_take_a_larger_batch(side: str, line: str) -> None:
    script = SCRIPT.format(side=side, line=line)
    assert codes(script) == [] and "rows_of_one_gpu(" not in converted(script)


MERGED = """\
    canvas = np.zeros([n * 4, n * 4])
    for place, (one, two) in enumerate(zip({shown}, {shown})):
        canvas[place // n * 4:place // n * 4 + 4, place % n * 4:place % n * 4 + 4] = one.reshape(4, 4) + two[0]
"""


@pytest.mark.parametrize(
    ("side", "shown", "expected"),
    [
        ("int(np.sqrt(batch_size))", "shown", {"TMG303"}),
        ("int(np.sqrt(batch_size))", "shown[:n * n]", set()),
        ("int(np.ceil(np.sqrt(batch_size)))", "shown", set()),
        ("10", "shown", set()),
    ],
)
def test_pictures_that_a_loop_puts_into_a_grid(side: str, shown: str, expected: set[str]) -> None:
    """The last ones of N times as many would lie below its last row."""
    assert set(codes(SCRIPT.format(side=side, line="pass") + MERGED.format(shown=shown))) == expected


TABLE = """\
import numpy as np
import pandas as pd
import tensorflow as tf

batch_size = 16
frame = pd.read_csv('rows.csv')
frame['sum'] = np.sum(frame[['a', 'b']].values, axis=1)
data = frame[['a', 'b', 'sum']].values
x = tf.placeholder(tf.float32, [None, 3])
out = tf.layers.dense(x, 1)
loss = tf.reduce_mean(tf.square(out))
train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(0, frame.shape[0], batch_size):
        sess.run(train_op, {x: data[i:i + batch_size]})
    show(int(np.sqrt(frame.shape[0])), frame.shape[0])
"""


def test_a_table_whose_column_is_computed_from_others() -> None:
    text = converted(TABLE)
    assert "\nbatch_size = 16 * num_gpus\n" in text and "show(int(np.sqrt(frame.shape[0])), frame.shape[0])" in text
