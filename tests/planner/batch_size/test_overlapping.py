"""Batches that do not begin where the one before ends: a larger batch takes other rows, and that is told."""

from __future__ import annotations

import pytest

from tests.scripts import codes, run

HEADS = {
    "SIZE = 32\n": "SIZE",
    "tf.app.flags.DEFINE_integer('batch_size', 32, '')\nFLAGS = tf.app.flags.FLAGS\n": "FLAGS.batch_size",
    "class Config(object):\n    batch_size = 32\n": "Config.batch_size",
}
SCRIPT = """\
import numpy as np
import tensorflow as tf
{head}
xs, ys = load()
X = tf.placeholder(tf.float32, [None, 4])
Y = tf.placeholder(tf.float32, [None, 1])
loss = tf.reduce_mean(tf.square(tf.layers.dense(X, 1) - Y))
train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
"""
RUN = "sess.run(train_op, {X: xs[ROWS], Y: ys[ROWS]})"


def script(lines: str, rows: str, head: str = "SIZE = 32\n") -> str:
    """A loop around a training step that is fed these rows; what stands behind `;` comes after the step."""
    above, _, behind = lines.partition(";")
    whole = [*above.splitlines(), f"    {RUN.replace('ROWS', rows)}", *([f"    {behind}"] if behind else [])]
    text = "\n".join(f"    {line}" for line in whole)
    return SCRIPT.format(head=head) + text.replace("SIZE", HEADS[head]) + "\n"


@pytest.mark.parametrize("head", HEADS, ids=["name", "flag", "attribute"])
@pytest.mark.parametrize(
    ("lines", "rows"),
    [
        ("for i in range(300):\n", "i:i + SIZE"),
        ("for i in range(300):\n", "i * 2:i * 2 + SIZE"),
        ("for i in range(len(xs) - SIZE):\n", "i:i + SIZE"),
        ("for i in range(0, len(xs), 10):\n", "i:i + SIZE"),
        ("for i in range(0, len(xs), SIZE // 2):\n", "i:i + SIZE"),
        ("for i in np.arange(300):\n", "i:i + SIZE"),
        ("for k in range(300):\n    i, j = k, k + SIZE\n", "i:j"),
        ("for i in range(SIZE, 300):\n", "i - SIZE:i"),
        ("for k in range(300):\n    i = k * 3 % (len(xs) - SIZE)\n", "i:i + SIZE"),
        ("for k in range(300):\n    i = k % (len(xs) - SIZE)\n", "i:i + SIZE"),
        ("i = 0\nwhile i + SIZE < len(xs):;i += 8", "i:i + SIZE"),
        ("i = 0\nwhile i + SIZE < len(xs):;i = i + 8", "i:i + SIZE"),
        ("for i in range(len(xs) // SIZE + 1):\n    a = i * SIZE\n", "a:min((i + 2) * SIZE, len(xs))"),
        ("for i in range(2 * len(xs) // SIZE):\n    a = i * SIZE // 2\n", "a:min(a + SIZE, len(xs))"),
        ("i = 0\nwhile i < len(xs):;i += 8", "i:min(i + SIZE, len(xs))"),
    ],
)
def test_batches_that_overlap_are_told(head: str, lines: str, rows: str) -> None:
    assert codes(script(lines, rows, head)) == ["TMG344"]
    assert codes(script(lines, rows, head), batch="total") == []


@pytest.mark.parametrize("head", HEADS, ids=["name", "flag", "attribute"])
@pytest.mark.parametrize(
    ("lines", "rows"),
    [
        ("for i in range(0, len(xs), SIZE):\n", "i:i + SIZE"),
        ("for i in np.arange(0, len(xs), SIZE):\n", "i:i + SIZE"),
        ("for i in range(len(xs) // SIZE):\n", "i * SIZE:(i + 1) * SIZE"),
        ("for i in range(len(xs) // SIZE):\n", "i * SIZE:i * SIZE + SIZE"),
        ("for i in range(len(xs) // SIZE):\n    a = i * SIZE\n", "a:a + SIZE"),
        ("for k in range(len(xs) // SIZE):\n    i, j = k * SIZE, (k + 1) * SIZE\n", "i:j"),
        ("for k in range(300):\n    i = k * SIZE % (len(xs) - SIZE)\n", "i:i + SIZE"),
        ("for k in range(300):\n    i = k * SIZE % (xs.shape[0] - SIZE)\n", "i:i + SIZE"),
        ("for k in range(300):\n    i = (k * SIZE + 5) % data.num\n", "i:i + SIZE"),
        ("for k in range(300):\n    i = np.mod(k * SIZE, xs.shape[0])\n", "i:i + SIZE"),
        ("for k in range(300):\n    i = np.arange(k * SIZE, (k + 1) * SIZE) % xs.shape[0]\n", "i"),
        ("for k in range(300):\n    i = np.random.randint(len(xs) - SIZE)\n", "i:i + SIZE"),
        ("for a, b in zip(range(0, len(xs), SIZE), range(SIZE, len(xs) + 1, SIZE)):\n", "a:b"),
        ("i = 0\nwhile i + SIZE < len(xs):;i += SIZE", "i:i + SIZE"),
        ("i = 0\nwhile i + SIZE < len(xs):;i = i + SIZE", "i:i + SIZE"),
        ("for i in range((len(xs) - 1) // SIZE + 1):\n    a = i * SIZE\n", "a:min((i + 1) * SIZE, len(xs))"),
        ("for i in range(0, len(xs), SIZE):\n", "i:min(i + SIZE, len(xs))"),
        ("i = 0\nwhile i < len(xs):;i += SIZE", "i:min(i + SIZE, len(xs))"),
    ],
)
def test_batches_one_behind_the_other_are_not(head: str, lines: str, rows: str) -> None:
    assert codes(script(lines, rows, head)) == []


def test_windows_that_a_function_a_generator_or_a_list_gives() -> None:
    start = SCRIPT.format(head="SIZE = 32\n")
    function = "    def get(i):\n        return xs[i:i + SIZE], ys[i:i + SIZE]\n    for k in range({0}):\n"
    generator = "    def get():\n        for i in range(0, 640, {0}):\n"
    generator += "            yield xs[i:i + SIZE], ys[i:i + SIZE]\n"
    pair = "        a, b = get(k * {0})\n        sess.run(train_op, {{X: a, Y: b}})\n"
    each = "    for a, b in get():\n        sess.run(train_op, {X: a, Y: b})\n"
    assert codes(start + function.format(300) + pair.format(2)) == ["TMG344"]
    assert codes(start + function.format("len(xs) // SIZE") + pair.format("SIZE")) == []
    assert codes(start + generator.format(4) + each) == ["TMG344"]
    assert codes(start + generator.format("SIZE") + each) == []


LAST_ROWS = """\
from collections import deque

import numpy as np
import tensorflow as tf

X = tf.placeholder(tf.float32, [None, 4])
loss = tf.reduce_mean(tf.square(tf.layers.dense(X, 1)))
train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
data, batch_size = np.load('data.npy'), 8
last = deque(maxlen=batch_size)
sess = tf.Session()
for row in data:
    last.append(row)
    sess.run(train_op, {X: np.array(last)})
"""


def test_the_last_rows_of_each_step_overlap() -> None:
    assert codes(LAST_ROWS) == ["TMG344"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("np.array(last)})", "np.array(last)})\n    last.clear()"),
        ("maxlen=batch_size", "maxlen=1000"),
        ("for row in data:\n    last", "for row in data:\n    last = deque(maxlen=batch_size)\n    last"),
    ],
)
def test_rows_that_are_drawn_or_emptied_do_not_overlap(old: str, new: str) -> None:
    assert "TMG344" not in codes(LAST_ROWS.replace(old, new))


KNOWN = script("LOOP", "i:i + SIZE").replace("xs, ys = load()", "xs, ys = np.zeros([90, 4]), np.zeros([90, 1])")
DRAWN = "order = np.random.permutation(len(xs))\n    for k in range(0, 72, SIZE):\n        i = order[k:k + SIZE]\n"
BEHIND = {
    "a number": "for i in range(0, 72, SIZE):",
    "a name": "end = 72\n    for i in range(0, end, SIZE):",
    "the data without its end": "for i in range(0, len(xs) - 10, SIZE):",
    "a part of the data": "for i in range(0, int(len(xs) * 0.9), SIZE):",
    "the rows of another array": "train = xs[:80]\n    for i in range(0, len(train), SIZE):",
}
WITHIN = {
    "the data": "for i in range(0, len(xs), SIZE):",
    "the data by its shape": "for i in range(0, xs.shape[0], SIZE):",
    "the rows of the labels": "for i in range(0, len(ys), SIZE):",
    "two batches": "for i in range(0, 64, SIZE):",
    "a number behind the data": "for i in range(0, 100, SIZE):",
    "whole batches": "for i in range(0, len(xs) - SIZE, SIZE):",
    "the data behind a beginning": "for i in range(10, len(xs), SIZE):",
}


@pytest.mark.parametrize("loop", BEHIND.values(), ids=BEHIND)
def test_rows_behind_the_end_of_a_loop_are_told(loop: str) -> None:
    text = KNOWN.replace("LOOP", loop)
    assert codes(text) == ["TMG344"]
    assert codes(text.replace("i:i + SIZE", "i:min(i + SIZE, 72)")) == []


def test_rows_of_an_order_behind_the_end_of_a_loop_are_told() -> None:
    text = KNOWN.replace("LOOP", DRAWN.rstrip()).replace("xs[i:i + SIZE]", "xs[i]").replace("ys[i:i + SIZE]", "ys[i]")
    assert codes(text) == ["TMG344"]


@pytest.mark.parametrize("end", ["int(len(xs) * 0.9)", "len(xs) // 10 * 9", "len(xs) - 500"])
def test_rows_behind_a_part_of_data_of_any_length_are_told(end: str) -> None:
    text = script(f"end = {end}\nfor i in range(0, end, SIZE):\n", "i:i + SIZE").replace("\nend", "\n    end")
    assert codes(text.replace("xs, ys = load()", "xs, ys = np.load('x.npy'), np.load('y.npy')")) == ["TMG344"]


@pytest.mark.parametrize("loop", WITHIN.values(), ids=WITHIN)
def test_batches_up_to_the_end_of_the_data_are_not(loop: str) -> None:
    assert codes(KNOWN.replace("LOOP", loop)) == []


def test_an_evaluation_of_a_part_of_the_data_is_told() -> None:
    text = KNOWN.replace("LOOP", "for i in range(0, len(xs), SIZE):")
    more = "    for i in range(0, 72, SIZE):\n        print(sess.run(loss, {X: xs[i:i + SIZE], Y: ys[i:i + SIZE]}))\n"
    assert codes(text + more) == ["TMG345"]
    assert codes(text + more.replace("72", "64")) == []


@pytest.mark.parametrize(
    ("lines", "rows", "told"),
    [
        ("for k in range(len(xs) // SIZE + 1):\n    i = min(k * SIZE, len(xs) - SIZE)\n", "i:i + SIZE", True),
        (
            "for i in range(0, len(xs), SIZE):\n    j = i + SIZE\n    if j > len(xs):\n"
            "        j = len(xs)\n        i = j - SIZE\n",
            "i:j",
            True,
        ),
        ("for i in range(0, len(xs), SIZE):\n    j = min(i + SIZE, len(xs))\n", "i:j", False),
        (
            "for k in range(300):\n    i = np.random.randint(len(xs))\n    i = min(i, len(xs) - SIZE)\n",
            "i:i + SIZE",
            False,
        ),
    ],
    ids=["least", "a branch", "a shorter batch", "drawn"],
)
def test_a_last_batch_that_begins_earlier_to_be_whole_is_told(lines: str, rows: str, told: bool) -> None:
    found = [one for one in run(script(lines, rows)).diagnostics if "begins earlier here" in one.message]
    assert [one.code for one in found] == (["TMG344"] if told else [])
