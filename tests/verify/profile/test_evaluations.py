"""A profile says which models its conversion leaves to one GPU."""

from __future__ import annotations

from pathlib import Path

import pytest

from converter.conversion import convert
from converter.options import Options
from converter.source import read
from converter.verify.profile.placements import conversions

SCRIPT = """\
import numpy as np
import tensorflow as tf

batch_size = 32
rows, labels = np.random.rand(640, 4), np.zeros(640)
x = tf.placeholder(tf.float32, [None, 4])
y = tf.placeholder(tf.int64, [None])


def net(x, reuse):
    with tf.variable_scope('net', reuse=reuse):
        return tf.layers.dense(x, 3)


logits = net(x, False)
train_op = tf.train.AdamOptimizer(0.01).minimize(tf.losses.sparse_softmax_cross_entropy(y, logits))
hits = tf.equal(tf.argmax({tested}, 1), y)
with tf.Session() as sess:
    for i in range(0, 640, batch_size):
        batch = {{x: rows[i:i + batch_size], y: labels[i:i + batch_size]}}
        sess.run(train_op, batch)
        print(sess.run(hits, batch))
"""
LEFT = ("the model of single.py, line 12 stands outside of the towers: GPU 0 computes it, on the batches of all GPUs",)


@pytest.mark.parametrize(("tested", "left"), [("net(x, True)", LEFT), ("logits", ())])
def test_a_model_for_evaluation_beside_the_towers(tested: str, left: tuple[str, ...], tmp_path: Path) -> None:
    single, multi = tmp_path / "single.py", tmp_path / "multi.py"
    single.write_text(SCRIPT.format(tested=tested))
    multi.write_text(convert(read(str(single)), Options(), output=str(multi)).text or "")
    assert [one.notes for one in conversions(single, multi) if one.own] == [left]
