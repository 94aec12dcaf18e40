"""Modes that TensorFlow names: `mode == tf.estimator.ModeKeys.TRAIN` chooses as the string does that it stands for."""

from __future__ import annotations

import pytest

from tests.scripts import codes, converted

SCRIPT = """\
{imports}
import tensorflow as tf

batch_size = 32
class Batch(object):
    def __init__(self, labelled):
        self.words = tf.placeholder(tf.float32, [None, 4])
        if labelled:
            self.labels = tf.placeholder(tf.float32, [None, 1])
class Model(object):
    def __init__(self, batch, mode):
        self.batch = batch
        prediction = tf.layers.dense(self.batch.words, 1)
        if mode == {modes}.TRAIN or mode == {modes}.EVAL:
            self.loss = tf.reduce_mean(tf.square(prediction - self.batch.labels))
        if mode == {modes}.TRAIN:
            self.train_op = tf.train.GradientDescentOptimizer(0.1).minimize(self.loss)
with tf.variable_scope('model'):
    model = Model(Batch(True), {train})
with tf.variable_scope('model', reuse=True):
    other = Model(Batch({labelled}), {other})
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        xs, ys = next_batch(batch_size)
        sess.run(model.train_op, {{model.batch.words: xs, model.batch.labels: ys}})
"""
STYLES = [
    ("", "tf.estimator.ModeKeys", "PREDICT"),
    ("", "tf.contrib.learn.ModeKeys", "INFER"),
    ("from tensorflow.contrib.learn import ModeKeys", "ModeKeys", "INFER"),
    ("from tensorflow.python.estimator.model_fn import ModeKeys", "tf.estimator.ModeKeys", "PREDICT"),
]


def script(imports: str, modes: str, other: str, train: str = "", labelled: bool = True) -> str:
    train = train or f"{modes}.TRAIN"
    return SCRIPT.format(imports=imports, modes=modes, train=train, other=other, labelled=labelled)


@pytest.mark.parametrize(("imports", "modes", "predict"), STYLES)
def test_a_call_that_predicts_builds_no_loss(imports: str, modes: str, predict: str) -> None:
    assert set(codes(script(imports, modes, f"{modes}.{predict}", labelled=False))) == {"TMG210"}


@pytest.mark.parametrize(("imports", "modes", "predict"), STYLES)
def test_a_call_that_evaluates_builds_the_loss_too(imports: str, modes: str, predict: str) -> None:
    text = converted(script(imports, modes, f"{modes}.EVAL"))
    assert "tower_loss.append(self.loss * weight)" in text


def test_the_strings_themselves_may_be_passed() -> None:
    modes = "tf.estimator.ModeKeys"
    assert "tower_loss" in converted(script("", modes, "'eval'", train="'train'"))
    assert set(codes(script("", modes, "'infer'", train="'train'", labelled=False))) == {"TMG210"}


def test_what_no_mode_is_stays_unknown() -> None:
    assert "TMG210" not in codes(script("", "tf.estimator.Kinds", "tf.estimator.Kinds.PREDICT"))
