"""Values that are only shown, of a batch of a size that is fixed in the graph: the original takes no larger one."""

from __future__ import annotations

from pathlib import Path

import pytest

from converter.conversion import convert
from converter.options import Options
from converter.source import read
from converter.verify import Report, VerifySettings, verify

pytestmark = pytest.mark.one_test_in(2)

VERSIONS = [pytest.param("2", marks=pytest.mark.tf2), pytest.param("1.15", marks=pytest.mark.tf1)]
SINGLE = """\
import numpy as np
import tensorflow as tf

batch_size = 4
rng = np.random.RandomState(1)
data, target = rng.rand(48, 3), rng.rand(48, 1)
mask = np.tile([0., 1., 0., 0., 1., 1., 1., 0.], 6)

x = tf.placeholder(tf.float32, [batch_size, 3])
y = tf.placeholder(tf.float32, [batch_size, 1])
m = tf.placeholder(tf.float32, [batch_size])
out = tf.layers.dense(x, 1, kernel_initializer=tf.constant_initializer([0.3, -0.5, 0.7]))
error = tf.reduce_sum(tf.square(out - y), 1)
loss = tf.reduce_mean(error)
SHOWN
train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for start in range(0, len(data), batch_size):
        rows = slice(start, start + batch_size)
        _, value, seen = sess.run([train_op, loss, shown], {x: data[rows], y: target[rows], m: mask[rows]})
        print(value, seen)
"""
MASKED = "tf.reduce_sum(error * m) / tf.reduce_sum(m)"
CHOSEN = "tf.reduce_mean(tf.boolean_mask(error, m > 0.5))"
RATIO = "tf.reduce_sum(tf.minimum(error, m)) / tf.maximum(tf.reduce_sum(tf.maximum(error, m)), 1.0)"
DEVIATION = "tf.sqrt(tf.reduce_mean(tf.square(error - tf.reduce_mean(error))))"
SUMMARY = f"tf.summary.scalar('masked', {MASKED})"
BY_SIZE = "tf.summary.scalar('by size', tf.reduce_sum(error) / batch_size)"
OF_TOWER = MASKED.replace("error", "tower_error[{0}]").replace("m)", "tf.split(m, 2)[{0}])")
BATCH, HALF = "[x, error]", "[tf.concat([tf.split(x, 2)[0]] * 2, 0), error]"
# three rows, with a number for each example along axis 1
CLASSES = "tf.stack([error, error * 2.0, error - m])"
TURNED = f"tf.reverse({CLASSES}, [1])"
APART = "tf.add_n(tf.unstack(error * m))"
FIRST, MEANS = OF_TOWER.format(0), f"({OF_TOWER.format(0)} + {OF_TOWER.format(1)}) / 2"


def proven(folder: Path, python: str, shown: str, wrong: str = "") -> Report:
    """The report of a script that shows this value, whose conversion has another one in its place."""
    single, multi = folder / "single.py", folder / "multi.py"
    single.write_text(SINGLE.replace("SHOWN", f"shown = {shown}"))
    text = convert(read(str(single)), Options(num_gpus=2)).text or ""
    line = f"shown = {shown}\n"
    assert line in text and "tower_error" in text, "the fault would change nothing"
    multi.write_text(text.replace(line, f"shown = {wrong}\n") if wrong else text)
    return verify(single, multi, VerifySettings(gpus=2, python=python))


@pytest.mark.one_in(7)
@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    "shown",
    [MASKED, CHOSEN, RATIO, DEVIATION, SUMMARY, BY_SIZE, BATCH, CLASSES],
    ids=["masked", "chosen", "ratio", "deviation", "summary", "by size", "batch", "classes"],
)
def test_what_is_computed_of_means_and_sums(tmp_path: Path, tensorflow_python: str, version: str, shown: str) -> None:
    report = proven(tmp_path, tensorflow_python, shown)
    assert report.verdict == "passed", report.reason
    assert [check for check in report.checks if check.name == "fetches" and check.status == "passed"]


@pytest.mark.one_in(4)
@pytest.mark.tf1
@pytest.mark.parametrize(
    ("shown", "wrong", "said"),
    [
        (MASKED, FIRST, "the value of tower 0 only"),
        (MASKED, MEANS, "truediv:0 is"),
        (CHOSEN, MEANS, "Mean_1:0 is"),
        (CHOSEN, FIRST, "the value of tower 0 only"),
        (SUMMARY, SUMMARY.replace(MASKED, MEANS), "the summary 'masked' is"),
        (SUMMARY, SUMMARY.replace(MASKED, FIRST), "the summary 'masked' is"),
        (BY_SIZE, BY_SIZE.replace("error", "tower_error[0]"), "the summary 'by_size' is"),
        (DEVIATION, DEVIATION.replace("error", "tower_error[0]"), "the value of tower 0 only"),
        (BATCH, HALF, "differs in 12 of 24 numbers"),
        (CLASSES, TURNED, "differs in 24 of 24 numbers"),
        (CLASSES, f"tf.concat(tf.split({CLASSES}, 2, 1), 0)", "has the shape [6, 4] instead of [3, 8]"),
    ],
)
def test_what_is_of_one_tower_or_a_mean_of_means(
    tmp_path: Path, tensorflow_python: str, shown: str, wrong: str, said: str
) -> None:
    report = proven(tmp_path, tensorflow_python, shown, wrong)
    assert report.verdict == "failed"
    (found,) = (check for check in report.checks if check.status == "failed")
    assert found.name == "fetches" and said in found.detail


@pytest.mark.one_in(3)
@pytest.mark.tf1
@pytest.mark.parametrize(
    ("wrong", "said"),
    [("", ""), (f"2 * {APART}", "the whole times the number of towers"), (f"tf.stack([{APART}])", "has the shape")],
    ids=["", "twice", "another shape"],
)
def test_what_has_as_many_operations_as_examples(tmp_path: Path, tensorflow_python: str, wrong: str, said: str) -> None:
    report = proven(tmp_path, tensorflow_python, APART, wrong)
    assert report.verdict == ("failed" if wrong else "passed"), report.reason
    (told,) = [check.detail for check in report.checks if check.name == "fetches"]
    assert said in told and "form only" not in told


RECURRENT = """\
import numpy as np
import tensorflow as tf

batch_size, steps, nodes = 4, 3, 5
rng = np.random.RandomState(1)
data = rng.rand(24, steps, nodes).astype(np.float32)
target = rng.rand(24, steps, nodes) * (rng.rand(24, steps, nodes) > 0.3)

x = tf.placeholder(tf.float32, [batch_size, steps, nodes])
labels = tf.placeholder(tf.float32, [batch_size, steps, nodes])
outputs, _ = tf.nn.dynamic_rnn(tf.nn.rnn_cell.GRUCell(6), x, dtype=tf.float32)
out = tf.layers.dense(outputs, nodes)
mask = tf.cast(tf.not_equal(labels, 0.0), tf.float32)
mask /= tf.reduce_mean(mask)
mask = tf.where(tf.is_nan(mask), tf.zeros_like(mask), mask)
loss = tf.sqrt(tf.reduce_mean(tf.abs(out - labels) * mask))
train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for start in range(0, len(data), batch_size):
        rows = slice(start, start + batch_size)
        print(sess.run([train_op, loss], {x: data[rows], labels: target[rows]})[1])
"""


@pytest.mark.tf1
@pytest.mark.parametrize(
    ("right", "wrong"),
    [("", ""), ("mask /= tf.reduce_mean(mask)\n", "mask /= tf.reduce_mean(mask[:4])\n")],
    ids=["right", "mask of the first tower"],
)
def test_a_loss_behind_the_towers_of_a_loop(tmp_path: Path, tensorflow_python: str, right: str, wrong: str) -> None:
    """A copy of a loop could not be differentiated; the graph that the script builds for more examples is."""
    single, multi = tmp_path / "single.py", tmp_path / "multi.py"
    single.write_text(RECURRENT)
    text = convert(read(str(single)), Options(num_gpus=2, loss="global")).text or ""
    assert right in text and "tower_out" in text
    multi.write_text(text.replace(right, wrong) if wrong else text)
    report = verify(single, multi, VerifySettings(gpus=2, python=tensorflow_python))
    assert report.verdict == ("failed" if wrong else "passed"), report.reason


LATE = """\
import numpy as np
import tensorflow as tf

batch_size = 4
rng = np.random.RandomState(1)
words = np.array(["a", "b", "c", "d"])[rng.randint(0, 4, 24)]
data, target = rng.rand(24, 3), rng.rand(24, 1)

table = tf.contrib.lookup.index_table_from_tensor(tf.constant(["a", "b", "c"]), default_value=3)
x = tf.placeholder(tf.float32, [batch_size, 3])
word = tf.placeholder(tf.string, [batch_size])
y = tf.placeholder(tf.float32, [batch_size, 1])
embedded = tf.nn.embedding_lookup(tf.get_variable("table", [4, 2]), table.lookup(word))
error = tf.reduce_sum(tf.square(tf.layers.dense(tf.concat([x, embedded], 1), 1) - y), 1)
loss = tf.reduce_mean(error)
shown = tf.reduce_sum(error) / batch_size + tf.reduce_max(error)
train_op = tf.train.AdamOptimizer(0.1).minimize(loss)

with tf.Session() as sess:
    sess.run([tf.global_variables_initializer(), tf.tables_initializer()])
    for start in range(0, len(data), batch_size):
        rows = slice(start, start + batch_size)
        print(sess.run([train_op, shown], {x: data[rows], word: words[rows], y: target[rows]})[1])
        if start == 0:
            sess.run(tf.get_variable("late", [], initializer=tf.zeros_initializer()).initializer)
"""


@pytest.mark.tf1
@pytest.mark.parametrize("rows", ["error", pytest.param("error[:4]", marks=pytest.mark.matrix)])
def test_tables_and_variables_that_are_made_later(tmp_path: Path, tensorflow_python: str, rows: str) -> None:
    single, multi = tmp_path / "single.py", tmp_path / "multi.py"
    single.write_text(LATE)
    text, most = convert(read(str(single)), Options(num_gpus=2)).text or "", "tf.reduce_max(error)"
    assert most in text and "tower_error" in text
    multi.write_text(text.replace(most, f"tf.reduce_max({rows})"))
    report = verify(single, multi, VerifySettings(gpus=2, python=tensorflow_python))
    assert report.verdict == ("passed" if rows == "error" else "failed"), report.reason
    (told,) = [check.detail for check in report.checks if check.name == "fetches"]
    assert "form only" not in told
