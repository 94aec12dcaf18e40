"""Squeezes without an axis: where a tower's share of a batch is one example, the batch axis goes, too."""

from __future__ import annotations

import pytest

from tests.scripts import INPUTS, STEP, TRAINING, codes

LOSS = "loss = tf.reduce_mean(tf.square(p - tf.squeeze(Y, 1)))\n"
FIXED = INPUTS.replace("[None,", "[batch_size,")


@pytest.mark.parametrize("given", ["", "input="])
def test_squeezes_of_rows_without_an_axis(given: str) -> None:
    model = f"p = tf.squeeze({given}tf.layers.dense(X, 1))\n"
    assert codes(INPUTS + model + LOSS + STEP + TRAINING) == ["TMG385"]


@pytest.mark.parametrize(
    ("inputs", "model"),
    [
        (INPUTS, "p = tf.squeeze(tf.layers.dense(X, 1), 1)"),
        (INPUTS, "p = tf.squeeze(tf.layers.dense(X, 1), axis=[-1])"),
        (INPUTS, "p = tf.layers.dense(X, 1)[:, 0] * tf.squeeze(tf.get_variable('w', [1]))"),
        (INPUTS, "p = tf.layers.dense(X, 1)[:, 0]\nshown = tf.squeeze(p)"),
        (FIXED, "p = tf.squeeze(tf.layers.dense(X, 1))"),
    ],
)
def test_squeezes_that_keep_the_rows(inputs: str, model: str) -> None:
    assert codes(inputs + model + "\n" + LOSS + STEP + TRAINING) == []
