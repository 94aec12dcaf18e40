"""A generative adversarial net of dense layers."""
import argparse

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()

parser = argparse.ArgumentParser()
parser.add_argument('--batch_size', type=int, default=32)
parser.add_argument('--steps', type=int, default=30)
args = parser.parse_args()


def dense(name, x, n):
    weights = tf.get_variable(name + '_w', [int(x.shape[-1]), n])
    return tf.matmul(x, weights) + tf.get_variable(name + '_b', [n], initializer=tf.zeros_initializer())


def generator(z):
    with tf.variable_scope('generator', reuse=tf.AUTO_REUSE):
        return tf.nn.sigmoid(dense('out', tf.nn.relu(dense('hidden', z, 256)), 784))


def discriminator(x):
    with tf.variable_scope('discriminator', reuse=tf.AUTO_REUSE):
        return dense('out', tf.nn.relu(dense('hidden', x, 256)), 1)


def cross_entropy(logits, real):
    labels = tf.ones_like(logits) if real else tf.zeros_like(logits)
    return tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(logits=logits, labels=labels))


images = tf.placeholder(tf.float32, [None, 784])
noise = tf.placeholder(tf.float32, [None, 64])
fake = generator(noise)
real_scores, fake_scores = discriminator(images), discriminator(fake)
d_loss = cross_entropy(real_scores, True) + cross_entropy(fake_scores, False)
g_loss = cross_entropy(fake_scores, True)
d_vars = [v for v in tf.trainable_variables() if v.name.startswith('discriminator')]
g_vars = [v for v in tf.trainable_variables() if v.name.startswith('generator')]
d_step = tf.train.AdamOptimizer(0.0002, beta1=0.5).minimize(d_loss, var_list=d_vars)
g_step = tf.train.AdamOptimizer(0.0002, beta1=0.5).minimize(g_loss, var_list=g_vars)

rng = np.random.RandomState(1)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(args.steps):
        drawn = rng.randn(args.batch_size, 64).astype('float32')
        feed = {images: rng.rand(args.batch_size, 784).astype('float32'), noise: drawn}
        sess.run([d_step, d_loss], feed_dict=feed)
        sess.run([g_step, g_loss], feed_dict={noise: drawn})
