"""Right scripts that once gave an alarm: each passes, or is not comparable for the reason that holds."""

from __future__ import annotations

from pathlib import Path

import pytest

from converter.conversion import convert
from converter.options import BatchMode, Options
from converter.source import read
from converter.verify import Report, VerifySettings, verify
from converter.verify.data import ALL_STEPS
from tests.proofs import proof_of
from tests.verify.test_report import step, verdict

pytestmark = pytest.mark.one_test_in(3)

PLAIN = """
import os
import numpy as np
import tensorflow as tf
rng = np.random.RandomState(1)
x = tf.placeholder(tf.float32, [None, 4])
y = tf.placeholder(tf.float32, [None, 1])
out = tf.layers.dense(x, 1, name='d')
loss = tf.reduce_mean((out - y) ** 2)
train = tf.train.GradientDescentOptimizer(0.01).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for _ in range(6):
        sess.run(train, {x: rng.rand(8, 4), y: rng.rand(8, 1)})
"""
WINDOW = "import matplotlib\nmatplotlib.use('TkAgg')\nimport matplotlib.pyplot as p\np.figure(); p.show()\n"
MEAN, STEPS, RATE = "tf.reduce_mean((out - y) ** 2)", "range(6)", "Optimizer(0.01)"


def converted(folder: Path, text: str, python: str, gpus: int = 2, batch: BatchMode = "per-gpu") -> Report:
    (folder / "train.py").write_text(text)
    made = convert(read(str(folder / "train.py")), Options(batch=batch))
    assert made.text is not None, made.diagnostics
    (folder / "train_mg.py").write_text(made.text)
    return verify(folder / "train.py", folder / "train_mg.py", VerifySettings(gpus=gpus, python=python))


def of(report: Report, name: str) -> str:
    return " ".join(f"{check.status} {check.detail}" for check in report.checks if check.name == name)


@pytest.mark.one_in(7)
@pytest.mark.tf1
@pytest.mark.parametrize(
    ("old", "new", "check", "said"),
    [
        ("", "", "update", "passed"),
        # the original ends itself, after fewer steps than are asked for
        (STEPS + ":", "range(3):\n        if _ == 2: os._exit(0)", "update", "passed"),
        # a window, where there is none
        ("import os", WINDOW + "import os", "update", "passed"),
        # a mean over n - 1 examples is none of one example, in the original, too
        (
            MEAN,
            "tf.reduce_sum((out - y) ** 2) / (tf.cast(tf.shape(x)[0], tf.float32) - 1.0)",
            "fewer examples than towers",
            "skipped 1 example on 2 towers: the original's own loss on these is",
        ),
        # the deviation of one example is 0, where its root has no gradient, in the original, too
        (
            MEAN,
            MEAN + " + tf.sqrt(tf.reduce_sum((out - tf.reduce_mean(out, 0)) ** 2))",
            "fewer examples than towers",
            "skipped 1 example on 2 towers: the original's own gradients on these are not finite",
        ),
        # the same array, filled anew for each step
        (
            "        sess.run(train, {x: rng.rand(8, 4), y: rng.rand(8, 1)})",
            "        kept = globals().setdefault('kept', np.empty((8, 4), 'float32'))\n"
            "        kept[:] = rng.rand(8, 4)\n"
            "        sess.run(train, {x: kept, y: rng.rand(8, 1)})",
            "gradients",
            "passed",
        ),
        # training that leaves all bounds
        (RATE, "Optimizer(1e30)", "weights", "skipped the original's gradients are not finite in step 3"),
    ],
    ids=["plain", "exit", "window", "no mean of one", "no slope of one", "one array", "explodes"],
)
def test_passes(tmp_path: Path, tensorflow_python: str, old: str, new: str, check: str, said: str) -> None:
    report = converted(tmp_path, PLAIN.replace(old, new) if old else PLAIN + new, tensorflow_python)
    assert report.verdict == "passed", report
    assert of(report, check).startswith(said), of(report, check)


@pytest.mark.tf1
def test_an_exit_with_an_error_is_none(tmp_path: Path, tensorflow_python: str) -> None:
    report = converted(tmp_path, PLAIN.replace(STEPS, "range(0)") + "os._exit(3)\n", tensorflow_python)
    assert report.verdict == "not comparable" and "status 3" in report.reason


@pytest.mark.tf1
def test_gradients_that_are_not_finite_are_the_reason(tmp_path: Path, tensorflow_python: str) -> None:
    report = converted(tmp_path, PLAIN.replace(MEAN, "tf.reduce_mean(1e25 * (1e14 * out - y) ** 2)"), tensorflow_python)
    assert report.verdict == "not comparable"
    assert report.reason == "the original's gradients are not finite: there is nothing to compare with"


# A difference of large means keeps few digits: some 6e-5 of a number of order one.
CANCELLING = PLAIN.replace(MEAN, "tf.reduce_mean((out - y) ** 2 + 1000.0) - 1000.0").replace(
    "sess.run(train, {x: rng.rand(8, 4), y: rng.rand(8, 1)})",
    "sess.run([train, loss], {x: rng.rand(37, 4), y: rng.rand(37, 1)})",
)


@pytest.mark.tf1
def test_a_small_difference_of_large_means_is_lost_in_rounding(tmp_path: Path, tensorflow_python: str) -> None:
    report = converted(tmp_path, CANCELLING, tensorflow_python, batch="total")
    assert report.verdict == "passed", report
    assert of(report, "loss").startswith("passed"), of(report, "loss")
    multi = tmp_path / "train_mg.py"
    text = multi.read_text()
    wrong = text.replace("sess.run([train, loss]", "sess.run([train, loss * 2.0]")
    assert wrong != text
    multi.write_text(wrong)
    report = verify(tmp_path / "train.py", multi, VerifySettings(gpus=2, python=tensorflow_python))
    assert report.verdict == "failed", report


# One optimizer applies the gradients of two losses. The second is fetched: its summands are much larger.
SECOND_CANCELS = (
    PLAIN.replace(MEAN, MEAN + "\ncritic = tf.reduce_mean((tf.layers.dense(x, 1) - y) ** 2 + 1000.0) - 1000.0")
    .replace(
        ".minimize(loss)",
        "\nkernel, bias, kernel_2, bias_2 = tf.trainable_variables()"
        "\ngrads = tf.gradients(loss, [kernel, bias]) + tf.gradients(critic, [kernel_2, bias_2])"
        "\ntrain = train.apply_gradients(zip(grads, [kernel, bias, kernel_2, bias_2]))",
    )
    .replace(
        "sess.run(train, {x: rng.rand(8, 4), y: rng.rand(8, 1)})",
        "sess.run([train, critic], {x: rng.rand(37, 4), y: rng.rand(37, 1)})",
    )
)


@pytest.mark.tf1
def test_the_rounding_is_that_of_the_loss_which_is_compared(tmp_path: Path, tensorflow_python: str) -> None:
    report = converted(tmp_path, SECOND_CANCELS, tensorflow_python, batch="total")
    assert report.verdict == "passed", report
    assert of(report, "loss").startswith("passed"), of(report, "loss")


@pytest.mark.parametrize(
    ("summands", "status"), [(None, "failed"), (0.00169, "failed"), (0.02, "failed"), (0.1, "passed")]
)
def test_a_loss_is_as_exact_as_its_summands(summands: float | None, status: str) -> None:
    report = verdict(one=step(loss=[-0.00168991, -0.00168987, "fetched"], summands=summands))
    assert of(report, "loss").startswith(status), of(report, "loss")


BY_HAND = """
import numpy as np
import tensorflow as tf
rng = np.random.RandomState(1)
N = 2
opt = tf.train.GradientDescentOptimizer(0.01)
feeds, grads = [], []
for i in range(N):
    with tf.device('/gpu:%d' % i), tf.variable_scope(tf.get_variable_scope(), reuse=i > 0):
        x = tf.placeholder(tf.float32, [None, 4])
        y = tf.placeholder(tf.float32, [None, 1])
        feeds.append((x, y))
        grads.append(opt.compute_gradients(tf.reduce_mean((tf.layers.dense(x, 1, name='d') - y) ** 2)))
train = opt.apply_gradients([(tf.add_n([g for g, _ in p]) / N, p[0][1]) for p in zip(*grads)])
with tf.Session(config=tf.ConfigProto(allow_soft_placement=True)) as sess:
    sess.run(tf.global_variables_initializer())
    for _ in range(6):
        a, b = np.split(rng.rand(16, 4), N), np.split(rng.rand(16, 1), N)
        sess.run(train, {k: v for pair, *values in zip(feeds, a, b) for k, v in zip(pair, values)})
"""


@pytest.mark.tf1
def test_a_placeholder_for_each_tower_is_not_comparable(tmp_path: Path, tensorflow_python: str) -> None:
    (tmp_path / "single.py").write_text(PLAIN)
    (tmp_path / "multi.py").write_text(BY_HAND)
    report = verify(tmp_path / "single.py", tmp_path / "multi.py", VerifySettings(gpus=2, python=tensorflow_python))
    assert report.verdict == "not comparable" and "each tower by inputs of its own" in report.reason, report


@pytest.mark.tf1
def test_a_failure_names_the_warnings_of_the_conversion(tmp_path: Path, tensorflow_python: str) -> None:
    text = PLAIN.replace(MEAN, "tf.sqrt(tf.reduce_mean((out - y) ** 2))")
    assert converted(tmp_path, text, tensorflow_python).verdict == "passed"
    multi = tmp_path / "train_mg.py"
    multi.write_text(multi.read_text().replace("Optimizer(0.01)", "Optimizer(0.02)"))
    report = verify(tmp_path / "train.py", multi, VerifySettings(gpus=2, python=tensorflow_python))
    assert report.verdict == "failed" and "(the conversion warns: TMG30" in report.reason, report


def test_a_failure_without_warnings_names_none() -> None:
    report = verdict(one=step(gradients={"w:0": 1.0}, matches=[["summed", 0.0]]))
    assert (report.verdict, report.reason) == (
        "failed",
        "the gradients are summed over the towers, not averaged (step 1, w:0)",
    )


MASKED = """
import numpy as np
import tensorflow as tf
rng = np.random.RandomState(1)
batch_size = 8
x = tf.placeholder(tf.float32, [None, 5, 4], name='x')
y = tf.placeholder(tf.float32, [None, 5], name='y')
lengths = tf.placeholder(tf.int32, [None], name='lengths')
mask = tf.sequence_mask(lengths, 5, dtype=tf.float32)
hidden = tf.layers.batch_normalization(tf.layers.dense(x, 6, name='h'), training=True, name='norm')
out = tf.layers.dense(tf.nn.relu(hidden), 1, name='out')[:, :, 0]
loss = LOSS
with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
    train = tf.train.AdamOptimizer(0.01).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for _ in range(6):
        rows = rng.rand(batch_size, 5, 4)
        sess.run([train, loss], {x: rows, y: rows.sum(2), lengths: rng.randint(1, 6, batch_size)})
"""


@pytest.mark.one_in(3)
@pytest.mark.tf1
@pytest.mark.parametrize(
    "loss",
    [
        "tf.reduce_sum(tf.square(out - y) * mask) / tf.reduce_sum(mask)",
        "tf.reduce_mean(tf.boolean_mask(tf.square(out - y), mask > 0))",
    ],
    ids=["divided by the mask", "what the mask leaves"],
)
def test_masked_means_beside_a_batch_norm(tmp_path: Path, tensorflow_python: str, loss: str) -> None:
    report = converted(tmp_path, MASKED.replace("LOSS", loss), tensorflow_python)
    assert report.verdict == "passed", report
    multi = tmp_path / "train_mg.py"
    assert multi.read_text().count("* tf.sign(weight)") == 1
    multi.write_text(multi.read_text().replace("* tf.sign(weight)", "* (1.0 + 0.05 * gpu) * tf.sign(weight)"))
    assert verify(tmp_path / "train.py", multi, VerifySettings(gpus=2, python=tensorflow_python)).verdict == "failed"


@pytest.mark.one_in(3)
@pytest.mark.tf1
@pytest.mark.parametrize(("momentum", "verdict"), [("0.9", "passed"), ("0.8", "failed")])
def test_a_rate_that_waits_for_the_updates_of_a_batch_norm(
    tmp_path: Path, tensorflow_python: str, momentum: str, verdict: str
) -> None:
    """The rate is computed by itself for each step; what that writes, the moving averages, is set back."""
    minimised = "    train = tf.train.AdamOptimizer(0.01).minimize(loss)\n"
    text = MASKED.replace("LOSS", "tf.reduce_mean(tf.square(out - y))").replace(
        minimised,
        "    step = tf.train.get_or_create_global_step()\n"
        "    rate = tf.train.exponential_decay(0.01, step, 100, 0.9)\n"
        "    train = tf.train.AdamOptimizer(rate).minimize(loss, global_step=step)\n",
    )
    text = text.replace("training=True", "training=True, momentum=0.9")
    assert converted(tmp_path, text, tensorflow_python).verdict == "passed"
    multi = tmp_path / "train_mg.py"
    multi.write_text(multi.read_text().replace("momentum=0.9", f"momentum={momentum}"))
    assert verify(tmp_path / "train.py", multi, VerifySettings(gpus=2, python=tensorflow_python)).verdict == verdict


DRAWN = """
import random
from collections import deque
import numpy as np
import tensorflow as tf
batch_size = 8
random.seed(3)
np.random.seed(3)
images, targets = np.random.rand(160, 4), np.random.rand(160, 1)
x = tf.placeholder(tf.float32, [None, 4])
y = tf.placeholder(tf.float32, [None, 1])
loss = tf.reduce_mean((tf.layers.dense(x, 1, name='d') - y) ** 2)
train = tf.train.GradientDescentOptimizer(0.01).minimize(loss)
sess = tf.Session()
sess.run(tf.global_variables_initializer())
"""
SHUFFLED = """
batches = [(images[i:i + batch_size], targets[i:i + batch_size]) for i in range(0, 160, batch_size)]
for epoch in range(2):
    random.shuffle(batches)
    for a, b in batches:
        sess.run(train, {x: a, y: b})
"""
NUMBERED = """
for epoch in range(2):
    for k in np.random.permutation(len(images) // batch_size):
        rows = slice(k * batch_size, (k + 1) * batch_size)
        sess.run(train, {x: images[rows], y: targets[rows]})
"""
REPLAYED = """
memory = deque(maxlen=200)
for step in range(400):
    memory.append((images[step % 160], targets[step % 160]))
    if len(memory) > 64:
        batch = random.sample(memory, batch_size)
        sess.run(train, {x: np.array([one[0] for one in batch]), y: np.array([one[1] for one in batch])})
"""
SUMMED = ("loss * weight))", "loss))")  # the gradient of each tower's own mean
WEIGHTED = ("weight = tf.cast(rows, tf.float32)", "weight = 0.9 * tf.cast(rows, tf.float32)")
SAME_ROWS = ("begin, end = shard_bounds(total, gpu)", "begin, end = shard_bounds(total, 0)")


@pytest.mark.one_in(7)
@pytest.mark.tf1
@pytest.mark.parametrize("fault", [SUMMED, WEIGHTED, SAME_ROWS], ids=["summed", "weighted", "same rows"])
@pytest.mark.parametrize("draws", [SHUFFLED, NUMBERED, REPLAYED], ids=["shuffled", "numbered", "replayed"])
def test_draws_that_the_batch_size_changes(
    tmp_path: Path, tensorflow_python: str, draws: str, fault: tuple[str, str]
) -> None:
    """The data differ by design, and nothing else: a wrong conversion of the same script fails."""
    report = converted(tmp_path, DRAWN + draws, tensorflow_python)
    assert report.verdict == "passed", report
    assert of(report, "data").startswith("skipped"), of(report, "data")
    assert {entry.what for entry in report.ledger if entry.fate == "differs"} & {"TMG347", "TMG348"}
    right = (tmp_path / "train_mg.py").read_text()
    assert right.count(fault[0]) == 1, fault
    (tmp_path / "train_mg.py").write_text(right.replace(*fault))
    settings = VerifySettings(gpus=2, python=tensorflow_python)
    report = verify(tmp_path / "train.py", tmp_path / "train_mg.py", settings)
    assert report.verdict == "failed", report


@pytest.mark.tf1
def test_an_order_that_no_draw_explains(tmp_path: Path, tensorflow_python: str) -> None:
    """The warning excuses examples in another order, not that towers are fed as many as one GPU, or the same ones."""
    report = converted(tmp_path, DRAWN + SHUFFLED, tensorflow_python)
    right = (tmp_path / "train_mg.py").read_text()
    assert right.count("batch_size = 8 * num_gpus") == 1
    (tmp_path / "train_mg.py").write_text(right.replace("batch_size = 8 * num_gpus", "batch_size = 8"))
    report = verify(tmp_path / "train.py", tmp_path / "train_mg.py", VerifySettings(gpus=2, python=tensorflow_python))
    assert report.verdict == "failed", report


ONE_EXAMPLE = """
import numpy as np
import tensorflow as tf
tf.app.flags.DEFINE_integer('batch_size', {size}, 'examples')
batch_size = tf.app.flags.FLAGS.batch_size
rng = np.random.RandomState(1)
x = tf.placeholder(tf.float32, [batch_size, 4, 4, 3])
out = tf.layers.conv2d(x, 3, 3, padding='same', name='c')
loss = tf.reduce_mean((out - x) ** 2)
train = tf.train.GradientDescentOptimizer(0.01).minimize(loss)
tf.summary.image('out', out)
summary = tf.summary.merge_all()
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    writer = tf.summary.FileWriter('logs')
    for i in range(6):
        _, text = sess.run([train, summary], {{x: rng.rand(batch_size, 4, 4, 3)}})
        writer.add_summary(text, i)
"""


@pytest.mark.one_in(2)
@pytest.mark.tf1
@pytest.mark.parametrize("size", [1, 2])
def test_a_model_for_few_examples_shows_more_images_of_more(tmp_path: Path, tensorflow_python: str, size: int) -> None:
    """Its own batch is fixed: of one example, which the conversion is not asked for; nor are 4 images of 4 others."""
    report = converted(tmp_path, ONE_EXAMPLE.format(size=size), tensorflow_python)
    assert [check.name for check in report.checks if check.status == "failed"] == []
    assert of(report, "summaries").startswith("passed") and of(report, "fetches").startswith("passed")
    assert "failed" not in of(report, "fewer examples than towers")


TURNS = """
import numpy as np
import tensorflow as tf
batch_size = 4
data = np.random.RandomState(1).rand(96, 5)
x = tf.placeholder(tf.float32, [None, 5])
h = tf.layers.dense(x, 3)
first = tf.reduce_mean(tf.square(tf.layers.dense(h, 5) - x))
second = tf.reduce_mean(tf.square(h))
optimizer = tf.train.GradientDescentOptimizer(0.1)
first_step, second_step = optimizer.minimize(first), optimizer.minimize(second)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for n, begin in enumerate(range(0, len(data), batch_size)):
        batch = data[begin:begin + batch_size]
        {run}
"""
TURN_AND_TURN = "sess.run(second_step if n % 2 else first_step, {x: batch})"
ONE_MORE = "sess.run(first_step, {x: batch})\n        if n % 2 == 0:\n            sess.run(second_step, {x: batch})"


@pytest.mark.one_in(3)
@pytest.mark.tf1
@pytest.mark.parametrize(
    ("run", "change", "result"),
    [
        (TURN_AND_TURN, ("", ""), "passed"),
        (TURN_AND_TURN, ("if n % 2 else", "if n % 2 == 0 else"), "failed"),
        (TURN_AND_TURN, ("batch = data[", "batch = data[::-1]["), "failed"),
        (ONE_MORE, ("", ""), "passed"),
        (ONE_MORE, ("sess.run(second_step, {x: batch})", "sess.run(second_step, {x: batch[::-1]})"), "failed"),
    ],
)
def test_train_ops_that_take_turns(
    tmp_path: Path, tensorflow_python: str, run: str, change: tuple[str, str], result: str
) -> None:
    (tmp_path / "train.py").write_text(TURNS.format(run=run))
    report = proof_of(tmp_path / "train.py", tensorflow_python, tmp_path, Options(), change)
    assert report.verdict == result, report.reason
    assert ("the train ops take turns" in of(report, "data")) is (result == "passed")


# 5 batches in an epoch, and 3 of two: what runs in every second step runs twice in an epoch, and once in the conversion
EPOCHS_OF_TURNS = TURNS.replace("rand(96, 5)", "rand(20, 5)").replace(
    "    for n, begin in enumerate(range(0, len(data), batch_size)):\n",
    "    for epoch in range(3):\n      for n, begin in enumerate(range(0, len(data), batch_size)):\n",
)
SOMETIMES = "sess.run(first_step, {x: batch})\n        if n % 2:\n            sess.run(second_step, {x: batch})"


@pytest.mark.one_in(4)
@pytest.mark.tf1
@pytest.mark.parametrize(
    ("change", "result"),
    [
        (("", ""), "passed"),
        (("if n % 2:", "if (n + epoch) % 2:"), "failed"),
        (("if n % 2:", "if n % 2 or epoch:"), "failed"),
        (("sess.run(second_step, {x: batch})", "sess.run(second_step, {x: data[:8] if epoch else batch})"), "failed"),
    ],
)
def test_turns_that_begin_anew_with_each_epoch(
    tmp_path: Path, tensorflow_python: str, change: tuple[str, str], result: str
) -> None:
    (tmp_path / "train.py").write_text(EPOCHS_OF_TURNS.format(run=SOMETIMES))
    text = convert(read(str(tmp_path / "train.py")), Options()).text or ""
    assert change[0] in text
    (tmp_path / "multi.py").write_text(text.replace(*change) if change[0] else text)
    settings = VerifySettings(python=tensorflow_python, steps="all")
    report = verify(tmp_path / "train.py", tmp_path / "multi.py", settings)
    assert report.verdict == result, report.reason
    later = [entry.detail for entry in report.ledger if entry.what == "later steps"]
    assert result == "failed" or "the train ops take turns anew" in later[0]


COPIES = """
import random
import numpy as np
import tensorflow as tf
batch_size = 4
data = np.random.RandomState(1).rand(96, 5)
x = tf.placeholder(tf.float32, [None, 5])
y = tf.placeholder(tf.float32, [None, 2])
with tf.variable_scope('model'):
    out = tf.layers.dense(x, 2)
with tf.variable_scope('copy'):
    late = tf.layers.dense(x, 2)
loss = tf.reduce_mean(tf.square(out - y))
train_step = tf.train.GradientDescentOptimizer(0.1).minimize(loss, var_list=tf.trainable_variables('model'))
memory = []
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for n in range(40):
        if n % 3:
            sess.run(out, {x: data[n:n + 1]})
        memory.append(data[n])
        if len(memory) > 2 * batch_size and n % 2 == 0:
            rows = random.sample(memory, batch_size)
            sess.run(train_step, {x: rows, y: sess.run(late, {x: rows})})
"""


@pytest.mark.tf1
@pytest.mark.parametrize(("change", "result"), [(("", ""), "passed"), (("run(late,", "run(out,"), "failed")])
def test_runs_of_a_copy_of_the_model(
    tmp_path: Path, tensorflow_python: str, change: tuple[str, str], result: str
) -> None:
    """The runs between two steps come in another order where a larger batch lets the steps begin later."""
    (tmp_path / "train.py").write_text(COPIES)
    report = proof_of(tmp_path / "train.py", tensorflow_python, tmp_path, Options(), change)
    assert report.verdict == result, report.reason


NORMALISED = """
import numpy as np
import tensorflow as tf
batch_size = 4
data = np.random.RandomState(1).rand(96, 5)
x = tf.placeholder(tf.float32, [None, 5])
z = tf.placeholder(tf.float32, [None, 5])


def normalised(kernel, size):
    direction = tf.get_variable('direction', [1, size], trainable=False)
    left = tf.nn.l2_normalize(tf.matmul(direction, kernel, transpose_b=True))
    right = tf.nn.l2_normalize(tf.matmul(left, kernel))
    norm = tf.matmul(tf.matmul(left, kernel), right, transpose_b=True)
    with tf.control_dependencies([direction.assign(right)]):
        return kernel / norm


def critic(rows):
    with tf.variable_scope('critic', reuse=tf.AUTO_REUSE):
        for layer in range(4):
            with tf.variable_scope('layer%d' % layer):
                rows = tf.nn.relu(tf.matmul(rows, normalised(tf.get_variable('kernel', [5, 5]), 5)) + 0.1)
        return tf.reduce_sum(rows, 1)


loss = tf.reduce_mean(critic(x)) - tf.reduce_mean(critic(z)) + tf.reduce_mean(critic(x + z))
train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for begin in range(0, len(data), batch_size):
        rows = data[begin:begin + batch_size]
        sess.run([train_op, loss], {x: rows, z: 1 - rows})
"""


@pytest.mark.one_in(3)
@pytest.mark.tf1
@pytest.mark.parametrize(
    ("change", "result"), [(("", ""), "passed"), (("return kernel / norm", "return 1.01 * kernel / norm"), "failed")]
)
def test_variables_that_a_step_reads_and_writes_in_no_order(
    tmp_path: Path, tensorflow_python: str, change: tuple[str, str], result: str
) -> None:
    """A spectral norm in a model that is used several times: its vector may have been moved on already, or not yet."""
    (tmp_path / "train.py").write_text(NORMALISED)
    report = proof_of(tmp_path / "train.py", tensorflow_python, tmp_path, Options(), change)
    assert report.verdict == result, report.reason


AVERAGED = """
import numpy as np
import tensorflow as tf
batch_size = 4
data = np.random.RandomState(1).rand(96, 5)
x = tf.placeholder(tf.float32, [None, 5])
loss = tf.reduce_mean(tf.square(tf.layers.dense(x, 3)))
averages = tf.train.ExponentialMovingAverage(0.5)
with tf.control_dependencies([averages.apply([loss])]):
    optimizer = tf.train.GradientDescentOptimizer(0.1)
    grads = optimizer.compute_gradients(loss)
train_op = optimizer.apply_gradients(grads)
tf.summary.scalar('average', averages.average(loss))
for gradient, of in grads:
    tf.summary.histogram(of.op.name, gradient)
merged = tf.summary.merge_all()
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for begin in range(0, len(data), batch_size):
        rows = data[begin:begin + batch_size]
        sess.run(train_op, {x: rows})
        sess.run(merged, {x: rows})
"""


@pytest.mark.one_in(3)
@pytest.mark.tf1
@pytest.mark.parametrize(
    ("change", "result"), [(("", ""), "passed"), (("MovingAverage(0.5)", "MovingAverage(0.6)"), "failed")]
)
def test_an_average_that_the_run_moves_which_shows_it(
    tmp_path: Path, tensorflow_python: str, change: tuple[str, str], result: str
) -> None:
    (tmp_path / "train.py").write_text(AVERAGED)
    report = proof_of(tmp_path / "train.py", tensorflow_python, tmp_path, Options(), change)
    assert report.verdict == result, report.reason


MODELS = """
import numpy as np
import tensorflow as tf


class Net(object):
    def __init__(self, width, size=8):
        self.size, self.graph = size, tf.Graph()
        with self.graph.as_default():
            self.x = tf.placeholder(tf.float32, [None, 4])
            h = tf.layers.dense(self.x, width, tf.nn.tanh) if width else self.x
            self.loss = tf.reduce_mean(tf.square(tf.layers.dense(h, 1) - 1.0))
            self.train = tf.train.GradientDescentOptimizer(0.1).minimize(self.loss)
            self.sess = tf.Session()
            self.sess.run(tf.global_variables_initializer())

    def fit(self, data):
        for i in range(len(data) // self.size):
            rows = data[i * self.size:(i + 1) * self.size]
            print(i, self.sess.run([self.train, self.loss], {self.x: rows})[1])


data = np.random.RandomState(1).rand(64, 4)
for width in (3, 0, 5):
    Net(width).fit(data)
Net(5).fit(data)
"""


@pytest.mark.tf1
def test_models_in_graphs_of_their_own_are_trained_one_after_the_other(tmp_path: Path, tensorflow_python: str) -> None:
    """The fifth step of the original is its first model's, that of the conversion its second's."""
    (tmp_path / "train.py").write_text(MODELS)
    made = convert(read(str(tmp_path / "train.py")), Options())
    assert made.text is not None, made.diagnostics
    (tmp_path / "train_mg.py").write_text(made.text)
    settings = VerifySettings(python=tensorflow_python, steps=ALL_STEPS)
    report = verify(tmp_path / "train.py", tmp_path / "train_mg.py", settings)
    assert report.verdict == "passed", [check for check in report.checks if check.status == "failed"]
    assert report.steps == 4
    (later,) = (entry.detail for entry in report.ledger if entry.what == "later steps")
    assert "a model in another graph is trained next" in later


WIDE = """
import argparse
import numpy as np
import tensorflow as tf
parser = argparse.ArgumentParser()
parser.add_argument('--plain', action='store_true')
plain = parser.parse_args().plain
batch_size = 4
rng = np.random.RandomState(0)
lengths = rng.randint(1, 7, 64)
words, kinds = [rng.rand(size, 5) for size in lengths], [rng.randint(0, 3, size) for size in lengths]
x = tf.placeholder(tf.float32, [None, None, 5])
y = tf.placeholder(tf.int32, [None, None])
n = tf.placeholder(tf.int32, [None])
out = tf.layers.dense(x, 3)
losses = tf.nn.sparse_softmax_cross_entropy_with_logits(logits=out, labels=y)
if not plain:
    losses = tf.boolean_mask(losses, tf.sequence_mask(n))
loss = tf.reduce_mean(losses)
train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(0, 64, batch_size):
        sizes = lengths[i:i + batch_size]
        rows = np.zeros((len(sizes), max(sizes), 5), 'float32')
        tags = np.zeros((len(sizes), max(sizes)), 'int32')
        for k, size in enumerate(sizes):
            rows[k, :size] = words[i + k]
            tags[k, :size] = kinds[i + k]
        print(sess.run([train, loss], {x: rows, y: tags, n: sizes}))
"""


# Batches of two queues in a drawn order, each fetched in a run and fed in another one.
DEQUEUED = """
import numpy as np
import tensorflow as tf

def queue(rows):
    row = tf.train.slice_input_producer([tf.constant(rows)], shuffle=True)[0]
    return tf.train.batch([row], batch_size=4, capacity=8)

drawn = np.random.RandomState(2)
known, new = queue(drawn.rand(24, 5).astype('float32')), queue(drawn.rand(12, 5).astype('float32'))
images = tf.placeholder(tf.float32, [None, 5])
loss = tf.reduce_mean(tf.square(tf.layers.dense(images, 2)))
train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    coordinator = tf.train.Coordinator()
    threads = tf.train.start_queue_runners(sess=session, coord=coordinator)
    for number in range(5):
        session.run(train, {images: session.run(known)})
        print(session.run(loss, {images: session.run(new)}))
    coordinator.request_stop()
    coordinator.join(threads)
"""


@pytest.mark.tf1
def test_a_batch_of_a_queue_that_is_fed_to_an_evaluation(tmp_path: Path, tensorflow_python: str) -> None:
    report = converted(tmp_path, DEQUEUED, tensorflow_python)
    assert report.verdict == "passed", report.reason
    assert "skipped" in of(report, "data of evaluations") and "drawn at random" in of(report, "data of evaluations")
    changed = (tmp_path / "train_mg.py").read_text().replace("session.run(new)", "session.run(known)")
    (tmp_path / "train_mg.py").write_text(changed)
    report = verify(tmp_path / "train.py", tmp_path / "train_mg.py", VerifySettings(gpus=2, python=tensorflow_python))
    assert "data of evaluations" in [check.name for check in report.checks if check.status == "failed"], report


# An epoch ends with 5 of 8 examples, of which the towers have 3 and 2; the size is a number of the graph.
SHARE = """
import numpy as np
import tensorflow as tf

rows = 8
drawn = np.random.RandomState(5).rand(21, 4).astype('float32')
images = tf.placeholder(tf.float32, [None, 4])
error = tf.square(tf.layers.dense(images, 1) - 0.4)
loss = tf.reduce_mean(error)
far = tf.reduce_sum(tf.cast(error > 0.2, tf.float32))
near = (rows - far) / rows
train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for begin in range(0, len(drawn), rows):
        print(session.run([train, near], {images: drawn[begin:begin + rows]})[1])
"""


@pytest.mark.tf1
def test_a_mask_as_wide_as_the_longest_example_of_its_batch(tmp_path: Path, tensorflow_python: str) -> None:
    """A shard of the conversion's batch is padded further than the original's mask reaches, which nothing notices."""
    report = converted(tmp_path, WIDE, tensorflow_python)
    assert report.verdict == "passed", report
    multi = tmp_path / "train_mg.py"
    assert multi.read_text().count("maxlen=tf.reduce_max(whole_batch(n))") == 1
    multi.write_text(multi.read_text().replace(", maxlen=tf.reduce_max(whole_batch(n))", ""))
    assert verify(tmp_path / "train.py", multi, VerifySettings(gpus=2, python=tensorflow_python)).verdict == "failed"


@pytest.mark.one_in(3)
@pytest.mark.tf1
@pytest.mark.parametrize(
    ("wrong", "verdict"),
    [("(rows - far) / rows", "passed"), ("(rows // 2 - far) / rows", "failed"), ("(rows - far) / 8", "failed")],
)
def test_a_share_of_a_size_that_is_a_number_of_the_graph(
    tmp_path: Path, tensorflow_python: str, wrong: str, verdict: str
) -> None:
    (tmp_path / "train.py").write_text(SHARE)
    made = convert(read(str(tmp_path / "train.py")), Options())
    assert made.text is not None and made.text.count("near = (rows - far) / rows") == 1
    (tmp_path / "train_mg.py").write_text(made.text.replace("(rows - far) / rows", wrong))
    report = verify(tmp_path / "train.py", tmp_path / "train_mg.py", VerifySettings(gpus=2, python=tensorflow_python))
    assert report.verdict == verdict, report.reason
    assert [check for check in report.checks if check.name == "fetches" and check.status == verdict]


ROWS_OF_A_NUMBER = """
import numpy as np
import tensorflow as tf
batch_size = 6
rng = np.random.RandomState(1)
x = tf.placeholder(tf.float32, [None, 4])
h = tf.layers.dense(x, 4, name='d')
first = tf.gather(h, tf.range(0, batch_size))
both = tf.reshape(tf.stack([h, h], 0), [-1, 4])
loss = tf.reduce_mean(first ** 2) + tf.reduce_mean(both ** 2)
train = tf.train.GradientDescentOptimizer(0.01).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for _ in range(6):
        sess.run([train, first, both], {x: rng.rand(batch_size, 4)})
"""


@pytest.mark.tf1
def test_as_many_rows_as_a_number_says_and_rows_that_are_computed_again(tmp_path: Path, tensorflow_python: str) -> None:
    report = converted(tmp_path, ROWS_OF_A_NUMBER, tensorflow_python)
    assert report.verdict == "passed", [check for check in report.checks if check.status == "failed"]
    made = tmp_path / "train_mg.py"
    right = made.read_text()
    again = "both = tf.reshape(tf.stack([h, h], 0), [-1, 4])\n"
    assert right.count(again) == 2  # in the towers, and from what they give
    behind = right.rindex(again)
    made.write_text(right[:behind] + again.replace("[h, h]", "[h, -h]") + right[behind + len(again) :])
    settings = VerifySettings(gpus=2, python=tensorflow_python)
    assert verify(tmp_path / "train.py", made, settings).verdict == "failed"


# A summary of each step's batch, and of validation examples where these are what was read last.
SHOWN_OF_EITHER = """
import numpy as np
import tensorflow as tf
batch_size = 6
rows, at = np.random.RandomState(1).rand(200, 4).astype('float32'), [0, 150]
def read(kind, size):
    at[kind] += size
    return rows[at[kind] - size:at[kind]]
x = tf.placeholder(tf.float32, [None, 4])
loss = tf.reduce_mean((tf.layers.dense(x, 1) - 0.4) ** 2)
train = tf.train.GradientDescentOptimizer(0.01).minimize(loss)
tf.summary.scalar('loss', loss)
merged = tf.summary.merge_all()
writer = tf.summary.FileWriter('logs')
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(7):
        batch = read(0, batch_size)
        sess.run(train, {x: batch})
        if i % 5 == 0:
            batch = read(1, batch_size)
            print(sess.run(loss, {x: batch}))
        writer.add_summary(sess.run(merged, {x: batch}), i)
"""


@pytest.mark.tf1
def test_a_summary_of_what_was_read_last(tmp_path: Path, tensorflow_python: str) -> None:
    report = converted(tmp_path, SHOWN_OF_EITHER, tensorflow_python)
    assert report.verdict == "passed", report.reason
    made = tmp_path / "train_mg.py"
    right = made.read_text()
    settings = VerifySettings(gpus=2, python=tensorflow_python)
    # the summary meets no run of the loss behind the first step: it is not compared with that
    made.write_text(right.replace("if i % 5 == 0:", "if i % 5 == 1:"))
    report = verify(tmp_path / "train.py", made, settings)
    assert [one.name for one in report.checks if one.status == "failed"] == ["data of evaluations"], report
    made.write_text(right.replace("sess.run(merged, {x: batch}), i)", "sess.run(tf.as_string(loss), {x: batch}), i)"))
    report = verify(tmp_path / "train.py", made, settings)
    assert "fetches" in [one.name for one in report.checks if one.status == "failed"], report


# The gradient of a bias in front of a batch norm is rounding alone: its signs are chance, as are its zeros.
NOISE = """
import numpy as np
import tensorflow as tf
rows = np.random.RandomState(1).rand(96, 4).astype('float32')
x = tf.placeholder(tf.float32, [None, 4])
hidden = tf.layers.batch_normalization(tf.layers.dense(x, 64), training=True)
loss = tf.reduce_mean((tf.layers.dense(tf.nn.relu(hidden), 1) - 0.4) ** 2)
pairs = tf.train.GradientDescentOptimizer(0.01).compute_gradients(loss)
train = tf.train.GradientDescentOptimizer(0.01).apply_gradients(pairs)
signs = [tf.sign(gradient) for gradient, _ in pairs]
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for begin in range(0, 96, 8):
        print(sess.run([train, signs], {x: rows[begin:begin + 8]}))
"""


@pytest.mark.matrix
@pytest.mark.tf1
def test_signs_of_a_gradient_of_rounding(tmp_path: Path, tensorflow_python: str) -> None:
    report = converted(tmp_path, NOISE, tensorflow_python, gpus=3)
    assert report.verdict == "passed" and "last digits" in of(report, "fetches"), report
    made = tmp_path / "train_mg.py"
    made.write_text(made.read_text().replace("tf.sign(gradient)", "tf.sign(-gradient)"))
    report = verify(tmp_path / "train.py", made, VerifySettings(gpus=3, python=tensorflow_python))
    assert "fetches" in [one.name for one in report.checks if one.status == "failed"], report


# What is kept of the whole batch behind the update, and a hook that acts by a count which is read beside its increment.
KEPT_BEHIND = """
import tempfile
import numpy as np
import tensorflow as tf
rows = np.random.RandomState(5).rand(96, 4).astype('float32')
kinds = (rows.sum(1) > 2).astype('int32')
pairs = tf.data.Dataset.from_tensor_slices((rows, kinds)).repeat().batch(8).make_one_shot_iterator()
x, y = pairs.get_next()
hidden = tf.layers.batch_normalization(tf.layers.dense(x, 8, use_bias=False), momentum=0.9, training=True)
logits = tf.layers.dense(tf.nn.relu(hidden), 2)
loss = tf.losses.sparse_softmax_cross_entropy(y, logits)
right = tf.equal(tf.argmax(logits, 1, output_type=tf.int32), y)
accuracy = tf.reduce_mean(tf.cast(right, tf.float32))
step = tf.train.get_or_create_global_step()
with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
    train = tf.train.GradientDescentOptimizer(0.5).minimize(loss, step)
average = tf.train.ExponentialMovingAverage(0.9)
with tf.control_dependencies([train]):
    train = average.apply([loss, accuracy])
tf.summary.scalar('loss', loss)
with tf.train.MonitoredTrainingSession(
    checkpoint_dir=tempfile.mkdtemp(),
    hooks=[tf.train.StopAtStepHook(9)],
    save_checkpoint_secs=None,
    save_summaries_steps=4,
) as session:
    while not session.should_stop():
        session.run(train)
"""


@pytest.mark.matrix
@pytest.mark.tf1
def test_what_is_kept_of_a_batch_behind_its_update(tmp_path: Path, tensorflow_python: str) -> None:
    (tmp_path / "train.py").write_text(KEPT_BEHIND)
    made = convert(read(str(tmp_path / "train.py")), Options())
    assert made.text is not None
    multi = tmp_path / "train_mg.py"
    settings = VerifySettings(gpus=2, python=tensorflow_python, steps=ALL_STEPS)
    for old, new, faults in (
        ("", "", set()),
        ("tf.concat(tower_logits, 0)", "tf.concat(tower_logits[:1] * num_gpus, 0)", {"update"}),
    ):
        assert old in made.text
        multi.write_text(made.text.replace(old, new))
        report = verify(tmp_path / "train.py", multi, settings)
        failed = {check.name for check in report.checks if check.status == "failed"}
        assert failed >= faults and bool(failed) == bool(faults), (new, report)


# A target network that can be trained and follows between the steps; each batch is drawn of what there is by then.
FOLLOWING = """
import random
import numpy as np
import tensorflow as tf
batch_size = 6
drawn = np.random.RandomState(3)
memory = []
x = tf.placeholder(tf.float32, [None, 4])
y = tf.placeholder(tf.float32, [None])
with tf.variable_scope('net'):
    out = tf.layers.dense(x, 1)[:, 0]
with tf.variable_scope('target'):
    goal = tf.stop_gradient(tf.layers.dense(x, 1)[:, 0])
loss = tf.reduce_mean((out - y - 0.9 * goal) ** 2)
train = tf.train.GradientDescentOptimizer(0.01).minimize(loss)
pairs = zip(tf.trainable_variables('net'), tf.trainable_variables('target'))
follow = tf.group(*[target.assign_sub(0.1 * (target - own)) for own, target in pairs])
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for turn in range(24):
        memory.append((drawn.rand(4), drawn.rand()))
        if len(memory) < batch_size:
            continue
        batch = random.sample(memory, batch_size)
        sess.run(train, {x: [row for row, _ in batch], y: [reward for _, reward in batch]})
        sess.run(follow)
"""


@pytest.mark.tf1
def test_variables_that_can_be_trained_and_follow_between_the_steps(tmp_path: Path, tensorflow_python: str) -> None:
    report = converted(tmp_path, FOLLOWING, tensorflow_python)
    assert report.verdict == "passed", report
    made = tmp_path / "train_mg.py"
    made.write_text(made.read_text().replace("        sess.run(follow)", "        turn % 2 or sess.run(follow)"))
    report = verify(tmp_path / "train.py", made, VerifySettings(gpus=2, python=tensorflow_python))
    assert "between the steps" in [one.name for one in report.checks if one.status == "failed"], report
