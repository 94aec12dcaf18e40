"""Models that one training step trains beside the one in the towers are refused."""

from __future__ import annotations

import pytest

from tests.scripts import codes, run

SCRIPT = """\
import tensorflow as tf

batch_size = 64


def fit(logits, X, Y):
    loss = tf.losses.sparse_softmax_cross_entropy(Y, logits)
    train_op = tf.train.AdamOptimizer(0.001).minimize(loss)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for step in range(100):
            images, labels = next_batch(batch_size)
            sess.run(train_op, {X: images, Y: labels})


def small():
    tf.reset_default_graph()
    X = tf.placeholder(tf.float32, [None, 784])
    Y = tf.placeholder(tf.int64, [None])
    logits = tf.layers.dense(X, 10)
    fit(logits, X, Y)


def large():
    tf.reset_default_graph()
    X = tf.placeholder(tf.float32, [None, 784])
    Y = tf.placeholder(tf.int64, [None])
    hidden = tf.layers.dense(X, 100)
    logits = tf.layers.dense(hidden, 10)
    fit(logits, X, Y)


"""


@pytest.mark.parametrize("calls", ["small()\nlarge()\n", "large()\nsmall()\n", "if tf.test: small()\nlarge()\n"])
def test_a_model_beside_the_towers_is_refused_where_it_is_trained(calls: str) -> None:
    (fault,) = run(SCRIPT + calls).diagnostics
    assert (fault.code, fault.line, fault.severity) == ("TMG277", 21, "error")


@pytest.mark.parametrize("calls", ["large()\n", "small()\n", "large()\nlarge()\n"])
def test_one_model_is_converted_however_often_it_is_built(calls: str) -> None:
    assert codes(SCRIPT + calls) == []


def test_models_of_one_function_are_converted() -> None:
    apart = "    hidden = tf.layers.dense(X, 100)\n    logits = tf.layers.dense(hidden, 10)\n"
    text = SCRIPT.replace(apart, "    logits = network(X, 100)\n").replace("tf.layers.dense(X, 10)", "network(X, 10)")
    network = "def network(X, size):\n    hidden = tf.layers.dense(X, size)\n    return tf.layers.dense(hidden, 10)\n\n"
    assert codes(network + text + "small()\nlarge()\n") == ["TMG277"]
    loop = text.replace("def small():", "def each(size):").replace("network(X, 10)", "network(X, size)")
    assert codes(network + loop + "for size in (10, 100): each(size)\n") == []
