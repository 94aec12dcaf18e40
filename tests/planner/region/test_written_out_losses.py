"""What a loss reads that is written out where it is minimised, in a block that is opened again behind the loop."""

from __future__ import annotations

import pytest

from tests.scripts import INPUTS, TRAINING, codes, parts

SCRIPT = """\
prediction = tf.layers.dense(X, 1)
w = tf.get_variable('w', [4])
size = tf.reduce_sum(tf.square(w))
with tf.name_scope('train'):
{block}
"""
LOSS = "loss = tf.reduce_mean(tf.square(prediction - Y))"
STEP = "train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss + 0.1 * penalty)"
PENALTY = "penalty = size / 2"


def _script(*lines: str) -> str:
    inside = [line for line in lines if not line.startswith("|")]
    outside = [line[1:] for line in lines if line.startswith("|")]
    return (
        INPUTS + SCRIPT.format(block="\n".join(f"    {line}" for line in inside)) + "\n".join(outside) + "\n" + TRAINING
    )


@pytest.mark.parametrize(
    "lines",
    [
        (LOSS, PENALTY, STEP),
        (LOSS, PENALTY, f"|{STEP}"),
        ("with tf.name_scope('loss'):", f"    {LOSS}", f"    {PENALTY}", STEP),
        (LOSS, "if True:", f"    {PENALTY}", STEP),
        (LOSS, "half = size / 2", "penalty = half", STEP),
    ],
)
def test_it_is_computed_in_the_towers(lines: tuple[str, ...]) -> None:
    _, inside, after = parts(_script(*lines))
    assert [line for line in inside if line.startswith("penalty = ")] and not any("penalty =" in line for line in after)
    assert any("loss + 0.1 * penalty" in line for line in inside)


@pytest.mark.parametrize("other", ["shown = size * 2", "tf.summary.scalar('size', size)"])
def test_what_the_loss_does_not_read_stays_behind_the_loop(other: str) -> None:
    _, inside, after = parts(_script(LOSS, PENALTY, other, STEP))
    assert other in after and other not in inside


def test_what_is_bound_again_behind_the_step_stays_behind_the_loop() -> None:
    _, inside, after = parts(_script(LOSS, PENALTY, STEP, "penalty = size * 3"))
    assert PENALTY in inside and "penalty = size * 3" in after


UPDATES = """\
hidden = tf.layers.batch_normalization(tf.layers.dense(X, 3), training=True)
loss = tf.reduce_mean(tf.square(tf.layers.dense(hidden, 1) - Y))
decay = tf.losses.get_regularization_loss()
optimizer = tf.train.AdamOptimizer(0.01)
with tf.control_dependencies({behind}):
    train_op = optimizer.apply_gradients(optimizer.compute_gradients(loss + decay))
"""
COUNTED = "[tf.assign_add(tf.get_variable('n', [], trainable=False), 1.0)]"


@pytest.mark.parametrize(
    ("behind", "found"), [("tf.get_collection(tf.GraphKeys.UPDATE_OPS)", []), (COUNTED, ["TMG290"])]
)
def test_a_sum_behind_the_updates_of_layers_needs_none_of_them(behind: str, found: list[str]) -> None:
    """What else must run first may be a variable that the sum reads."""
    assert codes(INPUTS + UPDATES.format(behind=behind) + TRAINING) == found
