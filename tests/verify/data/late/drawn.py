"""Draws its batches at random in a function, with a loop of steps."""
import argparse

import numpy as np
import tensorflow as tf

parser = argparse.ArgumentParser()
parser.add_argument('--loss', choices=['square', 'absolute'], default='square')
args = parser.parse_args()


def make():
    rng = np.random.RandomState(2)
    rows = rng.rand(300, 5).astype(np.float32)
    return rows, (rows[:, :1] * 3 - rows[:, 1:2]).astype(np.float32)


def model(x, y):
    out = tf.layers.dense(tf.layers.dense(x, 6, tf.nn.tanh), 1)
    if args.loss == 'absolute':
        return tf.reduce_mean(tf.abs(out - y))
    return tf.reduce_mean(tf.square(out - y))


def main():
    rows, wanted = make()
    order = np.random.RandomState(3)
    batch_size, total = 10, 60
    x = tf.placeholder(tf.float32, [None, 5])
    y = tf.placeholder(tf.float32, [None, 1])
    cost = model(x, y)
    global_step = tf.Variable(0, trainable=False, name='global_step')
    rate = tf.train.piecewise_constant(global_step, [20, 40], [0.1, 0.05, 0.01])
    train = tf.train.MomentumOptimizer(rate, 0.9).minimize(cost, global_step=global_step)
    saver = tf.train.Saver()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for i in range(total):
            index = order.randint(0, 250, batch_size)
            _, got = session.run([train, cost], feed_dict={x: rows[index], y: wanted[index]})
            if i % 2 == 0:
                print('step {}: {:.4f}'.format(i, got))
            if i % 20 == 0:
                saver.save(session, './drawn.ckpt', global_step=i)
            if i % 10 == 0:
                test = session.run(cost, feed_dict={x: rows[250:], y: wanted[250:]})
                print('test {:.4f}'.format(test))
                if test < 0.01:
                    break


main()
