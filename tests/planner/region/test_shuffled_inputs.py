"""Rows of an input in a random order are drawn once, of the whole batch, and cut like another input."""

from __future__ import annotations

import pytest

from tests.scripts import INPUTS, STEP, TRAINING, body, codes

MODEL = """\
hidden = tf.layers.dense(X, 8)
{}
prediction = tf.layers.dense(tf.concat([hidden, T], 1), 1)
loss = tf.reduce_mean(tf.square(prediction - T) + tf.square(prediction - Y))
"""
SHUFFLED = ["T = tf.random_shuffle(Y)", "T = tf.random.shuffle(Y, seed=3)"]


@pytest.mark.parametrize("shuffled", SHUFFLED)
def test_in_front_of_the_towers(shuffled: str) -> None:
    script = INPUTS + MODEL.format(shuffled) + STEP + TRAINING
    lines = [line.strip() for line in body(script)]
    (cut,) = (line for line in lines if " = shard(" in line)
    assert cut.startswith("(X, Y, T), rows, weight = ") and lines.count(shuffled) == 1
    assert lines.index(shuffled) < lines.index("for gpu in range(num_gpus):")
    assert codes(script) == []


NET = """\
class Net(object):
    def __init__(self):
        self.x = X = tf.placeholder(tf.float32, [None, 4])
        self.y = Y = tf.placeholder(tf.float32, [None, 1])
{}
        self.loss = loss


net = Net()
X, Y, loss = net.x, net.y, net.loss
"""


def test_of_an_object() -> None:
    model = "".join(f"        {line}\n" for line in MODEL.format(SHUFFLED[0]).splitlines())
    head = INPUTS.partition("X = ")[0]
    assert codes(head + NET.format(model) + STEP + TRAINING) == []
    mixed = model.replace("shuffle(Y)", "shuffle(-Y)")
    assert codes(head + NET.format(mixed) + STEP + TRAINING) == ["TMG302"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("T = tf.random_shuffle(Y)", "T = tf.random_shuffle(2. * Y)"),  # no input itself
        ("T = tf.random_shuffle(Y)", "T = tf.random_shuffle(tf.layers.dense(X, 1))"),
        ("T = tf.random_shuffle(Y)", "T = 1. * tf.random_shuffle(Y)"),  # no statement of its own
        ("T = tf.random_shuffle(Y)", "T = tf.random_shuffle(tf.transpose(Y))"),
        ("T = tf.random_shuffle(Y)", "def mixed(y):\n    t = tf.random_shuffle(y)\n    return t\n\n\nT = mixed(Y)"),
        ("T = tf.random_shuffle(Y)", "for _ in range(2):\n    T = tf.random_shuffle(Y)"),
    ],
)
def test_what_else_is_shuffled_is_not_followed(old: str, new: str) -> None:
    found = codes(INPUTS + MODEL.format(old).replace(old, new) + STEP + TRAINING)
    assert found and set(found) <= {"TMG302", "TMG215"}


def test_batches_in_columns_stay_what_they_are_where_their_steps_are_shuffled() -> None:
    columns = INPUTS.replace("[None, 1]", "[5, None]")
    model = MODEL.format("T = tf.transpose(U)").replace("Y)", "tf.transpose(Y))")
    shuffled = columns + model.replace("T = ", "U = tf.random_shuffle(Y)\nT = ")
    assert codes(shuffled + STEP + TRAINING) == []
    of_rows = shuffled.replace("tf.transpose(U)", "tf.transpose(tf.random_shuffle(tf.transpose(U)))", 1)
    assert "TMG302" in codes(of_rows + STEP + TRAINING)
