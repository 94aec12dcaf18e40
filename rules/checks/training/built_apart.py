"""The model and its loss are not built in one place."""

from __future__ import annotations

from converter.planner.found import Found
from converter.planner.wording import Words
from converter.rule import Rule

RULES = (
    Rule(
        code="TMG214",
        title="the model and its loss are not built in one place",
        why="The loop goes around one run of statements, in the innermost function that sees both the "
        "inputs and the finished loss. Here there is none: the whole model is written inside the call "
        "that minimises it, or its parts are built by functions that nothing in this file calls one "
        "after the other. Build the model and its loss in statements of one block, or call the "
        "functions that do from one place in this file.",
        before="""\
import tensorflow as tf

batch_size = 64
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
train_op = tf.train.AdamOptimizer(0.001).minimize(
    tf.losses.sparse_softmax_cross_entropy(Y, tf.layers.dense(X, 10)))

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels = next_batch(batch_size)
        sess.run(train_op, {X: images, Y: labels})
""",
        after="""\
import tensorflow as tf

batch_size = 64
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
logits = tf.layers.dense(X, 10)
loss = tf.losses.sparse_softmax_cross_entropy(Y, logits)
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels = next_batch(batch_size)
        sess.run(train_op, {X: images, Y: labels})
""",
    ),
)

WORDS = {
    Found.APART_FROM_INPUTS: Words(
        "TMG214", "a part of the model is built apart from its inputs", "build the model in one function"
    ),
    Found.NOT_IN_ONE_PLACE: Words(
        "TMG214", "the model and its loss are not built in one place", "build the model and its loss in one function"
    ),
    Found.LOSS_NOT_IN_ONE_PLACE: Words(
        "TMG214",
        "the statements that build the loss are not in one place",
        "build the model and its loss in one function",
    ),
    Found.BUILT_ALIKE: Words(
        "TMG214",
        "the model that is trained here is built by the same function as the one that is trained in {line}, "
        "and the loops of both would stand in that function",
        "give each model a function of its own, or train each in a script of its own",
    ),
}
