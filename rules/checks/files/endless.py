"""Loops or calls build too much to be followed."""

from __future__ import annotations

from converter.rule import Rule

RULES = (
    Rule(
        code="TMG018",
        title="loops or calls build too much to be followed",
        why="The building of the graph is followed statement by statement, through every call and every turn of a loop "
        "that builds something. Loops inside each other and functions that call each other can take more turns than "
        "there is time for. Past 100,000 statements, and four more for each line of the script, the script is refused. "
        "What builds nothing (reading data, training, printing) is followed for two turns of each loop, and a call "
        "there fifty times: a warning names a function that is called more often, as what it would change later is "
        "not known.",
        before="""\
import tensorflow as tf

batch_size = 64
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])

h = X
for a in range(30):
    for b in range(30):
        for c in range(30):
            for d in range(30):
                h = tf.layers.dense(h, 64, tf.nn.relu)
logits = tf.layers.dense(h, 10)
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
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])

h = X
for a in range(30):
    h = tf.layers.dense(h, 64, tf.nn.relu)
logits = tf.layers.dense(h, 10)
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
