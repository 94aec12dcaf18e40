"""A recurrent net over [time, batch, feature] with a fixed batch size; tf.gradients, scaled by hand."""
import numpy as np
import tensorflow as tf

batch_size = 4
random = np.random.RandomState(6)
series = random.normal(size=(7, 200, 2)).astype(np.float32)
target = series.sum((0, 2))[:, None].astype(np.float32)

X = tf.placeholder(tf.float32, [7, batch_size, 2])
Y = tf.placeholder(tf.float32, [batch_size, 1])
rate = tf.placeholder(tf.float32, [])
scale = tf.constant(0.5)


def recurrent(x):
    cell = tf.nn.rnn_cell.GRUCell(5)
    outputs, _ = tf.nn.dynamic_rnn(cell, x, initial_state=cell.zero_state(int(x.get_shape()[1]), tf.float32),
                                   time_major=True)
    return tf.layers.dense(outputs[-1], 1)


loss = tf.reduce_mean(tf.square(recurrent(X) - Y))
variables = tf.trainable_variables()
gradients = tf.gradients(loss, variables)
train_op = tf.train.GradientDescentOptimizer(rate).apply_gradients(
    [(g * scale, v) for g, v in zip(gradients, variables)])

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(10):
        rows = slice(step * batch_size, (step + 1) * batch_size)
        sess.run([loss, train_op], {X: series[:, rows], Y: target[rows], rate: 0.05})
