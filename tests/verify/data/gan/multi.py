"""Two networks with an optimizer each, trained in turn; the scripts feeds noise."""
import numpy as np
import tensorflow as tf

# tf-multigpu: helpers for training on several GPUs
num_gpus = 2
# tf-multigpu: end of helpers

batch_size = 10 * num_gpus
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
d_tower, g_tower, d_losses, g_losses = [], [], [], []
for gpu in range(num_gpus):
    with tf.device('/gpu:%d' % gpu), tf.name_scope('tower_%d' % gpu):
        total = tf.shape(Z)[0]
        begin, end = total * gpu // num_gpus, total * (gpu + 1) // num_gpus
        weight = tf.cast(end - begin, tf.float32) / tf.cast(total, tf.float32)
        first = tf.minimum(begin, total - 1)
        last = first + tf.maximum(end - begin, 1)
        fake = generator(Z[first:last])
        fake_logits = discriminator(fake)
        d_loss = cross_entropy(discriminator(X[first:last]), 1.0) + cross_entropy(fake_logits, 0.0)
        g_loss = cross_entropy(fake_logits, 1.0)
        variables = tf.trainable_variables()
        d_variables = [v for v in variables if v.name.startswith('discriminator')]
        g_variables = [v for v in variables if v.name.startswith('generator')]
        d_tower.append(d_optimizer.compute_gradients(d_loss * weight, d_variables))
        g_tower.append(g_optimizer.compute_gradients(g_loss * weight, g_variables))
        d_losses.append(d_loss * weight)
        g_losses.append(g_loss * weight)
d_loss, g_loss = tf.add_n(d_losses), tf.add_n(g_losses)


def averaged(tower_grads):
    return [(tf.add_n([g for g, _ in pairs]), pairs[0][1]) for pairs in zip(*tower_grads)]


d_train = d_optimizer.apply_gradients(averaged(d_tower))
g_train = g_optimizer.apply_gradients(averaged(g_tower))
with tf.control_dependencies([d_train]):
    clip = tf.group(*[tf.assign(v, tf.clip_by_value(v, -0.5, 0.5)) for v in d_variables])

with tf.Session(config=tf.ConfigProto(allow_soft_placement=True)) as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(20):
        x = real_numbers[step * batch_size:(step + 1) * batch_size]
        z = random.uniform(-1, 1, size=(batch_size, 3))
        sess.run([d_train, d_loss], {X: x, Z: z})
        sess.run([g_train, g_loss], {Z: z})
