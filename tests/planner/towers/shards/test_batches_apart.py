"""Batches of different sizes in one step are cut by their own rows; batches of one size are cut together."""

from __future__ import annotations

from pathlib import Path

import pytest

from converter.options import BatchMode, Options
from tests.proofs import proof_of
from tests.scripts import codes, converted, parts, run

HEAD = """\
import numpy as np
import tensorflow as tf

flags = tf.app.flags
flags.DEFINE_integer('more', 16, 'rows without a label')
FLAGS = flags.FLAGS
data = np.random.RandomState(1).randn(512, 6).astype('float32')
batch_size = 8
many = {many}
x = tf.placeholder(tf.float32, [None, 6])
y = tf.placeholder(tf.float32, [None, 3])
u = tf.placeholder(tf.float32, [None, 6])


def net(x):
    with tf.variable_scope('net', reuse=tf.AUTO_REUSE):
        return tf.layers.dense(x, 3, kernel_initializer=tf.ones_initializer())


loss = tf.reduce_mean(tf.square(net(x) - y)) + 0.1 * tf.reduce_mean({of})
train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in map(int, "0123"):
        part = data[i * batch_size:(i + 1) * batch_size]
        sess.run(train_op, {{x: part, y: part[:, :3], u: {fed}}})
"""
APART = "(u,), rows_u, weight_u = shard([u_batch], gpu)"
SLICED = "data[i * many:(i + 1) * many]"


@pytest.mark.parametrize(
    ("many", "of", "fed", "apart"),
    [
        ("16", "tf.square(net(u))", SLICED, True),
        ("FLAGS.more", "tf.square(net(u))", SLICED, True),
        ("16", "tf.square(net(u))", "others.next_batch(many)", True),
        ("8", "tf.square(net(u))", SLICED, False),
        ("batch_size", "tf.square(net(u))", SLICED, False),
        ("16", "tf.square(net(u))", "others.next_batch(batch_size)", False),
        ("16", "tf.square(net(u))", "others.some()", True),
        ("16", "tf.square(net(u))", "part", False),
        ("16", "tf.square(net(u))", "part + np.random.randn(len(part), 6)", False),
        ("16", "tf.square(net(x) - net(u))", SLICED, False),
        ("16", "tf.square(net(x) - net(u))", "others.some()", False),
        ("16", "tf.matmul(net(x), net(u), transpose_b=True)", "others.some()", False),
    ],
    ids=[
        "a number",
        "a flag",
        "asked for",
        "as many",
        "by name",
        "asked for as many",
        "unknown",
        "the same",
        "as many as the others",
        "they meet",
        "unknown, and they meet",
        "unknown, multiplied with each other",
    ],
)
def test_which_inputs_are_cut_apart(many: str, of: str, fed: str, apart: bool) -> None:
    script = HEAD.format(many=many, of=of, fed=fed)
    _, inside, _ = parts(script)
    assert (APART in inside, "TMG342" in codes(script)) == (apart, apart)


TWO_LISTS = """\
import tensorflow as tf

x = tf.placeholder(tf.float32, [None, 6])
u = tf.placeholder(tf.float32, [None, 6])
w = tf.get_variable('w', [6, 3], initializer=tf.ones_initializer())
here, there = tf.matmul(x, w), tf.matmul(u, w)
loss = {loss}
train_op = tf.train.GradientDescentOptimizer(0.01).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for pair in iter(batches.get, None):
        one, two = pair
        print(sess.run([train_op, loss], {{x: one, u: two}}))
"""
SUMS = "tf.reduce_sum(tf.square(here)) + tf.reduce_sum(tf.square(there))"


def test_what_may_be_another_number_of_rows_is_named() -> None:
    """Both come out of a queue that another process fills; the loss of merged results has no weights."""
    script = TWO_LISTS.format(loss=SUMS)
    assert APART in converted(script)
    assert any("u may be fed another number of rows than x" in d.message for d in run(script).diagnostics)


@pytest.mark.parametrize(
    ("fed", "scaled", "found"),
    [
        (SLICED, ["batch_size = 8 * FLAGS.num_gpus", "many = 16 * FLAGS.num_gpus"], []),
        (SLICED.replace("many", "16"), ["batch_size = 8 * FLAGS.num_gpus"], []),
        (SLICED.replace("many", "16") + " * (16 - i)", [], ["TMG303"]),
    ],
    ids=["a name", "a number", "a number of two meanings"],
)
def test_each_size_is_scaled_or_none(fed: str, scaled: list[str], found: list[str]) -> None:
    """A size that is not called one beside one that is: both grow, or the step stays as large as it is."""
    script = HEAD.format(many="16", of="tf.square(net(u))", fed=fed)
    if "TMG303" in found:  # the factor is a number that the analysis knows
        script = script.replace('map(int, "0123")', "range(4)")
    text = converted(script)
    assert [line for line in text.splitlines() if "num_gpus" in line and line.startswith(("batch", "many"))] == scaled
    each = "data[i * (16 * FLAGS.num_gpus):(i + 1) * (16 * FLAGS.num_gpus)]"
    assert (each in text) == (fed == SLICED.replace("many", "16"))
    assert [code for code in codes(script) if code == "TMG303"] == found


@pytest.mark.tf1
@pytest.mark.parametrize("batch", ["per-gpu", "total"])
def test_a_step_with_batches_of_different_sizes_is_exact(
    batch: BatchMode, tensorflow_python: str, tmp_path: Path
) -> None:
    """With one number of rows for both, half of the larger batch was lost."""
    (tmp_path / "single.py").write_text(HEAD.format(many="16", of="tf.square(net(u))", fed=SLICED))
    report = proof_of(tmp_path / "single.py", tensorflow_python, tmp_path, Options(batch=batch))
    assert report.verdict == "passed", report
    why = {check.detail.partition(": ")[2] for check in report.checks if check.name == "uneven batch"}
    assert why == {"a step takes batches of different sizes, and one weight stands for their shares"}


@pytest.mark.tf1
def test_rows_of_which_nothing_is_known_are_all_taken(tensorflow_python: str, tmp_path: Path) -> None:
    """With one number of rows for both, rows of the longer batch were lost, or the shorter one had none left."""
    queue = """\
import queue

import numpy as np

batches = queue.Queue()
draw = np.random.RandomState(1)
for one, two in ((6, 9), (9, 4), (5, 12)):
    batches.put((draw.randn(one, 6), draw.randn(two, 6)))
batches.put(None)
"""
    (tmp_path / "single.py").write_text(queue + TWO_LISTS.format(loss=SUMS))
    report = proof_of(tmp_path / "single.py", tensorflow_python, tmp_path, Options(batch="total"))
    assert report.verdict == "passed", report


@pytest.mark.tf1
def test_a_batch_that_does_not_grow_is_seen_in_a_proof(tensorflow_python: str, tmp_path: Path) -> None:
    """Its examples come in the original's order, but not as many in a step."""
    (tmp_path / "single.py").write_text(HEAD.format(many="16", of="tf.square(net(u))", fed=SLICED))
    change = ("many = 16 * FLAGS.num_gpus", "many = 16")
    report = proof_of(tmp_path / "single.py", tensorflow_python, tmp_path, Options(), change)
    assert [check.name for check in report.checks if check.status == "failed"] == ["data"], report


GAN = """\
import numpy as np
import tensorflow as tf

data = np.random.RandomState(1).randn(64, 3).astype('float32')
batch_size = 8
z = tf.placeholder(tf.float32, [None, 3])
x = tf.placeholder(tf.float32, [None, 3])


def net(x, name):
    with tf.variable_scope(name, reuse=tf.AUTO_REUSE):
        return tf.layers.dense(x, 3, kernel_initializer=tf.ones_initializer())


fake = net(z, 'generator')
real = net(x, 'discriminator')
loss = {loss}
train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in map(int, "0123"):
        part = data[i * batch_size:(i + 1) * batch_size]
        sess.run(train_op, {{x: part, z: -part}})
        {run}
"""
SEPARATE = "tf.reduce_mean(tf.square(real - 1)) + tf.reduce_mean(tf.square(net(fake, 'discriminator')))"
MEET = "tf.reduce_mean(tf.square(real - net(fake, 'discriminator')))"
ASKS = {
    "real alone": "print(sess.run(real, {x: part[:3]}))",
    "each alone": "print(sess.run(real, {x: part[:3]}), sess.run(fake, {z: part[:5]}))",
    "fake alone": "print(sess.run(fake, {z: part[:5]}))",
    "both": "print(sess.run([real, fake], {x: part, z: part}))",
    "none": "print(i)",
}


@pytest.mark.parametrize(
    ("loss", "asked", "cut"),
    [
        (SEPARATE, "real alone", ["[x_batch, z_batch]"]),
        (SEPARATE, "each alone", ["[z_batch]", "[x_batch]"]),
        (MEET, "each alone", ["[z_batch]", "[x_batch]"]),
        (SEPARATE, "fake alone", ["[z_batch, x_batch]"]),
        (SEPARATE, "both", ["[z_batch, x_batch]"]),
        (SEPARATE, "none", ["[z_batch, x_batch]"]),
    ],
    ids=["real alone", "each alone", "each alone, they meet", "fake alone", "both", "none"],
)
def test_rows_are_counted_by_an_input_that_each_run_feeds(loss: str, asked: str, cut: list[str]) -> None:
    text = converted(GAN.format(loss=loss, run=ASKS[asked]))
    shards = [line.partition(" = shard(")[2] for line in text.splitlines() if " = shard(" in line]
    assert shards == [f"{inputs}, gpu)" for inputs in cut]


def test_the_feeds_of_the_training_step_need_not_be_seen() -> None:
    """A run that feeds one input alone tells enough: `z` may not count the rows of `x`."""
    text = GAN.format(loss=MEET, run=ASKS["real alone"])
    fed = next(line for line in text.splitlines() if "sess.run(train_op" in line)
    unseen = fed[: fed.index("{")] + "feeds.of_next_step())"
    text = converted(text.replace(fed, unseen))
    shards = [line.partition(" = shard(")[2] for line in text.splitlines() if " = shard(" in line]
    assert shards == ["[x_batch, z_batch], gpu)"]


@pytest.mark.tf1
@pytest.mark.parametrize("loss", [SEPARATE, MEET], ids=["separate", "they meet"])
def test_each_input_can_be_fed_alone(loss: str, tensorflow_python: str, tmp_path: Path) -> None:
    """The rows of one input were counted by the other, which such a run does not feed."""
    (tmp_path / "single.py").write_text(GAN.format(loss=loss, run=ASKS["each alone"]))
    report = proof_of(tmp_path / "single.py", tensorflow_python, tmp_path, Options())
    assert report.verdict == "passed", report
