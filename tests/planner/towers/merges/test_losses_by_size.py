"""Sums over the examples divided by the batch size, which grows: runs of other numbers of examples are told of."""

from __future__ import annotations

import pytest

from tests.scripts import INPUTS, STEP, codes

MODEL = "losses = tf.square(tf.layers.dense(X, 1) - Y)\nloss = {loss}\n"
RUNS = """\
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        xs, ys = next_batch(batch_size)
        sess.run(train_op, {{X: xs, Y: ys}})
    {run}
"""
SUM = "tf.reduce_sum(losses) / batch_size"
APART = "print(sess.run(loss, {X: valid_x, Y: valid_y}))"


@pytest.mark.parametrize(
    "loss",
    [
        SUM,
        "tf.reduce_sum(losses) / float(batch_size)",
        "tf.reduce_sum(losses) * (1. / batch_size)",
        "tf.div(tf.reduce_sum(losses), tf.to_float(batch_size))",
        "tf.nn.l2_loss(tf.layers.dense(X, 1) - Y) / batch_size",
        "0.5 * (tf.reduce_sum(losses) / batch_size)",
    ],
)
@pytest.mark.parametrize(
    "run",
    [
        APART,
        "print(loss.eval({X: valid_x, Y: valid_y}))",
        "print(sess.run([loss, losses], feed_dict={X: valid_x[:500], Y: valid_y[:500]}))",
        "print(sess.run(tf.summary.scalar('loss', loss), {X: valid_x, Y: valid_y}))",
    ],
)
def test_runs_of_other_rows(loss: str, run: str) -> None:
    assert codes(INPUTS + MODEL.format(loss=loss) + STEP + RUNS.format(run=run)) == ["TMG301"]


@pytest.mark.parametrize(
    ("loss", "run"),
    [
        ("tf.reduce_mean(losses)", APART),
        ("tf.reduce_sum(losses) / tf.to_float(tf.shape(X)[0])", APART),
        (SUM, "print(sess.run(losses, {X: valid_x, Y: valid_y}))"),
        (SUM, "print(sess.run(loss, {X: valid_x[:batch_size], Y: valid_y[:batch_size]}))"),
        (SUM, "print(sess.run([loss, train_op], {X: xs, Y: ys}))"),
        (SUM, "pass"),
    ],
    ids=["a mean", "by its rows", "not the loss", "a batch", "a step", "none"],
)
def test_near_misses(loss: str, run: str) -> None:
    assert codes(INPUTS + MODEL.format(loss=loss) + STEP + RUNS.format(run=run)) == []


def test_shared_batches_keep_the_number() -> None:
    text = INPUTS + MODEL.format(loss=SUM) + STEP + RUNS.format(run=APART)
    assert "TMG301" not in codes(text, batch="total")
