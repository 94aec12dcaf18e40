"""Training steps of one example, and values of a step that only look like one beside a batch."""

from __future__ import annotations

import pytest

from tests.scripts import body, codes, converted, run

SCRIPT = """\
import numpy as np
import tensorflow as tf

data, labels = load(), load()
batch_size = 16
x = tf.placeholder(tf.float32, {rows})
y = tf.placeholder(tf.float32, {rows})
decay = tf.placeholder(tf.float32{shape})
w = tf.get_variable('w', [8, 8])
loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - y)) + decay * tf.nn.l2_loss(w)
train_op = tf.train.GradientDescentOptimizer(0.5).minimize(loss)
for value in {values}:
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for step in range(20):
            begin = step * batch_size
            batch = data[begin:begin + batch_size], labels[begin:begin + batch_size]
            sess.run(train_op, {{x: batch[0], y: batch[1], decay: value}})
"""


@pytest.mark.parametrize("rows", ["[None, 8]", "(batch_size, 8)"])
@pytest.mark.parametrize("shape", ["", ", []", ", shape=()"])
@pytest.mark.parametrize("values", ["np.logspace(-4.0, -1.0, num=30)", "np.linspace(0, 1)", "[0.1, 0.2]"])
def test_a_value_of_a_search_beside_a_batch(rows: str, shape: str, values: str) -> None:
    lines = body(SCRIPT.format(rows=rows, shape=shape, values=values))
    assert [line.strip().partition(",")[0] for line in lines if "= shard" in line] == ["(x"]
    assert not any("decay_batch" in line for line in lines)


ONE = """\
import numpy as np
import tensorflow as tf

xs, ys = np.arange(9.0), np.arange(9.0)
x = tf.placeholder(tf.float32)
y = tf.placeholder(tf.float32)
loss = tf.square(x * tf.Variable(0.5) - y)
train_op = tf.train.GradientDescentOptimizer(0.01).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for a, b in zip(xs, ys):
        sess.run(train_op, {x: a, y: b})
"""
EMBEDDED = """\
import numpy as np
import tensorflow as tf

data, labels = np.random.rand(11, 3), np.random.rand(21, 3)
decay = tf.placeholder(tf.float64)
training = tf.placeholder(tf.bool, [])
w = tf.Variable(np.zeros([3, 1]))
loss = tf.reduce_mean(tf.matmul(data, w)) + tf.reduce_mean(tf.matmul(labels, w)) + decay * tf.nn.l2_loss(w)
loss = tf.cond(training, lambda: loss, lambda: 0.5 * loss)
train_op = tf.train.AdamOptimizer(0.01).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        sess.run(train_op, {decay: 0.1, training: True})
"""
UNSEEN = """\
import importlib
import sys
import tensorflow as tf

model = importlib.import_module(sys.argv[1])
x, y = model.inputs(32)
training = tf.placeholder(tf.bool, [])
loss = model.loss(x, y, training)
train_op = tf.train.AdamOptimizer(0.01).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        sess.run(train_op, {x: data[step], y: labels[step], training: True})
"""


def test_one_example() -> None:
    assert codes(ONE) == ["TMG218"]
    assert codes(
        ONE.replace("x: a, y: b", "x: xs[i], y: ys[i]").replace("a, b in zip(xs, ys)", "i in range(len(xs))")
    ) == ["TMG218"]


@pytest.mark.parametrize("script", [EMBEDDED, UNSEEN])
def test_a_rate_is_no_example(script: str) -> None:
    found = codes(script)
    assert found and "TMG218" not in found


MADE_ABOVE = """\
import numpy as np
import tensorflow as tf

x = tf.placeholder(tf.float32, [None, 4])
y = tf.placeholder(tf.float32, [None, 1])
loss = tf.reduce_mean(tf.square(tf.layers.dense(x, 1) - y))
train_op = tf.train.GradientDescentOptimizer(0.01).minimize(loss)


def train(sess, a, b):
    sess.run(train_op, {x: a, y: b})


with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        a = load()
        a = np.expand_dims(a, 0)
        train(sess, a, [[1.0]])
"""


def test_a_single_row_is_told_where_it_is_made() -> None:
    (found,) = run(MADE_ABOVE).diagnostics
    assert (found.code, found.line, found.column) == ("TMG218", 18, 13)
    assert found.message == "each training step takes one example: this batch, which line 11 feeds, has a single row"
    batches = MADE_ABOVE.replace("np.expand_dims(a, 0)", "np.reshape(a, [-1, 4])").replace("[[1.0]]", "load()")
    assert codes(batches) == ["TMG303"]  # a warning


ONE_ROW = "np.expand_dims(a, 0)"
IN_BRANCH = "np.expand_dims(a, 0)\n        if np.random.rand() < 0.5:\n            a = np.flip(a, axis=1)"
MOVED = [
    "np.minimum(np.expand_dims(a, 0), 1.0)",
    "np.clip(np.expand_dims(a, 0) * min(max(a), 3), 0.0, 1.0)",
    "np.flip(np.expand_dims(a, 0)[:, 0:4], axis=1)",
    "np.fliplr(np.float32(a[None]))",
    "np.transpose(np.expand_dims(a, 0), (0, 1))",
    IN_BRANCH,
]


@pytest.mark.parametrize("made", MOVED)
def test_a_single_row_of_which_entries_are_changed_or_moved(made: str) -> None:
    assert codes(MADE_ABOVE.replace(ONE_ROW, made)) == ["TMG218"]


@pytest.mark.parametrize(
    "made",
    [
        "np.minimum(a, 1.0)",
        "np.minimum(np.expand_dims(a, 0), load())",  # is broadcast
        "np.transpose(np.expand_dims(a, 0), (1, 0))",
        "np.expand_dims(a, 0) * min(load(), [1.0])",
        IN_BRANCH.replace("np.flip(a, axis=1)", "load()"),
        IN_BRANCH.replace("np.flip(a, axis=1)", "np.repeat(a, 4, axis=0)"),
    ],
)
def test_rows_of_which_one_is_not_known_to_be_fed(made: str) -> None:
    assert "TMG218" not in codes(MADE_ABOVE.replace(ONE_ROW, made).replace("[[1.0]]", "load()"))


READER = """\
class Reader(object):
    def __call__(self, {given}):
        rows = np.zeros(({n}, 4))
        rows[0] = load()
        for i in range(1, {n}):
            rows[i] = load()
        return rows


class Trainer(object):
    def __init__(self, batch_size=1):
        self.batch_size = batch_size

    def train(self, sess, read):
        for step in range(100):
            rows = read(self.batch_size)
            sess.run(train_op, {{x: rows, y: rows[:, :1]}})


with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    Trainer().train(sess, Reader())
"""


def reader(given: str = "n", n: str = "n") -> str:
    return MADE_ABOVE.partition("\n\ndef train")[0] + "\n\n" + READER.format(given=given, n=n)


def test_a_batch_size_that_is_one_by_default_grows() -> None:
    lines = body(reader())
    assert "    def __init__(self, batch_size=1 * num_gpus):" in lines
    assert codes(reader()) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("batch_size=1", "count=1"),  # no name of a batch size
        ("read(self.batch_size)", "read(1)"),
        ("            rows[i] = load()", "            print(load())"),  # only the first row is filled
        ("            rows[i] = load()", "            rows[0, :] += load()"),
        ("(n, 4)", "(1, 4)"),
        ("        return rows", "        return np.reshape(load(), [n, 4])"),
    ],
)
def test_a_single_row_that_is_not_counted_by_the_batch_size(old: str, new: str) -> None:
    script = reader()
    assert old in script
    if old == "batch_size=1":
        script = script.replace("self.batch_size", "self.count").replace("= batch_size", "= count")
    assert "TMG218" in codes(script.replace(old, new))


PICTURE = """\
import tensorflow as tf

style = load('style.png')
image = tf.placeholder(tf.float32, {shape})
boxes = tf.placeholder(tf.float32, [None, 4])
features = tf.layers.conv2d(image, 4, 3)
loss = tf.reduce_mean(tf.square(tf.layers.dense(boxes, 4) - tf.reduce_mean(features)))
train_op = tf.train.AdamOptimizer().minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        picture, found = next_picture(batch_size=8)
        sess.run(train_op, {{image: {fed}, boxes: found}})
"""


@pytest.mark.parametrize(
    ("shape", "fed", "found"),
    [
        ("[1, None, None, 3]", "picture", ["TMG218"]),
        ("[1, None, None, 3]", "picture['data']", ["TMG218"]),
        ("[1, None, None, 3]", "style", []),
        ("[1, None, None, 3]", "style[0]", []),
        ("[1, 64, 64, 3]", "style", []),
    ],
)
def test_rows_that_belong_to_one_picture(shape: str, fed: str, found: list[str]) -> None:
    """Boxes of the picture that a step is fed: half of them beside the whole picture would be another step."""
    assert [code for code in codes(PICTURE.format(shape=shape, fed=fed)) if code == "TMG218"] == found


FILLED = """\
import argparse
import threading
import tensorflow as tf

BATCH_SIZE = {default}
parser = argparse.ArgumentParser()
parser.add_argument('--batch_size', type=int, default={written})
parser.add_argument('--other', type=int, default=1)
args = parser.parse_args()
row = tf.placeholder(tf.float32, [4])
queue = tf.FIFOQueue(32, ['float32'], shapes=[[4]])
put = queue.enqueue([row])
x = queue.dequeue_many(args.batch_size)
loss = tf.reduce_mean(tf.layers.dense(x, 1))
step = tf.train.GradientDescentOptimizer(0.1).minimize(loss)


def fill(sess):
    {loop}:
        for one in read():
            sess.run(put, {{row: one}})


with tf.Session() as sess:
    threading.Thread(target=fill, args=(sess,)).start()
    for i in range(100):
        sess.run(step)
"""


@pytest.mark.parametrize(
    ("default", "written", "found"),
    [
        ("1", "BATCH_SIZE", ["TMG218"]),
        ("8", "1", ["TMG218"]),
        ("8", "BATCH_SIZE", ["TMG303"]),
        ("1", "BATCH_SIZE * 8", ["TMG303"]),
    ],
)
def test_a_queue_that_cannot_grow_gives_one_example_by_default(default: str, written: str, found: list[str]) -> None:
    assert codes(FILLED.format(default=default, written=written, loop="for epoch in range(9)")) == found


@pytest.mark.parametrize("loop", ["while True", "while not stopped", "while not coordinator.should_stop()"])
@pytest.mark.parametrize("default", ["1", "8"])
def test_a_queue_that_a_thread_fills_until_it_is_stopped_grows(loop: str, default: str) -> None:
    text = converted(FILLED.format(default=default, written="BATCH_SIZE", loop=loop))
    assert "x = queue.dequeue_many(args.batch_size * NUM_GPUS)" in text


@pytest.mark.parametrize("loop", ["while left()", "for epoch in range(9)"])
def test_a_queue_that_a_thread_fills_so_often_does_not_grow(loop: str) -> None:
    assert codes(FILLED.format(default="8", written="BATCH_SIZE", loop=loop)) == ["TMG303"]


KEPT = """\
import numpy as np
import tensorflow as tf

x = tf.placeholder(tf.float32, [None, None, None, 3])
y = tf.placeholder(tf.float32, [None, None, None, 3])
loss = tf.reduce_mean(tf.square(tf.layers.conv2d(x, 3, 3, padding='same') - y))
train_op = tf.train.AdamOptimizer(0.01).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    images, labels = [None] * 100, [None] * 100
    for i in np.random.permutation(100):
        if images[i] is None:
            image = np.float32(np.load('%d.npy' % i))
            images[i], labels[i] = {row}, {row}
        sess.run(train_op, {{x: images[i], y: labels[i]}})
        images[i] = labels[i] = {after}
"""


@pytest.mark.parametrize(
    ("row", "after", "alone"),
    [
        ("np.expand_dims(image, 0)", "None", True),
        ("np.expand_dims(image, 0)", "1.0", True),
        ("image", "1.0", False),
        ("np.expand_dims(image, 3)", "1.0", False),
        ("np.expand_dims(image, 0)", "image", False),
    ],
)
def test_pictures_kept_in_a_list_of_numbers(row: str, after: str, alone: bool) -> None:
    assert (codes(KEPT.format(row=row, after=after)) == ["TMG218"]) is alone
