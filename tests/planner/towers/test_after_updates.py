"""What waits for an update and reads variables reads them behind it, on each GPU."""

from __future__ import annotations

import pytest

from tests.scripts import INPUTS, MODEL, TRAINING, body, codes

STEP = "step = tf.train.AdamOptimizer(0.1).minimize(loss)\n"
TWO = """\
other = tf.reduce_mean(tf.square(prediction))
adam = tf.train.AdamOptimizer(0.1)
"""
CLIP = "train_op = tf.group(*[v.assign(tf.clip_by_value(v, -1.0, 1.0)) for v in tf.trainable_variables()])"


def written(waits: str, block: str, before: str = "") -> list[str]:
    lines = "".join(f"    {line}\n" for line in block.split("\n"))
    script = INPUTS + MODEL + STEP + before + f"with tf.control_dependencies({waits}):\n{lines}" + TRAINING
    return [line.strip() for line in body(script)]


READS = [
    ("clipped weights", "[step]", CLIP),
    ("behind a group", "[tf.group(step)]", CLIP),
    ("weight decay", "[step]", "train_op = [v.assign(v * 0.99) for v in tf.trainable_variables()][0]"),
    ("averages", "[step]", "train_op = tf.train.ExponentialMovingAverage(0.9).apply(tf.trainable_variables())"),
    ("second step", "[step]", "train_op = adam.minimize(other)"),
    ("gradients", "[step]", "pairs = adam.compute_gradients(other)\ntrain_op = adam.apply_gradients(pairs)"),
    ("tf.gradients", "[step]", "grads = tf.gradients(other, tf.trainable_variables())\n"
     "train_op = adam.apply_gradients(zip(grads, tf.trainable_variables()))"),
    ("a model", "[step]", "again = tf.layers.dense(X, 1)\ntrain_op = tf.identity(tf.reduce_mean(again))"),
]  # fmt: skip


@pytest.mark.parametrize(("waits", "block"), [row[1:] for row in READS], ids=[row[0] for row in READS])
def test_reads_behind_the_update(waits: str, block: str) -> None:
    assert f"with after_updates({waits}):" in written(waits, block, TWO)


NEAR = [
    ("a step that is named", "[step]", "train_op = tf.no_op()"),
    ("a group", "[step]", "train_op = tf.group(step, tf.no_op())"),
    ("a count", "[step]", "train_op = tf.assign_add(tf.train.get_or_create_global_step(), 1)"),
    ("the loss", "[step]", "train_op = tf.identity(loss)"),
    ("no update before", "[loss]", CLIP),
    ("update ops", "tf.get_collection(tf.GraphKeys.UPDATE_OPS)", "train_op = adam.minimize(other)"),
    ("gradients from outside", "[step]", "train_op = adam.apply_gradients(pairs)"),
]  # fmt: skip


@pytest.mark.parametrize(("waits", "block"), [row[1:] for row in NEAR], ids=[row[0] for row in NEAR])
def test_what_reads_no_updated_variable_stays(waits: str, block: str) -> None:
    found = written(waits, block, TWO + "pairs = adam.compute_gradients(other)\n")
    assert f"with tf.control_dependencies({waits}):" in found


@pytest.mark.parametrize(("block", "found"), [(CLIP, []), ("train_op = adam.minimize(other)", ["TMG246"])])
def test_slices_are_put_together_before_the_update(block: str, found: list[str]) -> None:
    """A gradient is taken through what the model has put together; what is built in the block reads each slice."""
    script = INPUTS + MODEL + STEP + TWO + f"with tf.control_dependencies([step]):\n    {block}\n" + TRAINING
    assert [code for code in codes(script, variables="partitioned") if code.startswith("TMG2")] == found


WRAPPED = "train_op = tf.contrib.opt.MovingAverageOptimizer(tf.train.AdamOptimizer(0.1)).minimize(loss)\n"


@pytest.mark.parametrize(
    ("variables", "found"), [("cpu", []), ("gpu:0", []), ("balanced", ["TMG238"]), ("partitioned", ["TMG238"])]
)
def test_averages_that_the_library_updates(variables: str, found: list[str]) -> None:
    assert [one for one in codes(INPUTS + MODEL + WRAPPED + TRAINING, variables=variables) if one == "TMG238"] == found


AVERAGE = """\
hidden = tf.layers.dense(X, 4)
mean = tf.reduce_mean(hidden, 0)
ema = tf.train.ExponentialMovingAverage(0.9)
with tf.control_dependencies([ema.apply([mean])]):
    average = ema.average(mean)
    centred = hidden - tf.identity({read})
loss = tf.reduce_mean(tf.square(tf.layers.dense(centred, 1) - Y))
"""


@pytest.mark.parametrize(("read", "found"), [("average", ["TMG234"]), ("mean", [])])
def test_a_loss_that_reads_a_moving_average_behind_its_update(read: str, found: list[str]) -> None:
    """The first tower's update is not each tower's own; what only waits for it is not concerned."""
    step = "train_op = tf.train.AdamOptimizer(0.1).minimize(loss)\n"
    assert codes(INPUTS + AVERAGE.format(read=read) + step + TRAINING) == found
