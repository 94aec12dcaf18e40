"""Calls that are not followed and may add a loss to the collection of all losses."""

from __future__ import annotations

import pytest

from tests.scripts import codes, converted

SCRIPT = """\
import numpy as np
import tensorflow as tf
import unseen

batch_size = 8
x = tf.placeholder(tf.float32, [None, 4])
y = tf.placeholder(tf.int64, [None])
logits = tf.layers.dense(x, 3)
{before}
tf.losses.sparse_softmax_cross_entropy(y, logits)
loss = {loss}
{after}
train_op = tf.train.AdamOptimizer(0.01).minimize(loss)
data = np.random.rand(64, 4)
labels = np.random.randint(3, size=64)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(0, 64, batch_size):
        sess.run(train_op, {{x: data[i:i + batch_size], y: labels[i:i + batch_size]}})
"""
OWN = "tf.losses.softmax_cross_entropy(tf.one_hot(y, 3), logits)"
TOTAL = "tf.losses.get_total_loss()"
SUMS = {
    "the total": TOTAL,
    "a list": "tf.add_n(tf.losses.get_losses())",
    "the collection": "tf.add_n(tf.get_collection(tf.GraphKeys.LOSSES))",
    "one of its own": f"tf.add_n([{OWN}] + tf.get_collection('own'))",
}


def script(before: str = "pass", after: str = "pass", loss: str = TOTAL) -> str:
    return SCRIPT.format(before=before, after=after, loss=loss)


@pytest.mark.parametrize("loss", SUMS.values(), ids=SUMS)
@pytest.mark.parametrize("call", ["unseen.add_penalty(logits)", "net = unseen.Net(3)\nnet(logits)"])
def test_refused_where_it_gets_a_batch_before_all_losses_are_taken(loss: str, call: str) -> None:
    text = script(call, loss=loss)
    assert codes(text) == ["TMG203"]
    inline = text.replace(f"loss = {loss}\n", "").replace("minimize(loss)", f"minimize({loss})")
    assert codes(inline) == ["TMG203"]
    own = "tf.losses.sparse_softmax_cross_entropy(y, logits)\n"
    assert codes(inline.replace(own, "").replace(call, own + call)) == ["TMG203"]


def test_it_is_the_reason_where_no_other_loss_is_seen() -> None:
    text = script("unseen.add_loss(logits, y)").replace("tf.losses.sparse_softmax_cross_entropy(y, logits)\n", "")
    assert codes(text) == ["TMG241"]


@pytest.mark.parametrize(
    "text",
    [
        script("unseen.prepare(batch_size)"),
        script(after="unseen.show(logits)"),
        script("print(logits)"),
        script("unseen.show(logits)", loss=OWN),
    ],
    ids=["no batch", "after the losses", "a call that is known", "a loss of its own"],
)
def test_converted_where_no_loss_can_come_from_it(text: str) -> None:
    assert "compute_gradients" in converted(text) or "tower_gradients" in converted(text)
