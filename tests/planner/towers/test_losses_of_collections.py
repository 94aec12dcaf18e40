"""A loss that is read from a collection in the call that builds the whole training step."""

from __future__ import annotations

import pytest

from tests.scripts import INPUTS, TRAINING, codes

MODEL = "slim = tf.contrib.slim\nh = tf.layers.dense(X, 1)\nmean = tf.losses.mean_squared_error(Y, h)\n"
CREATE = "train_op = slim.learning.create_train_op({}, tf.train.AdamOptimizer(0.1))\n"


@pytest.mark.parametrize("loss", ["tf.losses.get_total_loss()", "tf.add_n(tf.losses.get_losses())"])
def test_it_needs_a_name(loss: str) -> None:
    """After the towers the collection holds the first tower's losses; before, the second reading stopped it."""
    assert codes(INPUTS + MODEL + CREATE.format(loss) + TRAINING) == ["TMG209"]
    assert codes(INPUTS + MODEL + f"total = {loss}\n" + CREATE.format("total") + TRAINING) == []


@pytest.mark.parametrize("loss", ["mean", "mean + 0.1 * tf.nn.l2_loss(tf.trainable_variables()[0])"])
def test_others_need_none(loss: str) -> None:
    assert codes(INPUTS + MODEL + CREATE.format(loss) + TRAINING) == []


def test_minimize_needs_none() -> None:
    step = "train_op = tf.train.AdamOptimizer(0.1).minimize(tf.losses.get_total_loss())\n"
    assert codes(INPUTS + MODEL + step + TRAINING) == []
