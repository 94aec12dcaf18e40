"""Scripts that are not of the shape that workers can run."""

from __future__ import annotations

from converter.rule import Rule

RULES = (
    Rule(
        code="TMG259",
        title="the script has another shape than workers can run",
        why="A worker runs a script of one shape: a graph that is finished before the session is opened, one `with "
        "tf.Session()`, and in it plain for loops with one training step whose batch is fed by a dict that is "
        "written out. All workers must take the same number of steps, so that no break may end the loop in one of "
        "them. What a monitored session cannot do (eval, restore, new operations) is refused, too. The message "
        "names what is in the way, the hint the smallest edit.",
        before="""\
import numpy as np
import tensorflow as tf

batch_size = 64
images, labels = np.load('images.npy'), np.load('labels.npy')

x = tf.placeholder(tf.float32, [None, 784])
y = tf.placeholder(tf.int64, [None])
logits = tf.layers.dense(x, 10)
loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits))
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for begin in range(0, len(images), batch_size):
        batch = {x: images[begin:begin + batch_size], y: labels[begin:begin + batch_size]}
        sess.run(train_op, feed_dict=batch)
    accuracy = tf.reduce_mean(tf.cast(tf.equal(tf.argmax(logits, 1), y), tf.float32))
    print(sess.run(accuracy, {x: images, y: labels}))
""",
        after="""\
import numpy as np
import tensorflow as tf

batch_size = 64
images, labels = np.load('images.npy'), np.load('labels.npy')

x = tf.placeholder(tf.float32, [None, 784])
y = tf.placeholder(tf.int64, [None])
logits = tf.layers.dense(x, 10)
loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits))
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)
accuracy = tf.reduce_mean(tf.cast(tf.equal(tf.argmax(logits, 1), y), tf.float32))

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for begin in range(0, len(images), batch_size):
        batch = {x: images[begin:begin + batch_size], y: labels[begin:begin + batch_size]}
        sess.run(train_op, feed_dict=batch)
    print(sess.run(accuracy, {x: images, y: labels}))
""",
        options=("--target", "cluster"),
    ),
)
