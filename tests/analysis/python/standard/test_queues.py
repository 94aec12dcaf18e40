"""Queues of Python: what worker threads and processes put in is what the training loop feeds."""

from __future__ import annotations

import pytest

from tests.scripts import codes, converted

SAMPLER = """\
import multiprocessing
import queue
import threading

import numpy as np
import tensorflow as tf


def sample(data, size, waiting):
    while True:
        rows = []
        for _ in range(size):
            row = np.random.randint(0, len(data))
            rows.append((data[row], data[row][:1]))
        {put}


class Sampler(object):
    def __init__(self, data, size=64, workers=1):
        self.waiting = {queue}
        self.workers = []
        for _ in range(workers):
            self.workers.append({worker}(target=sample, args=(data, size, self.waiting)))
            self.workers[-1].daemon = True
            self.workers[-1].start()

    def next_batch(self):
        return self.waiting.get()


rows = 32
X = tf.placeholder(tf.float32, [None, 6])
Y = tf.placeholder(tf.float32, [None, 1])
loss = tf.reduce_mean(tf.square(tf.layers.dense(X, 1) - Y))
train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
sampler = Sampler(np.random.rand(160, 6), size=rows, workers=3)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        xs, ys = sampler.next_batch()
        sess.run(train_op, {{X: xs, Y: ys}})
"""
PUT = "waiting.put(zip(*rows))"


@pytest.mark.parametrize(
    ("queue", "worker"),
    [("multiprocessing.Queue(maxsize=30)", "multiprocessing.Process"), ("queue.Queue(8)", "threading.Thread")],
)
@pytest.mark.parametrize("put", [PUT, "waiting.put(([x for x, _ in rows], [y for _, y in rows]))"])
def test_batches_that_a_worker_puts_into_a_queue_are_scaled(queue: str, worker: str, put: str) -> None:
    """Their size was not found, and the towers shared a batch."""
    assert "rows = 32 * num_gpus\n" in converted(SAMPLER.format(queue=queue, worker=worker, put=put))


@pytest.mark.parametrize(
    "put", ["waiting.put(zip(*rows[:-1]))", "rows.append(rows[0])\n        " + PUT, "collate(rows)"]
)
def test_batches_of_another_size_are_shared(put: str) -> None:
    script = SAMPLER.format(queue="multiprocessing.Queue()", worker="multiprocessing.Process", put=put)
    assert codes(script) == ["TMG303"]


POOL = """\
import queue
import threading

import numpy as np
import tensorflow as tf


def work(inside, outside):
    while True:
        rows = inside.get()
        if rows is None:
            return
        others = []
        for row in rows:
            others.append(row[:1])
        outside.put((rows, others))


X = tf.placeholder(tf.float32, [None, 6])
Y = tf.placeholder(tf.float32, [None, 1])
loss = tf.reduce_mean(tf.square(tf.layers.dense(X, 1) - Y))
train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
data = np.load('data.npy')
size = 8
inside, outside = queue.Queue(), queue.Queue()
threading.Thread(target=work, args=(inside, outside)).start()
for begin in range(0, len(data), size):
    inside.put(data[begin:begin + size])
inside.put(None)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(-(-len(data) // size)):
        xs, ys = outside.get()
        sess.run(train_op, {X: xs, Y: ys})
"""


def test_a_worker_that_waits_for_batches_hands_them_on() -> None:
    assert "size = 8 * num_gpus\n" in converted(POOL)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("outside.put((rows, others))", "outside.put((rows, others)); inside.put((rows[:3], others))"),
        ("inside.put(None)", "inside.put(data[:5])"),
        ("outside.put((rows, others))", "outside.put((rows[:3], others[:3]))"),
        ("rows = inside.get()", "rows = inside.get()[:3]"),
    ],
)
def test_workers_that_get_batches_of_several_sizes(old: str, new: str) -> None:
    assert "size = 8 * num_gpus\n" not in converted(POOL.replace(old, new))
