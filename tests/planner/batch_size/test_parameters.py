"""Parameters of methods that nothing calls: a batch of examples is left alone, a number of examples is multiplied."""

from __future__ import annotations

import pytest

from tests.scripts import body, codes, run

MODEL = """\
import numpy as np
import tensorflow as tf


class Model(object):
    def __init__(self, data):
        self.data = data
        self.x = tf.placeholder(tf.float32, [None, 4])
        self.y = tf.placeholder(tf.int64, [None])
        logits = tf.layers.dense(self.x, 3)
        self.loss = tf.losses.sparse_softmax_cross_entropy(self.y, logits)
        self.train_op = tf.train.AdamOptimizer(0.01).minimize(self.loss)

    def feed(self, batch):
        return {{self.x: batch['x'], self.y: batch['y']}}

    def train(self, sess, {}):
        {}
"""
RUN = "return sess.run([self.train_op, self.loss], {})"
EXAMPLES = (
    ("batch", "{self.x: batch['x'], self.y: batch['y']}"),
    ("batch", "{self.x: batch[0], self.y: batch[1]}"),
    ("batch", "{self.x: batch.x, self.y: batch.y}"),
    ("batch", "{self.x: [r[0] for r in batch], self.y: [r[1] for r in batch]}"),
    ("batch", "{self.x: np.array(batch)[:, :4], self.y: np.array(batch)[:, 4]}"),
    ("batch", "feed_dict=self.feed(batch)"),
    ("batch_x, batch_y", "{self.x: batch_x, self.y: batch_y}"),
    ("x_batch, y_batch", "{self.x: x_batch / 255., self.y: y_batch}"),
)
NUMBERS = (
    ("i, batch", "{self.x: self.data.x[i:i + batch], self.y: self.data.y[i:i + batch]}"),
    ("batch_size", "self.feed(self.data.next_batch(batch_size))"),
)


@pytest.mark.parametrize(("names", "feed"), EXAMPLES)
def test_examples_stay(names: str, feed: str) -> None:
    text = MODEL.format(names, RUN.format(feed))
    assert not {"TMG303", "TMG304"}.isdisjoint(codes(text))  # the batch size stays the whole batch's
    assert "TMG305" not in codes(text)
    assert "*=" not in "".join(body(text))


@pytest.mark.parametrize(("names", "feed"), NUMBERS)
def test_numbers_grow(names: str, feed: str) -> None:
    text = MODEL.format(names, RUN.format(feed))
    assert [code for code in codes(text) if code != "TMG351"] == ["TMG305"]  # some are handed their session
    assert f"        {names.split(', ')[-1]} *= num_gpus" in body(text)
    assert any("the caller's own uses" in d.message for d in run(text).diagnostics)
