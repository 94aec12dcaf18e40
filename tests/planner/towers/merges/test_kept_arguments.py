"""Functions that keep a batch as a default argument, or in a `partial`, and are called inside and behind the towers."""

from __future__ import annotations

import pytest

from tests.scripts import codes, parts, run

HEAD = """\
import functools
import tensorflow as tf

batch_size = 32
x = tf.placeholder(tf.float32, [None, 4])
y = tf.placeholder(tf.int64, [None])


def dense(rows):
    with tf.variable_scope('net', reuse=tf.AUTO_REUSE):
        return tf.layers.dense(rows, 3, name='d')


"""
TAIL = """\
loss = tf.losses.sparse_softmax_cross_entropy(y, logits)
train_op = tf.train.AdamOptimizer(0.01).minimize(loss)
{read}
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    while True:
        images, labels = next_batch(batch_size)
        sess.run([train_op, shown], {{x: images, y: labels}})
"""
FUNCTION = "def net(rows=x):\n    return dense(rows)\n\n\nlogits = net()\n"
METHOD = "class Net(object):\n    def out(self, rows=x):\n        return dense(rows)\n\n\nm = Net()\n"


def script(model: str, read: str = "shown = tf.argmax(net(), 1)") -> str:
    return HEAD + model + TAIL.format(read=read)


@pytest.mark.parametrize(
    "model",
    [
        FUNCTION,
        FUNCTION.replace("logits = net()", "logits = net(x)"),
        "h = 2 * x\n" + FUNCTION.replace("rows=x", "rows=h"),
    ],
    ids=["input", "given to the towers", "hidden"],
)
def test_a_default_argument_of_one_tower_is_refused_where_the_function_is_called(model: str) -> None:
    (found,) = run(script(model)).diagnostics
    assert found.code == "TMG210"
    assert found.message.startswith("net is called after the loss, too, with the argument that it keeps from line ")
    assert (script(model).splitlines())[found.line - 1] == "shown = tf.argmax(net(), 1)"


def test_a_method_that_was_defined_before_the_towers_would_read_the_whole_batch() -> None:
    assert codes(script(METHOD + "logits = m.out()\n", "shown = tf.argmax(m.out(), 1)")) == ["TMG205"]


@pytest.mark.parametrize(
    "made",
    ["net = lambda rows=h: dense(rows)", "net = functools.partial(dense, h)", "net = functools.partial(dense, rows=h)"],
)
def test_what_an_assignment_makes_is_made_again_of_the_whole_batch(made: str) -> None:
    after = parts(script(f"h = 2 * x\n{made}\nlogits = net()\n"))[2]
    assert after.index("h = tf.concat(tower_h, 0)") < after.index(made) < after.index("shown = tf.argmax(net(), 1)")


@pytest.mark.parametrize(
    ("model", "read"),
    [
        (FUNCTION, "shown = tf.argmax(logits, 1)"),
        (FUNCTION, "shown = tf.argmax(net(x), 1)"),
        (FUNCTION.replace("logits = net()", "logits = net(x)"), "shown = tf.argmax(net(rows=x), 1)"),
        (METHOD + "logits = m.out(x)\n", "shown = tf.argmax(m.out(), 1)"),
        ("def net(rows, size=3):\n    return dense(rows)\n\n\nlogits = net(x)\n", "shown = net(x)"),
        ("h = 2 * x\n\n\ndef net():\n    return dense(h)\n\n\nlogits = net()\n", "shown = net()"),
        ("net = functools.partial(dense)\nlogits = net(x)\n", "shown = net(x)"),
    ],
    ids=["not called again", "given", "given twice", "method", "number", "closure", "partial of nothing"],
)
def test_others_are_converted(model: str, read: str) -> None:
    assert codes(script(model, read)) == []
