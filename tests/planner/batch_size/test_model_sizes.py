"""Numbers that the model takes for the batch size, though the host loads its batches by others."""

from __future__ import annotations

import pytest

from tests.scripts import codes, converted

FLAG = """\
import argparse
import tensorflow as tf

parser = argparse.ArgumentParser()
parser.add_argument('--batch', type=int, default=8)
args = parser.parse_args()
{size}
x = tf.placeholder(tf.float32, [None, 3])
y = tf.placeholder(tf.float32, [None])
loss = {loss}
train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
with tf.Session() as sess:
    for i in range(0, len(data), args.batch):
        sess.run(train_op, {{x: data[i:i + args.batch], y: labels[i:i + args.batch]}})
"""
SUM = "tf.reduce_sum(tf.square(tf.layers.dense(x, 1)[:, 0] - y))"
UNSEEN = """\
import tensorflow as tf


class Model(object):
    def __init__(self, batch_size):
        self.batch_size = batch_size
        self.x = tf.placeholder(tf.float32, [None, 3])
        self.y = tf.placeholder(tf.float32, [None])
        error = tf.square(tf.layers.dense(self.x, 1)[:, 0] - self.y)
        self.loss = tf.reduce_mean(error) + 0.1 * tf.nn.l2_loss(self.x) / {size}
        self.train_op = tf.train.GradientDescentOptimizer(0.1).minimize(self.loss)


size = 8
model = Model(size)
with tf.Session() as sess:
    for step in range(9):
        xs, ys = [], []
        rows = draw() if size <= len(people) else [pick(people) for _ in range(size)]
        for row in rows:
            xs += look_up(row)
            ys += name_of(row)
        sess.run(model.train_op, {{model.x: xs, model.y: ys}})
"""


@pytest.mark.parametrize("by", ["/ batch_size", "/ tf.cast(batch_size, tf.float32)", "* (1.0 / batch_size)"])
def test_a_sum_is_divided_by_the_total_where_a_step_may_have_fewer_rows(by: str) -> None:
    made = converted(FLAG.format(size="batch_size = 8", loss=f"{SUM} {by}"), batch="total")
    assert "shard_size" not in made and f"\nloss = tf.reduce_sum(square_result) {by}\n" in made


@pytest.mark.parametrize("by", ["/ batch_size", "/ tf.cast(batch_size, tf.float32)"])
def test_a_sum_is_divided_by_a_shard_where_each_step_has_as_many_rows(by: str) -> None:
    script = FLAG.format(size="batch_size = 8", loss=f"{SUM} {by}")
    script = script.replace("[None, 3]", "[batch_size, 3]").replace("[None]", "[batch_size]")
    assert "batch_size = shard_size(global_batch_size, gpu)" in converted(script, batch="total")


def test_a_number_of_its_own_is_one_towers_already() -> None:
    script = FLAG.format(size="batch_size = 8", loss=f"{SUM} / batch_size")
    made = converted(script)
    assert "shard_size" not in made and "batch_size = 8\n" in made and "args.batch * num_gpus" in made


def test_batches_whose_size_is_not_found() -> None:
    script = UNSEEN.format(size="self.batch_size")
    made = converted(script)
    assert codes(script) == ["TMG303"]
    assert "\n        self.loss = tf.reduce_mean(error) + 0.1 * tf.nn.l2_loss(self.x) / self.batch_size\n" in made


@pytest.mark.parametrize("number", ["0.1 * decay", "0.1 / decay"])
def test_other_numbers_stay(number: str) -> None:
    script = UNSEEN.format(size="self.batch_size").replace("0.1 * tf.nn", f"{number} * tf.nn")
    made = converted(script.replace("batch_size)", "batch_size, decay=0.5)", 1))
    assert "decay = " not in made
