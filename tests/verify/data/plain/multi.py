# tf-multigpu 0.1.0: single.py sha256:0 --num-gpus 2 --batch per-gpu
"""Least squares on two inputs; the smallest script that trains. `--loss sum` adds the examples up."""
import sys

import numpy as np
import tensorflow as tf

# tf-multigpu: helpers for training on several GPUs
num_gpus = 2  # towers
# tf-multigpu: end of helpers

batch_size = 8 * num_gpus
random = np.random.RandomState(1)
data = random.normal(size=(400, 3)).astype(np.float32)
target = data.dot([[1.0], [-2.0], [0.5]]).astype(np.float32) + 0.1

X = tf.placeholder(tf.float32, [None, 3])
Y = tf.placeholder(tf.float32, [None, 1])
w = tf.get_variable('w', [3, 1])
b = tf.get_variable('b', [1], initializer=tf.zeros_initializer())
optimizer = tf.train.MomentumOptimizer(0.01, 0.9)
tower_grads = []
for gpu in range(num_gpus):
    with tf.device('/gpu:%d' % gpu), tf.name_scope('tower_%d' % gpu):
        total = tf.shape(X)[0]
        begin, end = total * gpu // num_gpus, total * (gpu + 1) // num_gpus
        weight = tf.cast(end - begin, tf.float32) / tf.cast(total, tf.float32)
        first = tf.minimum(begin, total - 1)
        last = first + tf.maximum(end - begin, 1)
        error = tf.square(tf.matmul(X[first:last], w) + b - Y[first:last])
        loss = tf.reduce_sum(error) if 'sum' in sys.argv else tf.reduce_mean(error)
        tower_grads.append(optimizer.compute_gradients(loss * weight))
train_op = optimizer.apply_gradients(
    [(tf.add_n([g for g, _ in pairs]), pairs[0][1]) for pairs in zip(*tower_grads)])

sess = tf.Session(config=tf.ConfigProto(allow_soft_placement=True))
sess.run(tf.global_variables_initializer())
for begin in range(0, 400, batch_size):
    sess.run(train_op, {X: data[begin:begin + batch_size], Y: target[begin:begin + batch_size]})
