"""Functions whose calls share their variables: `tf.make_template`."""

from __future__ import annotations

import pytest

from tests.scripts import INPUTS, STEP, TRAINING, codes, parts

NET = "def net(x, units):\n    return tf.layers.dense(x, units)\n\n\n"
LOSS = "loss = tf.reduce_mean(tf.square({} - Y))\n"


@pytest.mark.parametrize(
    "model",
    [
        NET + "model = tf.make_template('model', net, units=1)\n" + LOSS.format("model(X)"),
        NET + "model = tf.make_template('model', net, create_scope_now_=True, units=1)\n" + LOSS.format("model(X)"),
        NET + "model = tf.make_template('model', net)\n" + LOSS.format("model(X, 1) + model(X * 2.0, 1)"),
        "model = tf.make_template('model', lambda x: tf.layers.dense(x, 1))\n" + LOSS.format("model(X)"),
    ],
)
def test_templates_are_followed(model: str) -> None:
    before, inside, _ = parts(INPUTS + model + STEP + TRAINING)
    assert any("make_template" in line for line in before) and any("model(X" in line for line in inside)
    assert codes(INPUTS + model + STEP + TRAINING) == []


def test_a_template_of_what_is_not_followed() -> None:
    model = "from other import net\nmodel = tf.make_template('model', net)\n" + LOSS.format("model(X)")
    assert codes(INPUTS + model + STEP + TRAINING) != []
