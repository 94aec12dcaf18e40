"""Batch norms in training where the towers would share a batch whose size was not found."""

from __future__ import annotations

import pytest

from tests.scripts import STEP, codes, run

HEAD = """\
import tensorflow as tf
from tensorflow.contrib import slim

batch_size = 32
X = tf.placeholder(tf.float32, [None, 4])
Y = tf.placeholder(tf.float32, [None, 1])
training = tf.placeholder(tf.bool, [])
tf.app.flags.DEFINE_boolean('train', True, '')
tf.app.flags.DEFINE_boolean('tune', False, '')
FLAGS = tf.app.flags.FLAGS
often = tf.placeholder_with_default(True, [])
"""
MODEL = "out = tf.layers.dense({}, 1)\nloss = tf.reduce_mean(tf.square(out - Y))\n"
FED = "{{X: xs, Y: ys{}}}"
LOOP = """\
with tf.Session() as sess:
    for xs, ys in loader({}):
        sess.run(train_op, {})
"""


def script(norm: str, fed: str = "", size: str = "") -> str:
    return HEAD + MODEL.format(norm) + STEP + LOOP.format(size, FED.format(fed))


@pytest.mark.parametrize(
    ("norm", "fed"),
    [
        ("tf.layers.batch_normalization(X, training=True)", ""),
        ("tf.layers.batch_normalization(X, training=training)", ", training: True"),
        ("tf.layers.batch_normalization(X, training=FLAGS.train)", ""),
        ("slim.batch_norm(X)", ""),
        ("tf.contrib.layers.batch_norm(X, is_training=True)", ""),
    ],
)
def test_a_batch_norm_in_training_is_refused_unless_asked_for(norm: str, fed: str) -> None:
    assert codes(script(norm, fed)) == ["TMG239"]
    assert codes(script(norm, fed), batch="total") == ["TMG302", "TMG303"]
    assert codes(script(norm, fed, "batch_size")) == []


@pytest.mark.parametrize(
    ("norm", "fed", "found"),
    [
        ("tf.layers.batch_normalization(X)", "", ["TMG303"]),
        ("tf.layers.batch_normalization(X, training=False)", "", ["TMG303"]),
        ("slim.batch_norm(X, is_training=False)", "", ["TMG303"]),
        ("(lambda x, mode: slim.batch_norm(x, is_training=mode == 'train'))(X, 'eval')", "", ["TMG303"]),
        ("tf.layers.batch_normalization(X, training=training)", ", training: False", ["TMG302", "TMG303"]),
        ("tf.layers.batch_normalization(X, training=often)", "", ["TMG302", "TMG303"]),
        ("tf.layers.batch_normalization(X, training=mode())", "", ["TMG302", "TMG303"]),
        ("tf.layers.batch_normalization(X, training=FLAGS.tune)", "", ["TMG302", "TMG303"]),
        ("tf.layers.dense(X, 3)", "", ["TMG303"]),
    ],
)
def test_others_are_not(norm: str, fed: str, found: list[str]) -> None:
    assert codes(script(norm, fed)) == found


def test_a_scope_may_tell_that_it_is_not_in_training() -> None:
    scope = "with slim.arg_scope([slim.batch_norm], is_training=False):\n    norm = slim.batch_norm(X)\n"
    text = script("norm").replace("often =", scope + "often =")
    assert codes(text) == ["TMG302", "TMG303"]


def test_a_batch_norm_that_no_loss_is_computed_through() -> None:
    beside = "shown = tf.layers.batch_normalization(X, training=True)\n"
    assert codes(script("X").replace("often =", beside + "often =")) == ["TMG303"]


FIXED_LOOP = """\
begin = 0
with tf.Session() as sess:
    for step in range(391):
        sess.run(train_op, {X: xs[begin:begin + batch_size], Y: ys[begin:begin + batch_size]})
        begin += batch_size
"""


@pytest.mark.parametrize(
    ("loop", "why"),
    [
        (LOOP.format("", FED.format("")), "as the size of the batches that are fed here was not found (line "),
        (FIXED_LOOP, "as this loop has a fixed number of iterations, and each moves on by the batch size: larger "),
    ],
)
def test_it_is_told_why_the_batches_do_not_grow(loop: str, why: str) -> None:
    (found,) = run(HEAD + MODEL.format("slim.batch_norm(X)") + STEP + loop).diagnostics
    assert found.code == "TMG239" and why in found.message
    assert "a step goes on taking" not in found.message
