"""Training steps that are another one when each worker takes its part."""

from __future__ import annotations

from converter.rule import Rule

RULES = (
    Rule(
        code="TMG260",
        title="workers would train otherwise than one process",
        why="What a worker does to its gradients, it does before they are averaged: a mean of clipped gradients is not "
        "the clipped mean. What it assigns to variables happens once for each worker. SyncReplicasOptimizer "
        "divides each row of a sparse gradient by the number of workers that have the row, not by the number of "
        "workers. The chief applies gradients by itself, when nothing is fed: an optimizer cannot read a "
        "placeholder. And workers whose generators have no seed prepare different batches.",
        before="""\
import numpy as np
import tensorflow as tf

batch_size = 64
images, labels = np.load('images.npy'), np.load('labels.npy')

x = tf.placeholder(tf.float32, [None, 784])
y = tf.placeholder(tf.int64, [None])
logits = tf.layers.dense(x, 10)
loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits))
optimizer = tf.train.AdamOptimizer(0.001)
gradients, variables = zip(*optimizer.compute_gradients(loss))
gradients, _ = tf.clip_by_global_norm(gradients, 5.0)
train_op = optimizer.apply_gradients(zip(gradients, variables))
saver = tf.train.Saver()

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for begin in range(0, len(images), batch_size):
        batch = {x: images[begin:begin + batch_size], y: labels[begin:begin + batch_size]}
        sess.run(train_op, feed_dict=batch)
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
        references=("tensorflow/core/kernels/sparse_conditional_accumulator.h, 1.15",),
    ),
)
