"""Pulls its batches from a dataset, to its end."""
import argparse

import numpy as np
import tensorflow as tf

parser = argparse.ArgumentParser()
parser.add_argument('--penalty', type=float, default=0.0)
args = parser.parse_args()
rng = np.random.RandomState(4)
rows = rng.rand(205, 5).astype(np.float32)
labels = (rows[:, 0] > 0.5).astype(np.int64)
test_rows = rng.rand(30, 5).astype(np.float32)
test_labels = (test_rows[:, 0] > 0.5).astype(np.int64)
batch_size = 10
dataset = tf.data.Dataset.from_tensor_slices((rows, labels)).shuffle(100, seed=3).repeat(2)
dataset = dataset.batch(batch_size).prefetch(2)
x, y = tf.data.make_one_shot_iterator(dataset).get_next()


def logits_of(inputs):
    with tf.variable_scope('net', reuse=tf.AUTO_REUSE):
        return tf.layers.dense(tf.layers.dense(inputs, 8, tf.nn.tanh, name='one'), 2, name='two')


loss = tf.losses.sparse_softmax_cross_entropy(y, logits_of(x))
if args.penalty > 0:
    loss = loss + args.penalty * tf.add_n([tf.nn.l2_loss(v) for v in tf.trainable_variables()])
tests = tf.reduce_mean(tf.cast(tf.equal(tf.argmax(logits_of(test_rows), 1), test_labels), tf.float32))
global_step = tf.train.get_or_create_global_step()
rate = tf.train.piecewise_constant(global_step, [12, 18], [0.1, 0.05, 0.01])
train_op = tf.train.AdamOptimizer(rate).minimize(loss, global_step=global_step)
saver = tf.train.Saver()

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    number = 0
    try:
        while True:
            value, _ = sess.run([loss, train_op])
            number += 1
            if number % 2 == 0:
                print('step', number, 'loss', value)
            if number % 6 == 0:
                saver.save(sess, './pulled', global_step=number)
            if number % 4 == 0:
                score = sess.run(tests)
                print('tested', score)
                if score > 0.99:
                    break
    except tf.errors.OutOfRangeError:
        print('done after', number)
