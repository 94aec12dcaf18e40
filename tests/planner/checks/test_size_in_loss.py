"""With --batch total, a loss is computed with the batch size only as the divisor of a sum over the examples."""

from __future__ import annotations

import pytest

from tests.scripts import INPUTS, TRAINING, codes

LOSSES = "losses = tf.reduce_sum(tf.square(tf.layers.dense(X, 1) - Y), 1)\n"
STEP = "train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)\n"
DECAY = "tf.add_n([tf.nn.l2_loss(v) for v in tf.trainable_variables()])"


@pytest.mark.parametrize(
    "loss",
    [
        "tf.reduce_mean(losses) * batch_size",
        "tf.reduce_mean(losses) / batch_size",  # on two towers the average of these is twice the whole batch's
        "tf.reduce_mean(losses / batch_size)",
        "tf.reduce_sum(losses / batch_size)",
        "tf.reduce_sum(losses) / (batch_size + 1)",
        "tf.reduce_sum(losses) * (1.0 / tf.to_float(batch_size))",
        "tf.reduce_mean(losses * tf.fill([1], batch_size))",
        "tf.reduce_mean(losses * (tf.ones([1]) * batch_size))",
        "tf.reduce_mean(losses * tf.stack([batch_size]))",
    ],
)
def test_any_other_place_is_refused(loss: str) -> None:
    text = INPUTS + LOSSES + f"loss = {loss}\n" + STEP + TRAINING
    assert "TMG207" in codes(text, batch="total")
    assert "TMG207" not in codes(text)


@pytest.mark.parametrize(
    "loss",
    [
        "tf.reduce_sum(losses) / batch_size",
        "tf.reduce_sum(losses) * (1.0 / batch_size)",
        "tf.reduce_sum(losses) / tf.cast(batch_size, tf.float32)",
        "tf.reduce_sum(losses) / tf.to_float(tf.constant(batch_size))",
        "2.0 * tf.reduce_sum(losses) / (batch_size * 3)",
        f"tf.reduce_sum(losses) / batch_size + {DECAY}",
        f"tf.reduce_sum(losses) / batch_size + {DECAY} / batch_size",
        "tf.reduce_mean(tf.reshape(losses, [batch_size, 1]) + 1.0)",
        "tf.reduce_mean(losses * 32)",
        "tf.reduce_mean(losses * tf.ones([(batch_size + 1) // 2])[0])",
        "tf.reduce_mean(losses + tf.zeros([(batch_size + 1) // 2])[0])",
    ],
)
def test_divisors_of_sums_are_not(loss: str) -> None:
    assert "TMG207" not in codes(INPUTS + LOSSES + f"loss = {loss}\n" + STEP + TRAINING, batch="total")


@pytest.mark.parametrize("size", ["batch_size", "tf.to_float(tf.constant(batch_size))", "tf.to_float(batch_size)"])
def test_a_mean_in_a_loop_beside_weight_decay(size: str) -> None:
    """The sum that is divided by a number of the graph is a mean, of which the term beside it is none too many."""
    heads = f"    loss += tf.reduce_sum(tf.square(tf.layers.dense(X, 1) - Y)) / {size}\n"
    text = INPUTS + "loss = tf.nn.l2_loss(tf.get_variable('w', [3]))\nfor head in range(2):\n" + heads + STEP + TRAINING
    assert "TMG211" not in codes(text, batch="total")
    assert "TMG211" in codes(text.replace(f" / {size}", " / 7.0"), batch="total")
