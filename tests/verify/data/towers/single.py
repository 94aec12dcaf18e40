"""A bag of words and some numbers to one of three classes: embedding, batch norm, dropout, clipping."""
from __future__ import print_function

import numpy as np
import tensorflow as tf

batch_size = 12
num_steps = 20

random = np.random.RandomState(0)
words = random.randint(40, size=(600, 5)).astype(np.int32)
numbers = random.normal(size=(600, 4)).astype(np.float32)
classes = ((words.sum(1) + (numbers.sum(1) > 0)) % 3).astype(np.int64)


def next_batch(step, size):
    rows = np.arange(step * size, (step + 1) * size) % len(words)
    return words[rows], numbers[rows], classes[rows]


W = tf.placeholder(tf.int32, [None, 5], name='words')
X = tf.placeholder(tf.float32, [None, 4], name='numbers')
Y = tf.placeholder(tf.int64, [None], name='classes')
keep_prob = tf.placeholder(tf.float32, name='keep_prob')


def network(words, numbers):
    table = tf.get_variable('table', [40, 6], initializer=tf.random_normal_initializer(stddev=0.5))
    bag = tf.reduce_mean(tf.nn.embedding_lookup(table, words), 1)
    x = tf.concat([bag, numbers], 1)
    x = tf.layers.dense(x, 16, name='hidden')
    x = tf.layers.batch_normalization(x, training=True, momentum=0.9, name='norm')
    x = tf.nn.dropout(tf.nn.relu(x), keep_prob)
    return tf.layers.dense(x, 3, name='out')


global_step = tf.train.get_or_create_global_step()
optimizer = tf.train.AdamOptimizer(0.01)
logits = network(W, X)
loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=Y, logits=logits))
grads_and_vars = optimizer.compute_gradients(loss)
clipped, _ = tf.clip_by_global_norm([g for g, _ in grads_and_vars], 0.2)
with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
    train_op = optimizer.apply_gradients(zip(clipped, [v for _, v in grads_and_vars]), global_step=global_step)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(num_steps):
        w, x, y = next_batch(step, batch_size)
        _, value = sess.run([train_op, loss], feed_dict={W: w, X: x, Y: y, keep_prob: 0.8})
        print(step, value)
