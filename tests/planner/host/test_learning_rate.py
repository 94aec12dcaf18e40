"""`--scale-lr`: every learning rate of the script grows, or the script is refused."""

from __future__ import annotations

from dataclasses import replace
from unittest.mock import patch

import pytest

from converter.analysis.facts import Facts
from converter.conversion.review import Review, read_again
from converter.conversion.review.converted_walk import AddedNames, ConvertedFile
from tests.scripts import run

HEAD = """\
import functools
import tensorflow as tf
tf.app.flags.DEFINE_string('opt', 'adam', '')
FLAGS = tf.app.flags.FLAGS
x = tf.placeholder(tf.float32, [None, 4])
loss = tf.reduce_mean(tf.square(tf.layers.dense(x, 1)))
step = tf.train.get_or_create_global_step()
"""
LOOP = """
batch_size = 8
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(10):
        sess.run(train, {x: load(batch_size)})
"""
N = "FLAGS.num_gpus"
SCALED = [
    ("train = tf.train.AdamOptimizer(0.1).minimize(loss)", ["AdamOptimizer(0.1 * N)"]),
    ("train = tf.train.AdamOptimizer().minimize(loss)", ["AdamOptimizer(learning_rate=0.001 * N)"]),
    ("train = tf.train.RMSPropOptimizer(decay=0.9, learning_rate=0.1 / 2).minimize(loss)", ["=(0.1 / 2) * N"]),
    ("train = tf.contrib.opt.AdamWOptimizer(1e-4, 0.1).minimize(loss)", ["AdamWOptimizer(1e-4, 0.1 * N)"]),
    ("train = tf.contrib.opt.AdamWOptimizer(1e-4).minimize(loss)", ["(1e-4, learning_rate=0.001 * N)"]),
    (
        "if FLAGS.opt == 'adam':\n    o = tf.train.AdamOptimizer(0.1)\nelse:\n"
        "    o = tf.train.GradientDescentOptimizer(0.2)\ntrain = o.minimize(loss)",
        ["AdamOptimizer(0.1 * N)", "DescentOptimizer(0.2 * N)"],
    ),
    (
        "o = tf.train.AdamOptimizer(0.1) if FLAGS.opt else tf.train.FtrlOptimizer(0.2)\ntrain = o.minimize(loss)",
        ["AdamOptimizer(0.1 * N) if", "FtrlOptimizer(0.2 * N)"],
    ),
    (
        "o = {'a': tf.train.AdamOptimizer, 'b': tf.train.FtrlOptimizer}[FLAGS.opt](0.1)\ntrain = o.minimize(loss)",
        ["[FLAGS.opt](0.1 * N)"],
    ),
    (
        "o = {'a': tf.train.AdamOptimizer(0.1), 'b': tf.train.FtrlOptimizer(0.2)}[FLAGS.opt]\ntrain = o.minimize(loss)",
        ["AdamOptimizer(0.1 * N)", "FtrlOptimizer(0.2 * N)"],
    ),
    ("train = getattr(tf.train, 'AdamOptimizer')(0.1).minimize(loss)", ["'AdamOptimizer')(0.1 * N)"]),
    (
        "o, v = tf.train.AdamOptimizer(0.1), tf.trainable_variables()\n"
        "train = o.apply_gradients(zip(tf.gradients(loss, v), v))",
        ["AdamOptimizer(0.1 * N)"],
    ),
    (
        "m = tf.contrib.mixed_precision.FixedLossScaleManager(1.0)\n"
        "train = tf.contrib.mixed_precision.LossScaleOptimizer(tf.train.AdamOptimizer(0.1), m).minimize(loss)",
        ["0.1 * N"],
    ),
    ("train = tf.contrib.layers.optimize_loss(loss, step, 0.1, 'Adam')", ["(loss, step, 0.1 * N, "]),
    (
        "train = tf.contrib.layers.optimize_loss(loss, step, None, tf.train.AdamOptimizer(0.1))",
        ["(loss, step, None, ", "AdamOptimizer(0.1 * N)"],
    ),
    (
        "rate = tf.train.exponential_decay(0.1, step, 100, 0.9)\n"
        "train = tf.train.AdamOptimizer(rate).minimize(loss, global_step=step)",
        ["exponential_decay(0.1, step, 100, 0.9)", "AdamOptimizer(rate * N)"],
    ),
    (
        "def made(rate):\n    return tf.train.AdamOptimizer(rate)\n"
        "train = tf.group(made(0.1).minimize(loss), made(0.2).minimize(2 * loss))",
        ["return tf.train.AdamOptimizer(rate * N)"],
    ),
]
NOT_SEEN = [
    "train = tf.train.AdamOptimizer(**{'learning_rate': 0.1}).minimize(loss)",
    "train = tf.train.AdamOptimizer(*[0.1]).minimize(loss)",
    "train = functools.partial(tf.train.AdamOptimizer, learning_rate=0.1)().minimize(loss)",
]


@pytest.mark.parametrize("how", ["linear", "sqrt"])
@pytest.mark.parametrize(("lines", "expected"), SCALED)
def test_each_rate_is_scaled_once(lines: str, expected: list[str], how: str) -> None:
    conversion = run(HEAD + lines + LOOP, scale_lr=how)
    assert (conversion.status, conversion.unread, conversion.diagnostics) == ("converted", (), ())
    factor = N if how == "linear" else f"{N} ** 0.5"
    body = (conversion.text or "").split("\n", 8)[-1].replace(f"{N}**", f"{N} ** ")  # in a line that was too long
    assert [part for part in expected if part.replace("* N", f"* {factor}") not in body] == []


@pytest.mark.parametrize("lines", NOT_SEEN)
def test_a_rate_that_is_not_seen_is_refused_where_it_is_to_be_scaled(lines: str) -> None:
    assert [d.code for d in run(HEAD + lines + LOOP, scale_lr="linear").diagnostics] == ["TMG256"]
    assert run(HEAD + lines + LOOP).status == "converted"


@pytest.mark.parametrize("asked", ["linear", "sqrt"])
def test_another_factor_than_the_one_that_is_asked_for_is_seen(asked: str) -> None:
    factors = {"linear": f"rate * {N})", "sqrt": f"rate * {N} ** 0.5)"}
    other = next(factor for how, factor in factors.items() if how != asked)

    def swapped(facts: Facts, texts: list[ConvertedFile], written: AddedNames) -> Review:
        assert all(factors[asked] in t.after for t in texts)
        return read_again(facts, [replace(t, after=t.after.replace(factors[asked], other)) for t in texts], written)

    lines = SCALED[-2][0]
    with patch("converter.conversion.review.read_again", swapped):
        assert [d.code for d in run(HEAD + lines + LOOP, scale_lr=asked).diagnostics] == ["TMG290"]
