"""The converted text, read again, would compute something else than the script."""

from __future__ import annotations

from converter.rule import Rule

RULES = (
    Rule(
        code="TMG290",
        title="the converted text would compute something else",
        why="Before anything is written, the converted text is walked as the script was, and the two are "
        "compared: behind each training step the same loss of the same inputs, for the same variables; after "
        "the towers the whole batch's values where the script reads them, in the towers those of one shard; "
        "batches with N times the rows, and loops, schedules and evaluations that go with them; layers, "
        "savers, lists of the graph's variables and seeds in an order that keeps names and contents; "
        "collections, lists and variables that no tower makes again; each optimizer's own gradients. This "
        "second reading knows nothing of how the conversion was planned. Where it finds a difference, the "
        "conversion is wrong, and nothing is written. The message shows the script's line and the converted "
        "one. The example was refused for this by an earlier version, which would have executed the statement "
        "that prints a tensor after the towers, where the name stands for another one; it is converted now. "
        "Please report such a script. Often it helps to give each part of the model a name of its own, or to "
        "move the statement that the message shows in front of the model or behind the loss.",
        before="""\
import tensorflow as tf

batch_size = 64
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
with tf.name_scope('hidden'):
    net = tf.layers.dense(X, 64, tf.nn.relu)
    print('hidden units:', net.shape.as_list())
with tf.name_scope('outputs'):
    net = tf.layers.dense(net, 10)
loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(logits=net, labels=Y))
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
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
with tf.name_scope('hidden'):
    hidden = tf.layers.dense(X, 64, tf.nn.relu)
    print('hidden units:', hidden.shape.as_list())
with tf.name_scope('outputs'):
    net = tf.layers.dense(hidden, 10)
loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(logits=net, labels=Y))
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels = next_batch(batch_size)
        sess.run(train_op, {X: images, Y: labels})
""",
    ),
)
