"""Lists of the variables made so far, taken between parts of the model."""

from __future__ import annotations

from pathlib import Path

import pytest

from converter.verify import VerifySettings, verify
from tests.scripts import INPUTS, STEP, TRAINING, codes, converted, helpers, parts

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
def test_the_first_towers_list_counts(value: str) -> None:
    before, inside, _ = parts(INPUTS + HIDDEN + f"made = {value}\n" + OUTPUT + END)
    (line,) = (line for line in inside if line.startswith("made = "))
    assert line.count("of_first_tower(tf.") == 1 and line.replace("of_first_tower(", "").count("tf.") == value.count(
        "tf."
    )
    assert "first_lists = FirstTowerLists()" in before
    assert any("first_lists.tower(gpu)" in line for line in inside)


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
    assert "self.number = len(of_first_tower(tf.trainable_variables()))" in text
    assert "some = tf.trainable_variables()[:self.number]" in text


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
    assert "of_first_tower" not in helpers(INPUTS + script + END)


def test_in_a_function_of_the_model() -> None:
    function = "def penalty():\n    return sum(tf.nn.l2_loss(v) for v in tf.trainable_variables())\n"
    model = HIDDEN + "made = penalty()\n" + OUTPUT + "loss = loss + made\n"
    text = converted(INPUTS + function + model + END)
    assert "for v in of_first_tower(tf.trainable_variables()))" in text
    late = HIDDEN + OUTPUT + "made = penalty()\nloss = loss + made\n"
    assert codes(INPUTS + function + late + END) == []


GAN = """\
import numpy as np
import tensorflow as tf

batch_size = 8
drawn = np.random.RandomState(3)


def net(x, name):
    with tf.variable_scope(name, reuse=tf.AUTO_REUSE) as scope:
        old = tf.global_variables()
        out = tf.layers.dense(tf.layers.dense(x, 4, name='a'), 1, name='b')
        own = [v for v in tf.global_variables() if v.name.startswith(scope.name)]
        new = sorted(set(tf.global_variables()) - set(old), key=lambda v: v.name)
    return out, own, new


x, y = tf.placeholder(tf.float32, [None, 4]), tf.placeholder(tf.float32, [None, 1])
made, _, makes = net(x, 'gene')
real, judges, _ = net(y, 'disc')
fake, _, _ = net(made, 'disc')
judged = tf.reduce_mean(tf.square(real - 1.0)) + tf.reduce_mean(tf.square(fake))
fooled = tf.reduce_mean(tf.square(fake - 1.0))
steps = [
    tf.train.AdamOptimizer(0.01).minimize(judged, var_list=judges),
    tf.train.AdamOptimizer(0.01).minimize(fooled, var_list=makes),
]
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(3):
        feed = {x: drawn.rand(batch_size, 4), y: drawn.rand(batch_size, 1)}
        for one in steps:
            print(sess.run([one, judged, fooled], feed)[1:])
"""


@pytest.mark.tf1
@pytest.mark.parametrize("gpus", [1, pytest.param(2, marks=pytest.mark.matrix), 3])
def test_what_functions_of_the_model_list_is_proven(gpus: int, tmp_path: Path, tensorflow_python: str) -> None:
    single, multi = tmp_path / "single.py", tmp_path / "multi.py"
    single.write_text(GAN)
    multi.write_text(converted(GAN))
    assert verify(single, multi, VerifySettings(python=tensorflow_python, gpus=gpus)).verdict == "passed"
