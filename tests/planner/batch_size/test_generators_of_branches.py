"""Generators that give batches of several sizes in their branches: none of them is taken for the only one."""

from __future__ import annotations

import pytest

from tests.scripts import codes, converted

SCRIPT = """\
import sys
import numpy as np
import tensorflow as tf

batch_size = 8
test_batch_size = 10
rows = np.random.rand(90, 4)


def batches(steps=None):
{body}


x = tf.placeholder(tf.float32, [None, 4])
loss = tf.reduce_mean(tf.square(tf.layers.dense(x, 3)))
train_op = tf.train.AdamOptimizer(0.01).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for batch in batches(int(sys.argv[1]) if len(sys.argv) > 1 else 30):
        sess.run([train_op, loss], {{x: batch}})
"""
TESTED = """\
    if steps is None:
        for i in range(0, len(rows), test_batch_size):
            yield rows[i:i + test_batch_size]
        return
"""
HELD = """\
    if steps is None:
        held = []
        for row in rows:
            held.append(row)
            if len(held) == test_batch_size:
                yield held
                held = []
        return
"""
DRAWN = "    for k in range(steps):\n        yield rows[np.random.randint(0, 90, batch_size)]\n"
FIXED = "    for k in range(steps):\n        yield rows[np.random.randint(0, 90, 8)]\n"


def test_the_sizes_of_both_branches_grow() -> None:
    text = converted(SCRIPT.format(body=TESTED + DRAWN))
    assert "\nbatch_size = 8 * num_gpus\n" in text and "\ntest_batch_size = 10 * num_gpus\n" in text


@pytest.mark.parametrize("body", [TESTED + FIXED, HELD + FIXED], ids=["slices", "a list that is filled"])
def test_the_batch_is_kept_where_one_branch_has_a_size_without_a_name(body: str) -> None:
    assert codes(SCRIPT.format(body=body)) == ["TMG303"]


def test_the_size_of_the_only_branch_grows() -> None:
    assert "\nbatch_size = 8 * num_gpus\n" in converted(SCRIPT.format(body=DRAWN))
