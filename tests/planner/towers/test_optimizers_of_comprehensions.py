"""Optimizers that a comprehension or a lambda makes where it takes the step: they have no name outside of it."""

from __future__ import annotations

import pytest

from tests.scripts import codes, converted

SCRIPT = """\
import tensorflow as tf

batch_size = 16
x = tf.placeholder(tf.float32, [None, 4])
a, b = tf.layers.dense(x, 4), tf.layers.dense(x, 4)
losses = [tf.reduce_mean(tf.square(out - x)) for out in (a, b)]
loss = losses[0]
{step}
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    while True:
        sess.run(train_op, {{x: next_batch(batch_size)}})
"""


@pytest.mark.parametrize(
    ("step", "written"),
    [
        (
            "train_op = [tf.train.AdamOptimizer(r).minimize(loss) for r in (0.1, 0.01)]",
            "[TowerOptimizer(tf.train.AdamOptimizer(r), ",
        ),
        (
            "make = lambda r: tf.train.AdamOptimizer(r).minimize(loss)\ntrain_op = make(0.1)",
            "make = lambda r: TowerOptimizer(tf.train.AdamOptimizer(r), ",
        ),
        (
            "each = [tf.train.AdamOptimizer(r) for r in (0.1, 0.01)]\n"
            "train_op = [each[i].minimize(losses[i]) for i in range(2)]",
            "[TowerOptimizer(each[i], losses[i].tower_losses).minimize(losses[i]) for i in range(2)]",
        ),
    ],
    ids=["comprehension", "lambda", "list"],
)
def test_the_optimizer_is_wrapped_where_it_is_made(step: str, written: str) -> None:
    assert written in converted(SCRIPT.format(step=step))


@pytest.mark.parametrize(
    "step",
    [
        "train_op = tf.train.AdamOptimizer(0.1).minimize(loss)",
        "each = [tf.train.AdamOptimizer(r) for r in (0.1, 0.01)]\n"
        "train_op = [one.minimize(part) for one, part in zip(each, losses)]",
    ],
    ids=["statement", "named"],
)
def test_others_take_the_gradients_by_name(step: str) -> None:
    text = converted(SCRIPT.format(step=step))
    assert "TowerOptimizer" not in text and "apply_gradients" in text


def test_the_step_is_no_evaluation() -> None:
    loop = "    for i in range(len(data) // batch_size):\n        sess.run(train_op[0], {x: data[i * batch_size:]})\n"
    text = SCRIPT.format(step="train_op = [tf.train.AdamOptimizer(r).minimize(loss) for r in (0.1, 0.01)]")
    head = text.split("    while True")[0].replace("batch_size = 16", "batch_size = 16\ndata = load()")
    assert codes(head + loop) == []
