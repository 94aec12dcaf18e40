"""Values that a conversion puts together in a wrong way, which may be right by chance in the compared steps."""

from __future__ import annotations

from pathlib import Path

import pytest

from converter.options import Options
from tests.proofs import proof_of, verdict_of

pytestmark = pytest.mark.one_test_in(2)

SCRIPT = """\
import numpy as np
import tensorflow as tf

batch_size = 8
tf.set_random_seed(7)
rng = np.random.RandomState(0)
data, labels = rng.rand(64, 5).astype('float32'), rng.randint(3, size=64)
x = tf.placeholder(tf.float32, [{rows}, 5])
y = tf.placeholder(tf.int64, [{rows}])
h = tf.layers.dense(x, 6, tf.nn.tanh)
logits = tf.layers.dense(h, 3)
losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits)
loss = tf.reduce_mean(losses)
right = tf.cast(tf.equal(tf.argmax(logits, 1), y), tf.float32)
accuracy = tf.reduce_mean(right)
count = tf.reduce_sum(right)
top = tf.reduce_max(losses)
low = tf.reduce_min(losses)
center = tf.reduce_mean(h, 0)
turned = tf.transpose(logits)
train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for begin in range(0, 64, batch_size):
        feed = {{x: data[begin:begin + batch_size], y: labels[begin:begin + batch_size]}}
        print(sess.run([train_op, loss, losses, accuracy, count, top, low, center, turned], feed)[1:])
"""
ANY_SIZE, ONE_SIZE = SCRIPT.format(rows="None"), SCRIPT.format(rows="batch_size")
KEPT = """\
best = tf.get_variable('best', [], tf.float32, tf.zeros_initializer(), trainable=False)
with tf.control_dependencies([tf.assign(best, top)]):
    train_op"""
UPDATE = "train_op = optimizer.apply"
ORDER, UNEVEN, STEP = "in another order)", "of its examples)", "(step 1)"

# what is computed in place of the right value, and the words behind which a value differs
WRONG = [
    ("top = tf.reduce_max(tower_losses[0])", ORDER),
    ("low = tf.reduce_min(tower_losses[1])", "(step 2)"),
    ("top = tf.add_n([tf.reduce_max(one) for one in tower_losses]) / num_gpus", STEP),
    ("low = tf.add_n([tf.reduce_min(one) for one in tower_losses])", STEP),
    ("top = tf.reduce_min([tf.reduce_max(one) for one in tower_losses])", STEP),
    ("center = tf.add_n([tf.reduce_mean(one, 0) for one in tower_h]) / num_gpus", UNEVEN),
    ("center = tf.reduce_mean(tower_h[0], 0)", STEP),
    ("center = tf.concat([tf.reduce_mean(one, 0) for one in tower_h], 0)", STEP),
    ("center = tf.reduce_max(tf.stack([tf.reduce_mean(one, 0) for one in tower_h]), 0)", STEP),
    ("center = center * num_gpus", STEP),
    ("accuracy = count / batch_size", UNEVEN),
    ("accuracy = accuracy * num_gpus", STEP),
    ("accuracy = tf.add_n([tf.reduce_mean(one) for one in tf.split(right, num_gpus)]) / num_gpus", UNEVEN),
    ("count = count / num_gpus", STEP),
    ("loss = loss * num_gpus", STEP),
    ("loss = tf.reduce_max(tf.stack(tower_loss)) * num_gpus", STEP),
    ("losses = tf.concat(tower_losses[::-1], 0)", STEP),
    ("losses = tf.concat([tower_losses[0]] * num_gpus, 0)", STEP),
    ("losses = tf.add_n(tower_losses) / num_gpus", STEP),
    ("turned = tf.concat([tf.transpose(one) for one in tower_logits[::-1]], 1)", STEP),
    ("turned = tf.concat([tf.transpose(one) for one in tower_logits], 0)", STEP),
    ("turned = tf.reshape(logits, [3, -1])", STEP),
]
RIGHT = [
    "top = tf.reduce_max([tf.reduce_max(one) for one in tower_losses])",
    "center = tf.add_n([tf.reduce_sum(one, 0) for one in tower_h]) / tf.cast(tf.shape(h)[0], tf.float32)",
    "turned = tf.concat([tf.transpose(one) for one in tower_logits], 1)",
]
# a batch of one size has no other sizes to be tried with
OF_ONE_SIZE = [(new, words) for new, words in WRONG if words != UNEVEN]
# the least loss of the first step is tower 1's, in the batch's own order
OF_ONE_SIZE[1] = (OF_ONE_SIZE[1][0], ORDER)


def faults(text: str, new: str, folder: Path, python: str) -> list[str]:
    """What the check of fetches says of a conversion that computes something else in front of the update."""
    (folder / "single.py").write_text(text)
    report = proof_of(
        folder / "single.py", python, folder, Options(), (UPDATE, f"{new}\n{UPDATE}") if new else ("", "")
    )
    return [check.detail for check in report.checks if check.name == "fetches" and check.status == "failed"]


@pytest.mark.one_in(24)
@pytest.mark.tf1
@pytest.mark.parametrize(
    ("text", "new", "words"),
    [(ANY_SIZE, *one) for one in WRONG] + [(ONE_SIZE, *one) for one in OF_ONE_SIZE],
    ids=[f"any {new}" for new, _ in WRONG] + [f"one {new}" for new, _ in OF_ONE_SIZE],
)
def test_wrong(text: str, new: str, words: str, tmp_path: Path, tensorflow_python: str) -> None:
    found = faults(text, new, tmp_path, tensorflow_python)
    assert found and found[0].endswith(words)


@pytest.mark.one_in(6)
@pytest.mark.tf1
@pytest.mark.parametrize("text", [ANY_SIZE, ONE_SIZE], ids=["any", "one"])
@pytest.mark.parametrize("new", ["", *RIGHT])
def test_right(text: str, new: str, tmp_path: Path, tensorflow_python: str) -> None:
    assert faults(text, new, tmp_path, tensorflow_python) == []


@pytest.mark.one_in(8)
@pytest.mark.tf1
@pytest.mark.parametrize(
    ("new", "verdict"),
    [
        ("top", "passed"),
        ("tf.reduce_max([tf.reduce_max(one) for one in tower_losses])", "passed"),
        ("tf.reduce_max(tower_losses[0])", "failed update"),
        ("tf.reduce_max(tower_losses[1])", "failed update"),
    ],
)
def test_what_a_step_keeps(new: str, verdict: str, tmp_path: Path, tensorflow_python: str) -> None:
    text, change = ANY_SIZE.replace("train_op", KEPT, 1), ("tf.assign(best, top)", f"tf.assign(best, {new})")
    assert verdict_of(text, tensorflow_python, tmp_path, Options(), change) == verdict
