"""No training step was found."""

from __future__ import annotations

from converter.rule import Rule

RULES = (
    Rule(
        code="TMG201",
        title="no training step was found",
        why="The tool looks for what a training script does: minimize(), compute_gradients() or "
        "tf.gradients() of a loss, in the script or in the functions that it calls. This file has none "
        "that can be reached: it only builds a model, evaluates one, or trains it in another file. "
        "Towers speed up training, so there is nothing to do here. Convert the script that trains.",
        before="""\
import tensorflow as tf

X = tf.placeholder(tf.float32, [None, 784])
logits = tf.layers.dense(X, 10)

with tf.Session() as sess:
    tf.train.Saver().restore(sess, 'model.ckpt')
    print(sess.run(logits, {X: load()}))
""",
        after="""\
import tensorflow as tf

batch_size = 64
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
logits = tf.layers.dense(X, 10)
loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(logits=logits, labels=Y))
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels = next_batch(batch_size)
        sess.run(train_op, {X: images, Y: labels})
""",
    ),
)
