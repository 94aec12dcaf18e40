"""An input or a batch size belongs to the function around the loop."""

from __future__ import annotations

from converter.planner.found import Found
from converter.planner.wording import Words
from converter.rule import Rule

RULES = (
    Rule(
        code="TMG206",
        title="an input or a batch size belongs to the function around the loop",
        why="The loop stands in a function inside of another one and would have to re-bind a name of the "
        "outer one. Assigned in the inner function it becomes a local of it, and reading it before "
        "raises UnboundLocalError; Python 2 has no `nonlocal` to say otherwise. (A name of the module "
        "is declared global.) Pass it to the function as an argument.",
        before="""\
import tensorflow as tf

batch_size = 64


def train():
    X = tf.placeholder(tf.float32, [None, 784])
    Y = tf.placeholder(tf.int64, [None])

    def build():
        logits = tf.layers.dense(X, 10)
        loss = tf.losses.sparse_softmax_cross_entropy(Y, logits)
        return tf.train.AdamOptimizer(0.001).minimize(loss)

    train_op = build()
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for step in range(100):
            images, labels = next_batch(batch_size)
            sess.run(train_op, {X: images, Y: labels})


train()
""",
        after="""\
import tensorflow as tf

batch_size = 64


def train():
    X = tf.placeholder(tf.float32, [None, 784])
    Y = tf.placeholder(tf.int64, [None])

    def build(x, y):
        logits = tf.layers.dense(x, 10)
        loss = tf.losses.sparse_softmax_cross_entropy(y, logits)
        return tf.train.AdamOptimizer(0.001).minimize(loss)

    train_op = build(X, Y)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for step in range(100):
            images, labels = next_batch(batch_size)
            sess.run(train_op, {X: images, Y: labels})


train()
""",
        references=("docs: TMG103, how names are re-bound",),
    ),
)

WORDS = {
    Found.NAME_OF_OUTER_FUNCTION: Words(
        "TMG206", "{name} belongs to the function around this one", "pass it to the function as an argument"
    ),
}
