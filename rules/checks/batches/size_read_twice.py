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
    Rule(
        code="TMG279",
        title="a branch sets a batch size again that the user may give",
        why="Where a script sets a flag again in one of its branches, the code after it reads the flag's own value or "
        "the new one. Both go on being the size of one tower, and whoever reads them multiplies them by the number "
        "of towers. That is not possible where the new value is one that is scaled already, or a single example, as in "
        "a model that writes texts: it would become one for each tower.",
        before="""\
import tensorflow as tf

tf.app.flags.DEFINE_integer('batch_size', 64, 'examples in a step')
tf.app.flags.DEFINE_boolean('train', True, 'train, or predict example by example')
FLAGS = tf.app.flags.FLAGS
if not FLAGS.train:
    FLAGS.batch_size = 1
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
logits = tf.layers.dense(X, 10)
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

tf.app.flags.DEFINE_integer('batch_size', 64, 'examples in a step')
tf.app.flags.DEFINE_boolean('train', True, 'train, or predict example by example')
FLAGS = tf.app.flags.FLAGS
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
logits = tf.layers.dense(X, 10)
loss = tf.losses.sparse_softmax_cross_entropy(Y, logits)
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels = next_batch(FLAGS.batch_size)
        sess.run(train_op, {X: images, Y: labels})
""",
        references=("docs: TMG110, how the number is followed",),
    ),
)

WORDS = {
    Found.SIZE_READ_IN_AND_OUT: Words(
        "TMG212",
        "this batch size is read both by the towers and by code outside of them",
        "pass the batch size to the function as an argument",
    ),
    Found.SET_IN_A_BRANCH: Words(
        "TMG279",
        "{name} is set again in one branch, to a number that cannot stay the size of one tower's batch",
        "put the number into another name, and use that in this branch",
    ),
}
