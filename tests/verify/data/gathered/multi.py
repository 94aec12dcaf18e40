"""Gradients of two batches are added up by an operation that nothing is fetched from, then applied."""
import numpy as np
import tensorflow as tf

num_gpus = 2
batch_size = 8 * num_gpus
random = np.random.RandomState(3)

x = tf.placeholder(tf.float32, [None, 3])
y = tf.placeholder(tf.float32, [None, 2])
optimizer = tf.train.MomentumOptimizer(0.1, 0.9)
total, tower_grads = tf.shape(x)[0], []
for gpu in range(num_gpus):
    with tf.device('/gpu:%d' % gpu), tf.name_scope('tower_%d' % gpu), tf.variable_scope('model', reuse=gpu > 0):
        begin, end = total * gpu // num_gpus, total * (gpu + 1) // num_gpus
        weight = tf.cast(end - begin, tf.float32) / tf.cast(total, tf.float32)
        hidden = tf.layers.dense(x[begin:end], 5, activation=tf.nn.tanh)
        loss = tf.reduce_mean(tf.square(tf.layers.dense(hidden, 2) - y[begin:end]))
        tower_grads.append(optimizer.compute_gradients(loss * weight))

grads_and_vars = [(tf.add_n([g for g, _ in pairs]), pairs[0][1]) for pairs in zip(*tower_grads)]
sums = [tf.Variable(np.zeros(v.get_shape().as_list(), np.float32), trainable=False) for _, v in grads_and_vars]
reset = tf.group(*[s.assign(tf.zeros_like(s)) for s in sums])
gather = tf.group(*[s.assign_add(g) for s, (g, _) in zip(sums, grads_and_vars)])
train_op = optimizer.apply_gradients([(s / 2.0, v) for s, (_, v) in zip(sums, grads_and_vars)])

with tf.Session(config=tf.ConfigProto(allow_soft_placement=True)) as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(5):
        sess.run(reset)
        for _ in range(2):
            inputs = random.normal(size=(batch_size, 3))
            sess.run(gather, {x: inputs, y: inputs[:, :2] ** 2})
        sess.run(train_op)
