"""Values of the towers that a run feeds: each tower gets its rows, or the run is refused."""

from __future__ import annotations

import pytest

from tests.scripts import codes, converted, parts

MODEL = """\
import numpy as np
import tensorflow as tf

batch_size = 32
X = tf.placeholder(tf.float32, [{rows}, 4])
drop = tf.placeholder_with_default(0.0, [])
mean = tf.layers.dense(X, 2)
z = mean + tf.random_normal({noise})
image = tf.layers.dense(z, 4)
loss = tf.reduce_mean(tf.square(image - X))
train_op = tf.train.AdamOptimizer(0.01).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(0, 640, batch_size):
        sess.run(train_op, {X: xs[step:step + batch_size]})
"""
CODES = "np.zeros((5, 2))"


def script(generation: str, rows: str = "None", noise: str = "tf.shape(mean)") -> str:
    return MODEL.replace("{rows}", rows).replace("{noise}", noise) + f"    {generation}\n"


@pytest.mark.parametrize(
    ("generation", "fed"),
    [
        (f"out = sess.run(image, {{z: {CODES}}})", f"sess.run(image, feed_towers({{z: {CODES}}}))"),
        (
            f"out = sess.run(image, feed_dict={{z: {CODES}, drop: 0.5}})",
            f"sess.run(image, feed_dict=feed_towers({{z: {CODES}, drop: 0.5}}))",
        ),
        (f"feed = {{z: {CODES}}}\n    out = sess.run(image, feed)", "out = sess.run(image, feed_towers(feed))"),
        (f"out = image.eval({{z: {CODES}}})", f"out = image.eval(feed_towers({{z: {CODES}}}))"),
        (
            f"out = sess.run([image, loss], {{z: {CODES}, X: {CODES}}})",
            f"sess.run([image, loss], feed_towers({{z: {CODES}, X: {CODES}}}))",
        ),
    ],
    ids=["positional", "keyword", "a dict with a name", "eval", "with the input"],
)
def test_each_tower_is_fed_its_rows(generation: str, fed: str) -> None:
    _, inside, after = parts(script(generation))
    assert "tower_z.append((z, rows, weight))" in inside
    assert "z = merge_fed(tower_z)" in after
    assert any(fed in line for line in after)


def test_a_code_of_a_class_is_fed_where_its_method_runs() -> None:
    text = """\
import tensorflow as tf


class Coder(object):
    def __init__(self):
        self.x = tf.placeholder(tf.float32, [None, 4])
        self.z = tf.layers.dense(self.x, 2)
        self.out = tf.layers.dense(self.z, 4)
        self.loss = tf.reduce_mean(tf.square(self.out - self.x))
        self.step = tf.train.AdamOptimizer(0.01).minimize(self.loss)
        self.sess = tf.Session()

    def fit(self, x):
        self.sess.run(self.step, {self.x: x})

    def decode(self, z):
        return self.sess.run(self.out, feed_dict={self.z: z})


batch_size = 32
coder = Coder()
for i in range(0, 640, batch_size):
    coder.fit(xs[i:i + batch_size])
coder.decode(codes)
"""
    made = converted(text)
    assert "self.z = merge_fed(tower_z)" in made
    assert "return self.sess.run(self.out, feed_dict=feed_towers({self.z: z}))" in made


def test_a_value_with_a_name_in_the_graph_keeps_it() -> None:
    named = script(f"sess.run(image, {{z: {CODES}}})").replace("z = mean +", "z = tf.add(mean,")
    named = named.replace("tf.shape(mean))", "tf.shape(mean)), name='code')")
    assert "z = merge_fed(tower_z, name='code')" in parts(named)[2]


def test_only_what_is_fed_changes() -> None:
    plain = script("print(sess.run(z, {X: xs}))")
    assert "merge_fed" not in converted(plain)
    assert "sess.run(z, {X: xs})" in converted(plain)


@pytest.mark.parametrize(
    ("generation", "code"),
    [
        (f"sess.run(train_op, {{X: xs, z: {CODES}}})", "TMG203"),  # a training step feeds it
        ("sess.run(image, {center: 0})", "TMG223"),  # a mean over the batch has no rows
        ("sess.run(image, {pair: (0, 0)})", "TMG223"),
    ],
    ids=["training", "mean", "pair"],
)
def test_what_cannot_be_fed_in_rows_is_refused(generation: str, code: str) -> None:
    between = "center = tf.reduce_mean(image, 0)\npair = z * 1, mean * 1\nloss ="
    text = script(generation).replace("loss =", between)
    assert codes(text.replace("image - X", "image - center + pair[0][:, :1]")) == [code]


def test_a_tensor_of_a_list_is_fed_by_itself() -> None:
    text = script(f"sess.run(image, {{pair[0]: {CODES}}})").replace("loss =", "pair = [z * 1, mean]\nloss =")
    assert "pair[0] = merge_fed(tower_pair_0)" in parts(text.replace("image - X", "image - X + pair[0][:, :1]"))[2]


@pytest.mark.parametrize(
    ("rows", "noise"), [("batch_size", "tf.shape(mean)"), ("None", "[batch_size, 2]")], ids=["input", "noise"]
)
def test_a_model_of_a_fixed_size_is_fed_as_many_rows_as_it_has_now(rows: str, noise: str) -> None:
    fixed = script("sess.run(image, {z: np.zeros((32, 2))})", rows, noise)
    assert codes(fixed) == ["TMG252"]
    assert codes(fixed.replace("(32, 2)", "(batch_size, 2)")) == []
