"""What is said of training steps that cannot be converted: the argument that stands in the way, by its text."""

from __future__ import annotations

import pytest

from tests.scripts import INPUTS, TRAINING, codes, converted, run

ROOT = INPUTS + "loss = tf.sqrt(tf.reduce_mean(tf.square(tf.layers.dense(X, 1) - Y)))\n"
STEP = "train_op = tf.train.AdamOptimizer().minimize(loss{})\n"


def test_a_call_that_places_its_gradients_stays_as_it_is() -> None:
    text = converted(ROOT + STEP.format(", colocate_gradients_with_ops=True") + TRAINING, loss="global")
    assert "minimize(loss, colocate_gradients_with_ops=True)" in text


@pytest.mark.parametrize(("given", "expected"), [(", **settings", ["TMG213"]), (", name='step'", ["TMG302"])])
def test_arguments_that_are_not_written_out_are_named(given: str, expected: list[str]) -> None:
    script = ROOT + STEP.format(given) + TRAINING
    assert codes(script) == expected
    (found,) = run(script).diagnostics
    assert ("given by * or **" in found.message) == (expected == ["TMG213"])
