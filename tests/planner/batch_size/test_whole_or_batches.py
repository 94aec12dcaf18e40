"""Data that a function gives whole or in batches, as a number is given to it or None; sessions with a debugger."""

from __future__ import annotations

import pytest

from tests.scripts import codes, converted

SCRIPT = """\
import argparse
import sys
import numpy as np
import tensorflow as tf
{settings}
data = np.random.rand(160, 6).astype('float32')
x = tf.placeholder(tf.float32, [None, 6])
loss = tf.reduce_mean(tf.square(tf.layers.dense(x, 6)))
train_op = tf.train.AdamOptimizer(0.01).minimize(loss)


def cut(rows, batch_size=None):
    if batch_size is None:
        return [rows]
    return [rows[i:i + batch_size] for i in range(0, len(rows), batch_size)]


def taken(rows, index=None):
    if index:
        return [rows[i] for i in index]
    return rows


with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    {wrap}
    for rows in {batches}:
        sess.run(train_op, {{x: rows}})
"""
FLAG = "tf.app.flags.DEFINE_integer('batch_size', {default}, '')\nFLAGS = tf.app.flags.FLAGS"
PARSED = """p = argparse.ArgumentParser()
p.add_argument('--batch_size', type={type}, default=16{more})
FLAGS = p.parse_args()"""
SIZE = "FLAGS.batch_size"
DEBUGGERS = [
    "from tensorflow.python import debug\n    sess = debug.LocalCLIDebugWrapperSession(sess)",
    "from tensorflow.python.debug import DumpingDebugWrapperSession as D\n    sess = D(sess, '/tmp/d')",
    "from tensorflow.python.debug.wrappers import local_cli_wrapper as w\n"
    "    sess = w.LocalCLIDebugWrapperSession(sess)",
]


def script(settings: str, batches: str = f"cut(data, {SIZE})", wrap: str = "pass") -> str:
    return SCRIPT.format(settings=settings, batches=batches, wrap=wrap)


@pytest.mark.parametrize("settings", [FLAG.format(default=16), PARSED.format(type="int", more="")])
def test_a_flag_with_a_default_is_never_none(settings: str) -> None:
    assert "cut(data, FLAGS.batch_size * " in converted(script(settings))


def test_nor_is_one_of_the_dict_of_all_flags() -> None:
    settings = FLAG.format(default=16) + ".flag_values_dict()"
    assert "cut(data, FLAGS['batch_size'] * " in converted(script(settings, "cut(data, FLAGS['batch_size'])"))


@pytest.mark.parametrize(
    "settings",
    [
        FLAG.format(default=None),
        PARSED.format(type="int", more=", nargs='?'"),
        PARSED.format(type="lambda t: int(t) if t else None", more=""),
        PARSED.format(type="int", more="") + "\nif len(sys.argv) > 2:\n    FLAGS.batch_size = None",
        "from settings import FLAGS",
    ],
)
def test_one_that_may_be_none_feeds_all_rows_in_one_run_and_batches_in_another(settings: str) -> None:
    assert codes(script(settings)) == ["TMG303"]
    assert "np.random.rand(160, 6)" in converted(script(settings))


@pytest.mark.parametrize("bounds", [f"i * {SIZE}, (i + 1) * {SIZE}", f"0, {SIZE}", SIZE])
def test_a_list_of_a_batch_s_numbers_is_not_empty(bounds: str) -> None:
    batches = f"(taken(data, [j for j in range({bounds})]) for i in range(10))"
    assert "TMG303" not in codes(script(FLAG.format(default=16), batches))


@pytest.mark.parametrize("bounds", ["len(sys.argv)", "10, 20"])
def test_another_list_may_be(bounds: str) -> None:
    batches = f"(taken(data, [j for j in range({bounds}) if j > 2]) for i in range(10))"
    assert codes(script(FLAG.format(default=16), batches)) == ["TMG303"]


@pytest.mark.parametrize("wrap", DEBUGGERS)
def test_a_session_with_a_debugger_runs_the_steps(wrap: str) -> None:
    assert "cut(data, FLAGS.batch_size * " in converted(script(FLAG.format(default=16), wrap=wrap))
