"""Dense layers of tf.contrib, whose activation and normalizer may be given by position."""

from __future__ import annotations

import pytest

from tests.scripts import INPUTS, STEP, TRAINING, codes, converted

LAYER = "tf.contrib.layers.fully_connected"


@pytest.mark.parametrize(
    ("layer", "found"),
    [
        (f"{LAYER}(mean, 10, None)", []),
        (f"{LAYER}(mean, 10, activation_fn=None)", []),
        ("tf.layers.dense(mean, 10)", []),
        (f"{LAYER}(mean, 10)", ["TMG302"]),
        (f"{LAYER}(mean, 10, tf.nn.relu)", ["TMG302"]),
        (f"{LAYER}(mean, 10, None, tf.contrib.layers.batch_norm)", ["TMG302"]),
        ("tf.layers.dense(mean, 10, tf.nn.relu)", ["TMG302"]),
    ],
)
def test_on_a_mean_over_the_batch(layer: str, found: list[str]) -> None:
    model = f"mean = tf.reduce_mean(tf.layers.dense(X, 4), 0, keepdims=True)\nloss = tf.reduce_mean({layer})\n"
    text = INPUTS.replace("Y = tf.placeholder(tf.float32, [None, 1])\n", "") + model + STEP
    assert [code for code in codes(text + TRAINING.replace(", Y: ys", "")) if code == "TMG302"] == found


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ("tf.nn.relu, tf.contrib.layers.batch_norm", True),
        ("normalizer_fn=tf.contrib.layers.batch_norm", True),
        ("tf.nn.relu", False),
    ],
)
def test_updates_of_a_batch_norm_run_once(given: str, found: bool) -> None:
    model = f"loss = tf.reduce_mean(tf.square(tf.layers.dense({LAYER}(X, 4, {given}), 1) - Y))\n"
    text = converted(INPUTS + model + STEP + TRAINING)
    assert ("first_tower_updates(gpu)" in text) is found
