"""Two networks with an optimizer each, trained in turn; the scripts feeds noise."""
import numpy as np
import tensorflow as tf

batch_size = 10
random = np.random.RandomState(2)
real_numbers = random.normal(3, 0.5, size=(400, 2)).astype(np.float32)

Z = tf.placeholder(tf.float32, [None, 3], name='noise')
X = tf.placeholder(tf.float32, [None, 2], name='real')


def generator(z):
    with tf.variable_scope('generator', reuse=tf.AUTO_REUSE):
        return tf.layers.dense(tf.layers.dense(z, 8, tf.nn.relu, name='a'), 2, name='b')


def discriminator(x):
    with tf.variable_scope('discriminator', reuse=tf.AUTO_REUSE):
        return tf.layers.dense(tf.layers.dense(x, 8, tf.nn.relu, name='a'), 1, name='b')


def cross_entropy(logits, target):
    return tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(
        logits=logits, labels=tf.ones_like(logits) * target))


d_optimizer, g_optimizer = tf.train.AdamOptimizer(0.001), tf.train.AdamOptimizer(0.002)
fake = generator(Z)
fake_logits = discriminator(fake)
d_loss = cross_entropy(discriminator(X), 1.0) + cross_entropy(fake_logits, 0.0)
g_loss = cross_entropy(fake_logits, 1.0)
variables = tf.trainable_variables()
d_variables = [v for v in variables if v.name.startswith('discriminator')]
g_variables = [v for v in variables if v.name.startswith('generator')]
d_train = d_optimizer.minimize(d_loss, var_list=d_variables)
g_train = g_optimizer.minimize(g_loss, var_list=g_variables)
with tf.control_dependencies([d_train]):
    clip = tf.group(*[tf.assign(v, tf.clip_by_value(v, -0.5, 0.5)) for v in d_variables])

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(20):
        x = real_numbers[step * batch_size:(step + 1) * batch_size]
        z = random.uniform(-1, 1, size=(batch_size, 3))
        sess.run([d_train, d_loss], {X: x, Z: z})
        sess.run([g_train, g_loss], {Z: z})
