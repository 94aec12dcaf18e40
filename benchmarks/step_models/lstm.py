"""A recurrent net that tells which of ten classes a sequence is of."""
import argparse

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()

parser = argparse.ArgumentParser()
parser.add_argument('--batch_size', type=int, default=16)
parser.add_argument('--steps', type=int, default=30)
args = parser.parse_args()

inputs = tf.placeholder(tf.float32, [None, 12, 32])
labels = tf.placeholder(tf.int64, [None])
cell = tf.nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.BasicLSTMCell(96) for _ in range(2)])
outputs, state = tf.nn.dynamic_rnn(cell, inputs, dtype=tf.float32)
weights = tf.get_variable('out_w', [96, 10])
logits = tf.matmul(outputs[:, -1], weights)
loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(logits=logits, labels=labels))
optimizer = tf.train.AdamOptimizer(0.001)
gradients, variables = zip(*optimizer.compute_gradients(loss))
gradients, _ = tf.clip_by_global_norm(gradients, 5.0)
train_op = optimizer.apply_gradients(zip(gradients, variables))

rng = np.random.RandomState(1)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(args.steps):
        batch = rng.rand(args.batch_size, 12, 32).astype('float32')
        feed = {inputs: batch, labels: rng.randint(0, 10, args.batch_size)}
        sess.run([train_op, loss], feed_dict=feed)
