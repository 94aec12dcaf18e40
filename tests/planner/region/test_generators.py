"""Generators of the script: each tower must take the same values, or make a generator of its own."""

from __future__ import annotations

import pytest

from tests.scripts import INPUTS, STEP, TRAINING, codes, converted, run

LOSS = "loss = tf.reduce_mean(tf.square(h - Y))\n"
RATES = """\
def rates():
    rate = 1.0
    while True:
        rate = rate / 2
        yield rate


"""
LAYERS = """\
def layers(x):
    while True:
        x = tf.layers.dense(x, 1)
        yield x


"""


def script(before: str, model: str) -> str:
    return INPUTS + before + model + LOSS + STEP + TRAINING


@pytest.mark.parametrize(
    "model",
    [
        "h = tf.layers.dense(X, 1) * next(source)\n",
        "def model(x, given):\n    return tf.layers.dense(x, 1) * next(given)\n\n\nh = model(X, source)\n",
        "h = X\nfor rate in source:\n    h = tf.layers.dense(h, 1) * rate\n",
    ],
    ids=["next", "handed over", "loop"],
)
def test_a_generator_made_before_the_towers(model: str) -> None:
    (found,) = run(script(RATES + "source = rates()\n", model)).diagnostics
    assert found.code == "TMG231" and found.message.startswith("the model takes values of the generator source: each")


def test_the_edit() -> None:
    assert codes(script(RATES + "source = rates()\nrate = next(source)\n", "h = tf.layers.dense(X, 1) * rate\n")) == []


def test_a_generator_that_each_tower_makes() -> None:
    assert "source = layers(X)" in converted(script(LAYERS, "source = layers(X)\nh = next(source) + next(source)\n"))


def test_batches_that_are_fed() -> None:
    batches = "def batches():\n    while True:\n        yield next_batch(batch_size)\n\n\nsource = batches()\n"
    text = script(batches, "h = tf.layers.dense(X, 1)\n")
    text = text.replace("xs, ys = next_batch(batch_size)", "xs, ys = next(source)")
    assert codes(text) == []
