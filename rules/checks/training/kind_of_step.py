"""The training step is made by a call that cannot be taken apart."""

from __future__ import annotations

from converter.planner.found import Found
from converter.planner.wording import Words
from converter.rule import Rule

RULES = (
    Rule(
        code="TMG213",
        title="the training step is made by a call that cannot be taken apart",
        why="The towers need the halves of a training step apart: gradients for each, one update for all. "
        "A minimize() whose arguments are given by * or ** cannot be taken apart, and neither can "
        "slim.learning.create_train_op, tf.contrib.layers.optimize_loss and their like where the "
        "optimizer that they are given is not seen. Write the arguments out, and hand over the "
        "optimizer itself.",
        before="""\
import tensorflow as tf

batch_size = 64
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
logits = tf.layers.dense(X, 10)
loss = tf.losses.sparse_softmax_cross_entropy(Y, logits)
arguments = {'global_step': tf.train.get_or_create_global_step()}
train_op = tf.train.AdamOptimizer(0.001).minimize(loss, **arguments)

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
train_op = tf.train.AdamOptimizer(0.001).minimize(loss, global_step=tf.train.get_or_create_global_step())

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels = next_batch(batch_size)
        sess.run(train_op, {X: images, Y: labels})
""",
        references=("docs: TMG118, functions that build a whole training step",),
    ),
)

WORDS = {
    Found.KIND_OF_STEP: Words(
        "TMG213",
        "a training step made by {kind} is not converted yet",
        "use optimizer.minimize, or compute_gradients and apply_gradients, with the arguments written out",
    ),
}
