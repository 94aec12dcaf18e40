"""Lists of variables whose entries are told apart by their positions."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from tests.scripts import INPUTS, TRAINING, parts

MODEL = """\
features = tf.square(X)
w1 = tf.get_variable('w1', [int(features.shape[1]), 3])
hidden = tf.matmul(features, w1)
w2 = tf.get_variable('w2', [3, 1])
prediction = tf.matmul(hidden, w2)
scale = 1.0 + tf.reduce_mean(hidden) * 0
b2 = tf.get_variable('b2', [1])
loss = tf.reduce_mean(tf.square(prediction + b2 - Y))
"""
STEP = "train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, var_list={0})\n"


def made(*places: Iterable[str]) -> list[str]:
    """The names of the variables that the lines of these places make, in their order."""
    return [line.partition(" =")[0] for lines in places for line in lines if "get_variable('" in line]


@pytest.mark.parametrize(
    "variables",
    [
        "[tf.trainable_variables()[-1]]",
        "tf.trainable_variables()[1:]",
        "[v for i, v in enumerate(tf.trainable_variables()) if i > 0]",
        "[v for v in tf.global_variables() if v.trainable][:2]",
        "tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES)[:-1]",
        "[tf.trainable_variables().pop()]",
    ],
)
def test_variables_are_made_in_the_script_s_order(variables: str) -> None:
    before, inside, _ = parts(INPUTS + MODEL + STEP.format(variables) + TRAINING)
    assert made(before, inside) == ["w1", "w2", "b2"]


@pytest.mark.parametrize("variables", ["last", "[first, second, last]"])
def test_unpacked(variables: str) -> None:
    taken = "first, second, last = tf.trainable_variables()\n"
    before, inside, _ = parts(INPUTS + MODEL + taken + STEP.format(variables) + TRAINING)
    assert made(before, inside) == ["w1", "w2", "b2"]


@pytest.mark.parametrize(
    "variables",
    [
        "tf.trainable_variables()",
        "[v for v in tf.trainable_variables() if 'w' in v.name]",
        "[w1, w2][:1]",
        "tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, 'w')",
    ],
)
def test_variables_stay_in_front_where_no_position_is_read(variables: str) -> None:
    before, inside, _ = parts(INPUTS + MODEL + STEP.format(variables) + TRAINING)
    assert made(inside) == ["w1"]
    assert "w2 = tf.get_variable('w2', [3, 1])" in before
