"""Batches that a file holds, or that a loop fills: their length is no length of a data set."""

from __future__ import annotations

import pytest

from tests.planner.batch_size.fed.test_rows import GRAPH, scaled
from tests.scripts import INPUTS, MODEL, STEP, codes

HELD = """\
import pickle

batches = pickle.load(open('batches.pkl', 'rb'))
sess = tf.Session()
for epoch in range(3):
    for i in range(len(batches)):
        rows, labels = np.array(batches[i]['rows']), np.array(batches[i]['labels'])
        actual_batch_size = len(labels)
        value, _ = sess.run([loss, train_op], {X: rows, Y: labels})
        print(value * actual_batch_size)
"""
CHUNKS = """\
import pandas as pd

batch_size = 32
sess = tf.Session()
for part in pd.read_csv('train.csv', chunksize=batch_size):
    actual_batch_size = len(part)
    rows, labels = [], []
    for i in range(actual_batch_size):
        rows.append(part.iloc[i, :-1])
        labels.append(part.iloc[i, -1:])
    sess.run(train_op, {X: np.array(rows), Y: np.array(labels)})
"""
SOME = """\
batch_size = {size}
sess = tf.Session()
for i in range(0, len(data), batch_size):
    sess.run(train_op, {{X: data[i:i + batch_size, :4], Y: data[i:i + batch_size, 4:]}})
"""


@pytest.mark.parametrize("training", [HELD, CHUNKS, SOME.format(size="min(64, len(data))")])
def test_the_length_of_a_batch_is_not_that_of_the_data(training: str) -> None:
    assert codes(GRAPH + training) == ["TMG303"]


@pytest.mark.parametrize("size", ["len(data)", "data.shape[0]", "int(len(data))"])
def test_the_length_of_the_data(size: str) -> None:
    assert codes(GRAPH + SOME.format(size=size)) == ["TMG304"]


DRAWN = """\
def get_batch(size):
    rows, labels = [], []
    for i in random.sample(range(len(data)), size):
        rows.append(data[i, :4])
        labels.append(data[i, 4:])
    return np.asarray(rows), np.asarray(labels)


class Trainer(object):
    def __init__(self, batch_size=10):
        self.batch_size = batch_size

    def train(self):
        sess = tf.Session()
        for i in range(100):
            rows, labels = get_batch({size})
            sess.run(train_op, {{X: rows, Y: labels}})
            if i % 10 == 0:
                print(i)


Trainer().train()
"""


def test_a_list_that_a_loop_fills_by_the_batch_size_tells_it() -> None:
    """The same number in another meaning is no doubt then."""
    assert scaled(GRAPH + DRAWN.format(size="self.batch_size")) == ["def __init__(self, batch_size=10 * num_gpus):"]


def test_without_a_name_the_same_number_stays_a_doubt() -> None:
    assert codes(GRAPH + DRAWN.format(size="10")) == ["TMG303"]


SORTED = """\
batch_size = 32
sess = tf.Session()
for i in range(0, len(data), batch_size):
    batch = data[i:i + batch_size]
    {}
    sess.run(train_op, {{X: [row[:4] for row in batch], Y: [row[4:] for row in batch]}})
"""


@pytest.mark.parametrize(
    "order",
    [
        "pass",
        "batch = sorted(batch, key=lambda row: row[0])",
        "if len(sys.argv) > 1:\n        batch = sorted(batch, key=lambda row: row[0], reverse=True)",
    ],
)
def test_sorted_rows_are_as_many(order: str) -> None:
    assert scaled(GRAPH + "import sys\n" + SORTED.format(order)) == ["batch_size = 32 * num_gpus"]


FED_BY = """\
import queue
import threading
waiting = queue.Queue()
sess = tf.Session()
def produce():
    while True:
        waiting.put(np.array(play()))
{begin}
for step in range(9):
    {take}
    sess.run(train_op, {{X: xs, Y: ys}})
"""


@pytest.mark.parametrize(
    ("begin", "take", "found"),
    [
        ("threading.Thread(target=produce).start()", "xs = ys = waiting.get()", "TMG303"),
        ("xs = ys = np.array(play())", "print(step)", "TMG304"),  # made once, and fed in each step
    ],
)
def test_what_a_thread_makes_is_not_the_same_in_each_step(begin: str, take: str, found: str) -> None:
    assert codes("import numpy as np\n" + INPUTS + MODEL + STEP + FED_BY.format(begin=begin, take=take)) == [found]
