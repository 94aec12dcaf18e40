"""Feeds arrays; stops early, saves, tests and prints now and then."""
import argparse

import numpy as np
import tensorflow as tf

parser = argparse.ArgumentParser()
parser.add_argument('--decay', choices=['none', 'weights'], default='none')
args = parser.parse_args()
rng = np.random.RandomState(1)
data = rng.rand(400, 6).astype(np.float32)
target = (data.sum(axis=1, keepdims=True) * 2).astype(np.float32)
held = rng.rand(40, 6).astype(np.float32)
held_target = (held.sum(axis=1, keepdims=True) * 2).astype(np.float32)
batch_size, epochs = 10, 4

X = tf.placeholder(tf.float32, [None, 6])
Y = tf.placeholder(tf.float32, [None, 1])
hidden = tf.layers.dense(X, 8, tf.nn.tanh)
out = tf.layers.dense(hidden, 1)
loss = tf.reduce_mean(tf.square(out - Y))
if args.decay == 'weights':
    loss += 0.01 * tf.add_n([tf.nn.l2_loss(v) for v in tf.trainable_variables()])
step = tf.train.get_or_create_global_step()
rate = tf.train.piecewise_constant(step, [30, 50], [0.05, 0.02, 0.01])
train_op = tf.train.GradientDescentOptimizer(rate).minimize(loss, global_step=step)
saver = tf.train.Saver(max_to_keep=50)
best, worse = 1e9, 0

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    number = 0
    for epoch in range(epochs):
        for begin in range(0, 400, batch_size):
            _, value = sess.run([train_op, loss], {X: data[begin:begin + batch_size], Y: target[begin:begin + batch_size]})
            number += 1
            if number % 2 == 0:
                print('step %d' % number, 'loss %.4f' % value)
            if number % 10 == 0:
                saver.save(sess, './model', global_step=number)
            if number % 5 == 0:
                tested = sess.run(loss, {X: held, Y: held_target})
                print('tested %.4f' % tested)
        score = sess.run(loss, {X: held, Y: held_target})
        if score < best:
            best, worse = score, 0
        else:
            worse += 1
        if score < 0.3:
            break
    print('best %.4f' % best)
