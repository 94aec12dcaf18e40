"""Blocks that make graphs or sessions: the towers stand inside of one."""

from __future__ import annotations

import pytest

from tests.scripts import codes

HEAD = "import tensorflow as tf\n\nbatch_size = 32\n"
FIRST = """\
with {opened} as sess:
    X = tf.placeholder(tf.float32, [{rows}, 4])
    hidden = sess.run(tf.square(X), {{X: photos}})
"""
SECOND = """\
with {opened} as sess:
    Z = tf.placeholder(tf.float32, [None, 4])
    Y = tf.placeholder(tf.float32, [None, 1])
    loss = tf.reduce_mean(tf.square(tf.layers.dense({read}, 1) - Y))
    train_op = tf.train.AdamOptimizer(0.01).minimize(loss)
    sess.run(tf.global_variables_initializer())
    for step in range(9):
        xs, ys = next_batch(batch_size)
        sess.run(train_op, {{Z: xs, Y: ys}})
"""
NEW = "tf.Graph().as_default(), tf.Session()"


@pytest.mark.parametrize("opened", [NEW, "tf.Session(graph=tf.Graph())", "tf.Session()"])
def test_a_batch_that_one_graph_hands_to_another(opened: str) -> None:
    script = HEAD + FIRST.format(opened=opened, rows="None") + SECOND.format(opened=opened, read="hidden")
    assert "TMG276" in codes(script)


@pytest.mark.parametrize(("rows", "read"), [("1", "Z"), ("None", "Z"), ("1", "Z + hidden")])
def test_an_earlier_graph_that_the_model_reads_no_batch_of(rows: str, read: str) -> None:
    script = HEAD + FIRST.format(opened=NEW, rows=rows) + SECOND.format(opened=NEW, read=read)
    assert codes(script) == []
