"""Single rows at the place of a batch size, and numbers of steps divided by one: both change with it."""

from __future__ import annotations

import pytest

from tests.scripts import codes

SCRIPT = """\
import numpy as np
import tensorflow as tf

{named}
data, rest = np.load('data.npy'), np.load('rest.npy')
X = tf.placeholder(tf.float32, [None, 4])
loss = tf.reduce_mean(tf.square(tf.layers.dense(X, 1)))
train_op = tf.train.AdamOptimizer(0.01).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        rows = np.random.permutation(len(data))[:{size}]
        batch = data[rows]
        found, _ = sess.run([loss, train_op], {{X: batch}})
        {inside}
{after}
"""
NAME = "batch_size = 16"
FLAG = "tf.app.flags.DEFINE_integer('batch_size', 16, '')\nFLAGS = tf.app.flags.FLAGS"


def _codes(inside: str = "pass", after: str = "", named: str = NAME, size: str = "batch_size") -> list[str]:
    parts = {"inside": inside.replace("SIZE", size), "after": after.replace("SIZE", size)}
    return codes(SCRIPT.format(named=named, size=size, **parts))


@pytest.mark.parametrize(("named", "size"), [(NAME, "batch_size"), (FLAG, "FLAGS.batch_size")])
@pytest.mark.parametrize(
    "after", ["print(data[SIZE + 1])", "shown = rest[2 * SIZE, 0]", "print(data[SIZE], rest[SIZE])"]
)
def test_a_row_at_the_place_of_the_batch_size(named: str, size: str, after: str) -> None:
    assert _codes("pass", after, named, size) == ["TMG386"]


@pytest.mark.parametrize(
    ("inside", "after"),
    [
        ("pass", "print(data[17], rest[step])"),
        ("print(batch[SIZE - 1])", "print(rows[SIZE - 1])"),
        ("pass", "print(np.zeros([2 * SIZE, 3])[SIZE + 1])"),
        ("print([data[2 * SIZE + j] for j in range(3)])", ""),
        ("print([data[step * SIZE + j] for j in range(SIZE)])", ""),
        ("print(data[step * SIZE])", "print(data[len(data) // SIZE])"),
        ("pass", "print(data[:SIZE], rest[SIZE:])"),
        ("pass", "for i in range(0, len(rest), SIZE):\n    print(rest[i], rest[i + SIZE - 1])"),
        ("pass", "print(data[-1], data[rows[0]])"),
    ],
)
def test_other_rows(inside: str, after: str) -> None:
    assert "TMG386" not in _codes(inside, after)


@pytest.mark.parametrize(("named", "size"), [(NAME, "batch_size"), (FLAG, "FLAGS.batch_size")])
@pytest.mark.parametrize(
    "inside", ["print('epoch', step // SIZE)", "epoch = (step + 1) // SIZE", "print('%.2f' % (step / SIZE))"]
)
def test_steps_divided_by_the_batch_size(named: str, size: str, inside: str) -> None:
    assert _codes(inside, "", named, size) == ["TMG387"]


@pytest.mark.parametrize(
    "inside",
    [
        "print('epoch', step // 16)",
        "print('epoch', step * SIZE // len(data))",
        "print('epoch', step // (len(data) // SIZE))",
        "if step % SIZE == 0:\n            print(found)",
        "print(len(data) // SIZE, found / SIZE)",
    ],
)
def test_other_ratios(inside: str) -> None:
    assert "TMG387" not in _codes(inside)


@pytest.mark.parametrize(
    "loop",
    [
        "for i in range(len(data)):\n        if i % batch_size == 0:\n"
        "            sess.run(train_op, {X: data[i:i + batch_size]})\n            print(i // batch_size)",
        "for i in range(0, len(data), batch_size):\n        sess.run(train_op, {X: data[i:i + batch_size]})\n"
        "        print(i // batch_size)",
        "for i in range(len(data)):\n        if i % batch_size == 0:\n"
        "            sess.run(train_op, {X: data[i:i + batch_size]})\n        print(i // batch_size)",
    ],
)
def test_a_number_of_examples_divided_by_it_counts_batches(loop: str) -> None:
    head = SCRIPT.partition("    for step")[0].format(named=NAME)
    assert "TMG387" not in codes(f"{head}    {loop}\n")
