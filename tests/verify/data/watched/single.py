"""Two classes, with all that scripts fetch: metrics, counts, predictions, summaries, a schedule; 'norm': batch norm."""
from __future__ import print_function

import sys

import numpy as np
import tensorflow as tf

batch_size = 12
num_steps = 20

random = np.random.RandomState(3)
data = random.normal(size=(700, 6)).astype(np.float32)
classes = (data[:, 0] * data[:, 1] + 0.7 * random.normal(size=700) > 0.3).astype(np.int64)


def next_batch(step, size):
    rows = np.arange(step * size, (step + 1) * size) % 600
    return data[rows], classes[rows]


tf.set_random_seed(5)  # which examples are classified right, and so which values differ, is known
X = tf.placeholder(tf.float32, [None, 6], name='X')
Y = tf.placeholder(tf.int64, [None], name='Y')


def network(x):
    x = tf.layers.dense(x, 8, name='hidden')
    if 'norm' in sys.argv:
        x = tf.layers.batch_normalization(x, training=True, name='norm')
    tf.summary.histogram('hidden', x)
    x = tf.nn.dropout(tf.nn.relu(x), 0.8)
    return tf.layers.dense(x, 2, name='out')


global_step = tf.train.get_or_create_global_step()
rate = tf.train.exponential_decay(0.1, global_step, 1, 0.9, name='rate')
logits = network(X)
loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=Y, logits=logits))
train_op = tf.train.GradientDescentOptimizer(rate).minimize(loss, global_step=global_step)

predictions = tf.argmax(logits, 1)
correct = tf.equal(predictions, Y)
accuracy = tf.reduce_mean(tf.cast(correct, tf.float32), name='accuracy')
num_correct = tf.reduce_sum(tf.cast(correct, tf.int32), name='num_correct')
hits = tf.reduce_sum(predictions * Y)
f1 = 2 * hits / (tf.reduce_sum(predictions) + tf.reduce_sum(Y))
margin = tf.reduce_max(tf.abs(logits[:, 1] - logits[:, 0]))
_, streaming = tf.metrics.accuracy(Y, predictions)
tf.summary.scalar('loss', loss)
tf.summary.scalar('accuracy', accuracy)
summary_op = tf.summary.merge_all()

with tf.Session() as sess:
    sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
    print(accuracy.eval({X: data[600:], Y: classes[600:]}))
    for step in range(num_steps):
        x, y = next_batch(step, batch_size)
        feed = {X: x, Y: y}
        _, value, count, found = sess.run([train_op, loss, num_correct, predictions], feed)
        print(sess.run({'summary': summary_op, 'f1': f1, 'margin': margin}, feed)['f1'])
        print(step, value, count, found, sess.run([accuracy, streaming, rate], feed))
