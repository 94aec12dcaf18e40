"""Models that share their inputs, of which a condition builds and trains one."""

from __future__ import annotations

import pytest

from tests.scripts import codes, converted, parts

SCRIPT = """\
import sys
import tensorflow as tf

batch_size = 16
mode = int(sys.argv[1])
x = tf.placeholder(tf.float32, [None, 4])


def plain():
    loss = tf.reduce_mean(tf.square(tf.layers.dense(x, 4) - x))
    return loss, tf.train.AdamOptimizer(0.1).minimize(loss)


def deep():
    hidden = tf.layers.dense(x, 8)
    loss = tf.reduce_mean(tf.square(tf.layers.dense(hidden, 4) - x))
    return loss, tf.train.AdamOptimizer(0.1).minimize(loss)


{chosen}
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    while True:
        sess.run(train_op, {{x: next_batch(batch_size)}})
"""
WRITTEN = """\
    out = tf.layers.dense({given}, 4)
    loss = tf.reduce_mean(tf.square(out - x))
    train_op = tf.train.AdamOptimizer(0.1).minimize(loss)
"""
HERE = WRITTEN.format(given="x")


@pytest.mark.parametrize(
    "chosen",
    [
        "if mode:\n    loss, train_op = plain()\nelse:\n    loss, train_op = deep()\n",
        f"if mode == 1:\n    loss, train_op = plain()\nelif mode == 2:\n    loss, train_op = deep()\nelse:\n{HERE}",
    ],
    ids=["functions", "three"],
)
def test_each_model_gets_a_loop_of_its_own(chosen: str) -> None:
    text = converted(SCRIPT.format(chosen=chosen + "tf.summary.scalar('loss', loss)"))
    assert text.count("for gpu in range(num_gpus):") == chosen.count("train_op")


def test_what_both_branches_read_is_built_by_one_loop() -> None:
    branch = WRITTEN.format(given="hidden")
    chosen = f"hidden = tf.layers.dense(x, 8)\nif mode:\n{branch}else:\n{branch.replace('Adam', 'Adagrad')}"
    text = SCRIPT.format(chosen=chosen)
    for name in ("plain", "deep"):
        start = text.index(f"def {name}")
        text = text[:start] + text[text.index("\n\n\n", start) + 3 :]
    assert codes(text) == []
    _, inside, after = parts(text)
    assert "hidden = tf.layers.dense(x, 8)" in inside
    assert not any("Adam" in line or "Adagrad" in line for line in inside)
    assert [line for line in after if line in ("if mode:", "else:")] == ["if mode:", "else:"]
