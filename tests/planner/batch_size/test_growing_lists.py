"""Lists that get as many more rows as they have, or a share of these: their length is not followed for ever."""

from __future__ import annotations

import pytest

from tests.scripts import codes, converted

SCRIPT = """\
import math
import numpy as np
import tensorflow as tf

rows = []
{more}


def load(how_many, offset):
    count = len(rows) if how_many == -1 else max(0, min(how_many, len(rows) - offset))
    return np.zeros((count, 4))


batch_size = 16
x = tf.placeholder(tf.float32, [None, 4])
loss = tf.reduce_mean(tf.square(tf.layers.dense(x, 2)))
train_op = tf.train.AdamOptimizer(0.01).minimize(loss)
sess = tf.Session()
sess.run(tf.global_variables_initializer())
for step in range(10):
    sess.run(train_op, {{x: load(batch_size, 0)}})
"""
READ = "for line in open('rows'):\n    rows.append(line)\n"


@pytest.mark.parametrize(
    "more",
    [
        f"{READ}for _ in range(len(rows)):\n    rows.append('')",
        f"{READ}n = len(rows)\nfor _ in range(int(math.ceil(n * 10 / 100))):\n    rows.append('')",
        "rows.append(1)\nfor turn in range(3):\n    for _ in range(len(rows)):\n        rows.append('')",
        "for kind in 'ab':\n    n = len(rows)\n    for _ in range(n // 10):\n        rows.append(kind)\n"
        "    rows.extend(list(range(100))[:n // 10])",
    ],
)
def test_a_list_that_grows_by_its_own_length_is_left(more: str) -> None:
    text = SCRIPT.format(more=more)
    assert codes(text) == []
    assert "batch_size = 16 * num_gpus" in converted(text)
