"""One reading of the batch size serves the towers and the host."""

from __future__ import annotations

from converter.planner.found import Found
from converter.planner.wording import Words
from converter.rule import Rule

RULES = (
    Rule(
        code="TMG212",
        title="one reading of the batch size serves the towers and the host",
        why="A batch size that comes from a flag stays what the user gives for one GPU: the towers read it "
        "as it is, and the host's readings are multiplied by the number of GPUs where they stand. This "
        "one stands in a function that both the towers and other code call, so it would need both "
        "values. Pass the batch size to the function as an argument.",
        before="""\
import tensorflow as tf

tf.app.flags.DEFINE_integer('batch_size', 64, 'Examples in a step.')
FLAGS = tf.app.flags.FLAGS


def shape(width):
    return [FLAGS.batch_size, width]


X = tf.placeholder(tf.float32, shape(784))
Y = tf.placeholder(tf.int64, [None])
logits = tf.layers.dense(X + tf.random_normal(shape(784)), 10)
loss = tf.losses.sparse_softmax_cross_entropy(Y, logits)
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels = next_batch(FLAGS.batch_size)
        sess.run(train_op, {X: images, Y: labels})
""",
        after="""\
import tensorflow as tf

tf.app.flags.DEFINE_integer('batch_size', 64, 'Examples in a step.')
FLAGS = tf.app.flags.FLAGS


def shape(size, width):
    return [size, width]


X = tf.placeholder(tf.float32, shape(FLAGS.batch_size, 784))
Y = tf.placeholder(tf.int64, [None])
logits = tf.layers.dense(X + tf.random_normal(shape(FLAGS.batch_size, 784)), 10)
loss = tf.losses.sparse_softmax_cross_entropy(Y, logits)
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels = next_batch(FLAGS.batch_size)
        sess.run(train_op, {X: images, Y: labels})
""",
        references=("docs: TMG110, where the number is changed",),
    ),
)

WORDS = {
    Found.SIZE_READ_IN_AND_OUT: Words(
        "TMG212",
        "this batch size is read both by the towers and by code outside of them",
        "pass the batch size to the function as an argument",
    ),
}
