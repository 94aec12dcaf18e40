"""The script uses several GPUs already."""

from __future__ import annotations

from converter.rule import Rule

RULES = (
    Rule(
        code="TMG216",
        title="the script uses several GPUs already",
        why="It places parts of its model on GPUs of its own choice, or builds them in a loop over devices. "
        "Towers around that would ask for the same devices again, each for all of its parts. Convert "
        "the script as it was for one GPU; where the parts of one model are spread over the GPUs "
        "because it does not fit on one of them, towers are not what is needed.",
        before="""\
import tensorflow as tf

batch_size = 64
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
with tf.device('/gpu:0'):
    hidden = tf.layers.dense(X, 64)
with tf.device('/gpu:1'):
    logits = tf.layers.dense(hidden, 10)
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
hidden = tf.layers.dense(X, 64)
logits = tf.layers.dense(hidden, 10)
loss = tf.losses.sparse_softmax_cross_entropy(Y, logits)
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels = next_batch(batch_size)
        sess.run(train_op, {X: images, Y: labels})
""",
        references=("docs: TMG109, where variables and towers are placed",),
    ),
)
