"""An input is made by the same statement as the model that reads it."""

from __future__ import annotations

from converter.planner.found import Found
from converter.planner.wording import Words
from converter.rule import Rule

RULES = (
    Rule(
        code="TMG204",
        title="an input is made by the same statement as the model that reads it",
        why="The placeholders stand before the loop, the model inside. Here one statement makes both, by a function "
        "that creates the placeholders and builds the model, so the loop has no place to begin between them. Make "
        "the placeholders first and hand them to the function.",
        before="""\
import tensorflow as tf

batch_size = 64


def model(width):
    x = tf.placeholder(tf.float32, [None, width])
    return x, tf.layers.dense(x, 10)


Y = tf.placeholder(tf.int64, [None])
X, logits = model(784)
loss = tf.losses.sparse_softmax_cross_entropy(Y, logits)
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels = next_batch(batch_size)
        sess.run(train_op, {X: images, Y: labels})
""",
        after="""\
import tensorflow as tf

batch_size = 64


def model(x):
    return tf.layers.dense(x, 10)


X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
logits = model(X)
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
    Found.FED_IN_PLACE_OF_RESULT: Words(
        "TMG204",
        "this is computed by the model, and this run feeds a value in its place",
        "build what follows it once more on a placeholder, with reuse=True, and feed that",
    ),
    Found.DEFAULT_OF_BATCH: Words(
        "TMG204",
        "the default of this input is computed from the batch by the model",
        "compute it before the statements that build the model",
    ),
    Found.INPUT_OF_UNCALLED_CODE: Words(
        "TMG204",
        "nothing here calls {name}: in which order its methods make this input, the model and the loss is not seen",
        "convert the script that calls it: this file changes with it (--output-dir)",
    ),
    Found.INPUT_BY_STATEMENT_OF_MODEL: Words(
        "TMG204",
        "this input is made by the same statement as the model that reads it, {line}",
        "make it in a statement of its own before the model: a placeholder, or what get_next() gives",
    ),
}
