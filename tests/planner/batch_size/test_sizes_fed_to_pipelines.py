"""The size of a pipeline is a placeholder: it grows where steps of training are fed, or their data is set up."""

from __future__ import annotations

import pytest

from tests.planner.batch_size.fed.test_rows import scaled
from tests.scripts import codes

DATA_SET = """\
import numpy as np
import tensorflow as tf

size = tf.placeholder(tf.int64)
X, Y = tf.placeholder(tf.float32, [None, 2]), tf.placeholder(tf.float32, [None, 1])
data = tf.data.Dataset.from_tensor_slices((X, Y)).batch(size).repeat()
iterator = data.make_initializable_iterator()
x, y = iterator.get_next()
loss = tf.losses.mean_squared_error(y, tf.layers.dense(x, 1))
train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
train, test = np.load('train.npy'), np.load('test.npy')
sess = tf.Session()
sess.run(iterator.initializer, {X: test[:, :2], Y: test[:, 2:], size: 20})
print(sess.run(loss))
n = 16
sess.run(iterator.initializer, {X: train[:, :2], Y: train[:, 2:], size: n})
for step in range(100):
    sess.run(train_op)
sess.run(iterator.initializer, {X: test[:, :2], Y: test[:, 2:], size: 20})
print(sess.run(loss))
"""
OTHER = "data.make_initializable_iterator()\nrest = data.make_initializable_iterator()\n"
BETWEEN = "for step in range(100):\n"


def test_a_size_that_sets_up_the_data_of_training() -> None:
    assert scaled(DATA_SET) == ["n = 16 * num_gpus"]


def test_a_size_that_sets_up_other_data_last() -> None:
    text = DATA_SET.replace("data.make_initializable_iterator()\n", OTHER)
    other = "sess.run(rest.initializer, {X: test[:, :2], Y: test[:, 2:], size: 20})\n"
    assert scaled(text.replace(BETWEEN, other + BETWEEN)) == ["n = 16 * num_gpus"]


@pytest.mark.parametrize("fed", ["np.int64(open('size').read())", "len(train)"])
def test_sizes_that_are_not_known(fed: str) -> None:
    assert scaled(DATA_SET.replace("n = 16", f"n = {fed}")) == []


QUEUE = """\
import numpy as np
import tensorflow as tf
from tensorflow.python.ops import data_flow_ops

n = 8
rows, numbers = np.load('rows.npy'), np.load('numbers.npy')
places = tf.train.range_input_producer(len(rows), shuffle=True).dequeue_many(n * 100)
size = tf.placeholder(tf.int32)
X, Y = tf.placeholder(tf.float32, [None, 6]), tf.placeholder(tf.int64, [None])
queue = data_flow_ops.FIFOQueue(10000, [tf.float32, tf.int64], [(6,), ()])
fill = queue.enqueue_many([X, Y])
x, y = tf.train.batch_join([queue.dequeue() for _ in range(2)], size, shapes=[(6,), ()], allow_smaller_final_batch=True)
loss = tf.losses.sparse_softmax_cross_entropy(y, tf.layers.dense(x, 5))
train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
sess = tf.Session()
for epoch in range(2):
    picked = sess.run(places)
    sess.run(fill, {X: rows[picked], Y: numbers[picked]})
    for step in range(100):
        sess.run(train_op, {size: n})
    sess.run(fill, {X: rows[:50], Y: numbers[:50]})
    for step in range(10):
        print(sess.run(loss, {size: 5}))
"""


def test_a_size_that_each_step_is_fed() -> None:
    assert scaled(QUEUE) == ["n = 8 * num_gpus"]
    text = QUEUE.replace("rows[picked]", "rows").replace("numbers[picked]", "numbers")
    assert "n = 8 * num_gpus" in scaled(text.replace("range(100)", "range(len(rows) // n)"))


def test_steps_that_end_with_the_queue() -> None:
    text = QUEUE.replace("n * 100", "800").replace("for step in range(100):", "while not coord.should_stop():")
    assert scaled(text) == ["n = 8 * num_gpus"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("n * 100", "800"),
        ("sess.run(places)", "np.random.permutation(len(rows))[:800]"),
    ],
)
def test_queues_that_are_filled_with_as_many_examples_as_before(old: str, new: str) -> None:
    """More steps would be waited for than there are examples: the script would never end."""
    assert codes(QUEUE.replace(old, new)) == ["TMG303"]
