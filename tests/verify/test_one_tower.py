"""Proofs that go on: with one tower for all that the original does, and until each train op has run."""

from __future__ import annotations

from pathlib import Path

import pytest

from converter.conversion import convert
from converter.options import Options
from converter.source import read
from converter.verify import Report, VerifySettings, verify_more

pytestmark = pytest.mark.one_test_in(2)

CRITIC = """
import numpy as np
import tensorflow as tf

batch_size = 8
data = np.random.RandomState(2).randn(80, 3).astype(np.float32)
np.random.seed(5)
real = tf.placeholder(tf.float32, [None, 3])
z = tf.placeholder(tf.float32, [None, 2])
with tf.variable_scope('generator'):
    fake = tf.layers.dense(z, 3)
with tf.variable_scope('critic'):
    c_real = tf.layers.dense(real, 1, tf.nn.tanh, name='a')
with tf.variable_scope('critic', reuse=True):
    c_fake = tf.layers.dense(fake, 1, tf.nn.tanh, name='a')
c_loss = tf.reduce_mean(c_fake) - tf.reduce_mean(c_real)
g_loss = -tf.reduce_mean(c_fake)
rate = tf.Variable(0.1, trainable=False)
shrink = rate.assign(rate * 0.5)
of_critic = tf.trainable_variables('critic')
c_step = tf.train.GradientDescentOptimizer(rate).minimize(c_loss, var_list=of_critic)
g_step = tf.train.GradientDescentOptimizer(rate).minimize(g_loss, var_list=tf.trainable_variables('generator'))
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    position = 0
    for turn in range(8):
        for _ in range(5):
            if position + batch_size > len(data):
                position = 0
                np.random.shuffle(data)
                sess.run(shrink)
            rows = data[position:position + batch_size]
            position += batch_size
            sess.run(c_step, {real: rows, z: np.random.randn(batch_size, 2)})
        sess.run(g_step, {z: np.random.randn(batch_size, 2)})
"""
METRIC = """
import numpy as np
import tensorflow as tf

batch_size = 10
data = np.random.RandomState(2).randn(110, 3).astype(np.float32)
x = tf.placeholder(tf.float32, [None, 3])
loss = tf.reduce_mean(tf.square(tf.layers.dense(x, 1) - tf.reduce_sum(x, 1, keepdims=True)))
step = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
average, update = tf.metrics.mean(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for begin in range(0, 80, batch_size):
        sess.run(step, {x: data[begin:begin + batch_size]})
    sess.run(tf.local_variables_initializer())
    for begin in range(80, 110, batch_size):
        sess.run(update, {x: data[begin:begin + batch_size]})
    print(sess.run(average))
"""
# a model without products: a weight of the tower, which the CPU computes, is the like of what it does
RATINGS = """
import numpy as np
import tensorflow as tf

batch_size = 8
rng = np.random.RandomState(2)
who, what, stars = rng.randint(0, 9, 64), rng.randint(0, 9, 64), rng.rand(64)
u, i = tf.placeholder(tf.int32, [None]), tf.placeholder(tf.int32, [None])
r = tf.placeholder(tf.float32, [None])
users = tf.get_variable('users', [9, 4])
items = tf.get_variable('items', [9, 4])
guess = tf.reduce_sum(tf.nn.embedding_lookup(users, u) * tf.nn.embedding_lookup(items, i), 1)
loss = tf.reduce_mean(tf.square(guess - r))
train = tf.train.AdagradOptimizer(0.1).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for begin in range(0, 64, batch_size):
        end = begin + batch_size
        print(sess.run([train, loss], {u: who[begin:end], i: what[begin:end], r: stars[begin:end]})[1])
"""
WHOLE = {"whole": True, "timeout": 300.0}
# what stands in the right conversion, what the wrong one has instead, how it is proven, what says so
WRONG = [
    ("tower_g_loss.append(g_loss * weight)", "tower_g_loss.append(g_loss * weight * weight)", {}, "gradients"),
    ("g_loss * weight)", "g_loss * weight * weight * 2)", WHOLE, "with 3 towers"),
    ("                np.random.shuffle(data)\n", "", WHOLE, "with 1 tower"),
    ("position += batch_size", "position += batch_size // 2", WHOLE, "with 1 tower"),
    ("sess.run(shrink)", "sess.run(shrink), sess.run(shrink)", WHOLE, "?learning rate, whole run"),
]


def proof(folder: Path, python: str, script: str, old: str, new: str, how: dict[str, object]) -> Report:
    (folder / "single.py").write_text(script)
    made = convert(read(str(folder / "single.py")), Options(num_gpus=2)).text
    assert made is not None and old in made
    (folder / "multi.py").write_text(made.replace(old, new))
    return verify_more(folder / "single.py", folder / "multi.py", VerifySettings(python=python, **how))  # type: ignore


@pytest.mark.one_in(3)
@pytest.mark.tf1
@pytest.mark.parametrize(("old", "new", "how", "wanted"), WRONG)
def test_what_is_wrong_later(
    tmp_path: Path, tensorflow_python: str, old: str, new: str, how: dict[str, object], wanted: str
) -> None:
    report = proof(tmp_path, tensorflow_python, CRITIC, old, new, how)
    failed = [check.name for check in report.checks if check.status == "failed"]
    if wanted.startswith("?"):
        assert wanted[1:] in [entry.what for entry in report.ledger if entry.fate == "unchecked"], report
    else:
        assert wanted in failed, report


@pytest.mark.tf1
@pytest.mark.parametrize(
    ("old", "new", "status"), [("", "", "passed"), ("tf.square(guess - r)", "tf.square(on_host(guess, r))", "failed")]
)
def test_where_a_model_without_products_computes(
    tmp_path: Path, tensorflow_python: str, old: str, new: str, status: str
) -> None:
    """Of what one tower computes of sizes alone nothing is asked; a part of its model may not be elsewhere."""
    report = proof(tmp_path, tensorflow_python, RATINGS, old, new, {"gpus": 1})
    if new:
        text = (tmp_path / "multi.py").read_text()
        on_host = "def on_host(a, b):\n    with tf.device('/cpu:0'):\n        return a - b\n\n\nbatch_size = "
        (tmp_path / "multi.py").write_text(text.replace("batch_size = ", on_host, 1))
        report = verify_more(
            tmp_path / "single.py", tmp_path / "multi.py", VerifySettings(python=tensorflow_python, gpus=1)
        )
    (placement,) = [check for check in report.checks if check.name == "placement"]
    assert placement.status == status, placement.detail


@pytest.mark.tf1
@pytest.mark.parametrize(
    ("script", "how"),
    [(CRITIC, WHOLE), *(pytest.param(*one, marks=pytest.mark.matrix) for one in ((CRITIC, {}), (METRIC, WHOLE)))],
)
def test_what_is_right_passes(tmp_path: Path, tensorflow_python: str, script: str, how: dict[str, object]) -> None:
    report = proof(tmp_path, tensorflow_python, script, "", "", how)
    assert report.verdict == "passed", report
    assert report.steps >= (6 if script == CRITIC else 4)
    if how:
        assert "with 1 tower" in report.reason and "; not" not in report.reason


@pytest.mark.tf1
def test_averages_over_batches_of_other_sizes(tmp_path: Path, tensorflow_python: str) -> None:
    """Three batches of ten are one of twenty and one of ten for two towers: their average is another one, rightly.

    The original has it from the conversion's sums, whose variables have other numbers in their names.
    """
    report = proof(tmp_path, tensorflow_python, METRIC, "", "", {"steps": "all", "timeout": 300.0})
    (fetched,) = [check for check in report.checks if check.name == "fetches"]
    assert report.verdict == "passed" and fetched.detail.startswith("3 values equal to the original's"), report
    spoiled = "sess.run(update, {x: data[begin - 40:begin - 40 + batch_size]})"
    right = "sess.run(update, {x: data[begin:begin + batch_size]})"
    wrong = proof(tmp_path, tensorflow_python, METRIC, right, spoiled, {"steps": "all", "timeout": 300.0})
    assert wrong.verdict == "failed", wrong


@pytest.mark.tf1
def test_a_train_op_that_never_comes_is_named(tmp_path: Path, tensorflow_python: str) -> None:
    script = CRITIC.replace("        sess.run(g_step,", "        if turn > 6: sess.run(g_step,")
    report = proof(tmp_path, tensorflow_python, script, "", "", {})
    (entry,) = [entry for entry in report.ledger if entry.what == "train ops"]
    assert report.steps == 12 and "never ran in the compared steps" in entry.detail


SLOW = METRIC.replace("batch_size = 10\n", "import sys\n\nbatch_size = 10\nif sys.argv[1:]:\n    batch_size = 1\n")


@pytest.mark.tf1
@pytest.mark.parametrize("args", [(), ("slow",)])
def test_a_branch_that_takes_single_examples_has_one_tower(
    tmp_path: Path, tensorflow_python: str, args: tuple[str, ...]
) -> None:
    line = "    num_gpus = 1  # one tower takes single examples\n"
    report = proof(tmp_path, tensorflow_python, SLOW, line, line, {"args": args})
    assert report.verdict == "passed" and report.gpus == (1 if args else 2), report
    assert ("one tower, as the batch size is set to 1 (single.py:9)" in " ".join(report.notes)) is bool(args)


@pytest.mark.tf1
def test_two_towers_for_single_examples_are_no_one_tower(tmp_path: Path, tensorflow_python: str) -> None:
    line = "    num_gpus = 1  # one tower takes single examples\n"
    report = proof(tmp_path, tensorflow_python, SLOW, line, "", {"args": ("slow",)})
    assert report.verdict == "failed" and report.gpus == 2, report


DRAWN = """
import numpy as np
import tensorflow as tf

batch_size = 8
data = np.random.RandomState(2).rand(32, 3).astype(np.float32)
real = tf.placeholder(tf.float32, [None, 3])
with tf.variable_scope('generator'):
    drawn = tf.layers.dense(tf.random_normal([batch_size, 2]), 3)
with tf.variable_scope('critic'):
    c_real = tf.layers.dense(real, 1, name='a')
with tf.variable_scope('critic', reuse=True):
    c_drawn = tf.layers.dense(drawn, 1, name='a')
c_loss = tf.reduce_mean(c_drawn) - tf.reduce_mean(c_real)
g_loss = -tf.reduce_mean(c_drawn)
c_step = tf.train.GradientDescentOptimizer(0.1).minimize(c_loss, var_list=tf.trainable_variables('critic'))
g_step = tf.train.GradientDescentOptimizer(0.1).minimize(g_loss, var_list=tf.trainable_variables('generator'))
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for begin in range(0, 32, 8):
        sess.run(c_step, {real: data[begin:begin + batch_size]})
        sess.run(g_step)
    print(sess.run(drawn).mean())
"""


@pytest.mark.tf1
def test_a_run_behind_a_step_that_is_fed_no_batch(tmp_path: Path, tensorflow_python: str) -> None:
    report = proof(tmp_path, tensorflow_python, DRAWN, "", "", {"steps": "all", "timeout": 300.0})
    assert report.verdict == "passed", report
