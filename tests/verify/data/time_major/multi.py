"""A recurrent net over [time, batch, feature] with a fixed batch size; tf.gradients, scaled by hand."""
import numpy as np
import tensorflow as tf

# tf-multigpu: helpers for training on several GPUs
num_gpus = 2
# tf-multigpu: end of helpers

batch_size = 4
random = np.random.RandomState(6)
series = random.normal(size=(7, 200, 2)).astype(np.float32)
target = series.sum((0, 2))[:, None].astype(np.float32)

X = tf.placeholder(tf.float32, [7, batch_size * num_gpus, 2])
Y = tf.placeholder(tf.float32, [batch_size * num_gpus, 1])
rate = tf.placeholder(tf.float32, [])
scale = tf.constant(0.5)


def recurrent(x):
    cell = tf.nn.rnn_cell.GRUCell(5)
    outputs, _ = tf.nn.dynamic_rnn(cell, x, initial_state=cell.zero_state(int(x.get_shape()[1]), tf.float32),
                                   time_major=True)
    return tf.layers.dense(outputs[-1], 1)


tower_grads, tower_loss = [], []
for gpu in range(num_gpus):
    with tf.device('/gpu:%d' % gpu), tf.name_scope('tower_%d' % gpu), \
            tf.variable_scope(tf.get_variable_scope(), reuse=gpu > 0):
        begin, end = gpu * batch_size, (gpu + 1) * batch_size
        loss = tf.reduce_mean(tf.square(recurrent(X[:, begin:end]) - Y[begin:end]))
        variables = tf.trainable_variables()
        tower_grads.append(tf.gradients(loss, variables))
        tower_loss.append(loss)
loss = tf.add_n(tower_loss) / num_gpus
gradients = [tf.add_n(grads) / num_gpus for grads in zip(*tower_grads)]
train_op = tf.train.GradientDescentOptimizer(rate).apply_gradients(
    [(g * scale, v) for g, v in zip(gradients, variables)])

with tf.Session(config=tf.ConfigProto(allow_soft_placement=True)) as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(10):
        rows = slice(step * batch_size * num_gpus, (step + 1) * batch_size * num_gpus)
        sess.run([loss, train_op], {X: series[:, rows], Y: target[rows], rate: 0.05})
