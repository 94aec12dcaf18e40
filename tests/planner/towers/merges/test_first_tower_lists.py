"""Lists of the variables made so far, taken between parts of the model."""

from __future__ import annotations

import pytest

from tests.scripts import INPUTS, STEP, TRAINING, codes, converted, loops, parts

HIDDEN = "hidden = tf.layers.dense(X, 3)\n"
OUTPUT = "prediction = tf.layers.dense(hidden, 1)\nloss = tf.reduce_mean(tf.square(prediction - Y))\n"
END = STEP + "print(made)\n" + TRAINING


@pytest.mark.parametrize(
    "value",
    [
        "len(tf.trainable_variables())",
        "tf.trainable_variables()",
        "tf.global_variables()",
        "[v for v in tf.trainable_variables() if 'kernel' in v.name]",
        "tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES)",
        "tf.train.Saver()",
        "tf.train.Saver(max_to_keep=3)",
        "tf.train.Saver(tf.global_variables())",
    ],
)
def test_the_first_towers_value_counts(value: str) -> None:
    before, inside, after = parts(INPUTS + HIDDEN + f"made = {value}\n" + OUTPUT + END)
    place = inside.index(f"made = {value}")
    assert inside[place + 1 : place + 3] == [
        "tower_made.append(made)",
        "made = tower_made[0]  # later towers find all variables made",
    ]
    outside = [line for line in (*before, *after) if "made" in line]
    assert outside == ["tower_loss, tower_grads, tower_made = [], [], []", "print(made)"]


def test_in_a_block_of_the_model_and_as_an_attribute() -> None:
    text = converted("""\
import tensorflow as tf

batch_size = 32
class Model(object):
    def __init__(self):
        X = tf.placeholder(tf.float32, [None, 4])
        with tf.variable_scope('net'):
            hidden = tf.layers.dense(X, 3)
            self.number = len(tf.trainable_variables())
            output = tf.layers.dense(hidden, 1)
        loss = tf.reduce_mean(tf.square(output))
        some = tf.trainable_variables()[:self.number]
        self.train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, var_list=some)
        self.X = X
model = Model()
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        sess.run(model.train_op, {model.X: next_batch(batch_size)})
""")
    assert "                    self.number = tower_number[0]  # later" in text
    assert text.count("tower_number.append(self.number)") == 1


@pytest.mark.parametrize(
    "script",
    [
        HIDDEN + OUTPUT + "made = tf.trainable_variables()\n",
        "made = tf.trainable_variables()\n" + HIDDEN + OUTPUT,
        HIDDEN + "made = tf.trainable_variables('dense')\n" + OUTPUT,
        HIDDEN + "made = tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, scope='dense')\n" + OUTPUT,
        HIDDEN + "made = tf.get_collection('mine')\n" + OUTPUT,
        HIDDEN + OUTPUT + "made = tf.train.Saver()\n",
        HIDDEN + "made = tf.train.Saver([v])\n" + OUTPUT,
        HIDDEN + "made = tf.train.Saver(var_list={'v': v})\n" + OUTPUT,
        HIDDEN + "made = tf.train.Saver(**options)\n" + OUTPUT,
        HIDDEN + "made = 3\nprint(tf.trainable_variables())\n" + OUTPUT,
    ],
)
def test_where_nothing_is_kept(script: str) -> None:
    assert [loop.kept for loop in loops(INPUTS + script + END)] == [()]


def test_in_a_function_of_the_model() -> None:
    function = "def penalty():\n    return sum(tf.nn.l2_loss(v) for v in tf.trainable_variables())\n"
    model = HIDDEN + "made = penalty()\n" + OUTPUT + "loss = loss + made\n"
    assert codes(INPUTS + function + model + END) == ["TMG231"]
    late = HIDDEN + OUTPUT + "made = penalty()\nloss = loss + made\n"
    assert codes(INPUTS + function + late + END) == []
