"""Variables: those whose names follow the variable scope, and raw ones that follow the name scope."""

from __future__ import annotations

from converter.rule import Rule

RULES = (
    Rule(
        code="TMG105",
        title="variables made by tf.Variable are made once and shared by the towers",
        why="tf.get_variable and the layers built on it are shared by their variable scope. tf.Variable "
        "knows no reuse: every tower would make variables of its own, train only those of its own "
        "shard, and prefix their names with `tower_0/`, so that no old checkpoint loads. Where such "
        "variables are made inside the loop, the first tower makes them under the names that they have "
        "on one GPU and the others are handed the same ones in the same order. This needs "
        "tf.variable_creator_scope, TensorFlow 1.12 or newer. Variables that the script makes before "
        "its model are not affected: they stand before the loop.",
        before="""\
import tensorflow as tf

batch_size = 64


def layer(x, size):
    weights = tf.Variable(tf.truncated_normal([int(x.shape[1]), size], stddev=0.1))
    return tf.matmul(x, weights) + tf.Variable(tf.zeros([size]))


X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
logits = layer(tf.nn.relu(layer(X, 64)), 10)
loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(logits=logits, labels=Y))
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels = next_batch(batch_size)
        sess.run(train_op, {X: images, Y: labels})
""",
        after="""\
class SharedVariables(object):
shared_variables = SharedVariables()
for gpu in range(num_gpus):
            tf.variable_scope(tf.get_variable_scope(), reuse=gpu > 0), shared_variables.tower(gpu):
        logits = layer(tf.nn.relu(layer(X, 64)), 10)
""",
        references=(
            "tf.variable_creator_scope (tensorflow/python/ops/variable_scope.py, from 1.12)",
            "tf.Variable: its name follows the name scope; tf.get_variable: it follows the variable scope only",
        ),
    ),
    Rule(
        code="TMG109",
        title="variables are placed on one device, whichever tower makes them",
        why="All towers read the same variables, so where they live decides what travels in a step. By "
        "default that is the CPU, which works on every machine; --variables gpu:0 puts them on the "
        "first GPU, --variables balanced spreads them over the GPUs by size, whole; --variables partitioned "
        "cuts the large ones (TMG139). In the loop tower_device() "
        "says so for what the model makes; statements before the loop that make variables are put under "
        "a tf.device(). A device that the script itself chose stays.",
        before="""\
import tensorflow as tf

batch_size = 64
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
weights = tf.Variable(tf.zeros([784, 10]), name='weights')
bias = tf.Variable(tf.zeros([10]), name='bias')
logits = tf.matmul(X, weights) + bias
loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(logits=logits, labels=Y))
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels = next_batch(batch_size)
        sess.run(train_op, {X: images, Y: labels})
""",
        after="""\
with tf.device('/cpu:0'):
    weights = tf.Variable(tf.zeros([784, 10]), name='weights')
    bias = tf.Variable(tf.zeros([10]), name='bias')
for gpu in range(num_gpus):
        logits = tf.matmul(X, weights) + bias
""",
        references=(
            "tf.device with a function: called for every operation made inside "
            "(tensorflow/python/framework/ops.py, 1.15)",
        ),
    ),
)
