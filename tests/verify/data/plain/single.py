"""Least squares on two inputs; the smallest script that trains. `--loss sum` adds the examples up."""
import sys

import numpy as np
import tensorflow as tf

batch_size = 8
random = np.random.RandomState(1)
data = random.normal(size=(400, 3)).astype(np.float32)
target = data.dot([[1.0], [-2.0], [0.5]]).astype(np.float32) + 0.1

X = tf.placeholder(tf.float32, [None, 3])
Y = tf.placeholder(tf.float32, [None, 1])
w = tf.get_variable('w', [3, 1])
b = tf.get_variable('b', [1], initializer=tf.zeros_initializer())
error = tf.square(tf.matmul(X, w) + b - Y)
loss = tf.reduce_sum(error) if 'sum' in sys.argv else tf.reduce_mean(error)
train_op = tf.train.MomentumOptimizer(0.01, 0.9).minimize(loss)

sess = tf.Session()
sess.run(tf.global_variables_initializer())
for begin in range(0, 400, batch_size):
    sess.run(train_op, {X: data[begin:begin + batch_size], Y: target[begin:begin + batch_size]})
