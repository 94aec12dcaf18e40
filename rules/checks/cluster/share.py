"""Results of one worker's share."""

from __future__ import annotations

from converter.rule import Rule

RULES = (
    Rule(
        code="TMG361",
        title="a worker's results are those of its share",
        why="What a step gives beside the training (the loss, an accuracy) each worker computes on its own rows, so "
        "that workers print different numbers. The weights are those of the whole batch. Numbers of the whole "
        "batch: run them in the chief after the loop, on whatever is fed there.",
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
saver = tf.train.Saver()

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for begin in range(0, len(images), batch_size):
        batch = {x: images[begin:begin + batch_size], y: labels[begin:begin + batch_size]}
        print(sess.run([train_op, loss], feed_dict=batch))
    saver.save(sess, 'model')
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
saver = tf.train.Saver()

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for begin in range(0, len(images), batch_size):
        batch = {x: images[begin:begin + batch_size], y: labels[begin:begin + batch_size]}
        sess.run(train_op, feed_dict=batch)
    saver.save(sess, 'model')
""",
        options=("--target", "cluster"),
    ),
)
