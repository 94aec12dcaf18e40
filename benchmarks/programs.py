"""Programs of the kinds that people train, with the classes, scopes and loops that such programs have.

Each function gives the text of a script that trains.
"""

from __future__ import annotations

_RUN = """
flags = tf.app.flags
flags.DEFINE_integer('batch_size', 8, 'examples of a step')
flags.DEFINE_integer('epochs', 10, 'passes over the data')
flags.DEFINE_float('learning_rate', 0.001, 'learning rate')
FLAGS = flags.FLAGS
"""


def classes(blocks: int) -> str:
    """A classifier of residual blocks, each an object of a class that holds objects of layers' classes."""
    return f'''\
import numpy as np
import tensorflow as tf
{_RUN}

class Layer(object):
    def __init__(self, name):
        self.name = name
        self.built = []

    def __call__(self, x):
        with tf.variable_scope(self.name):
            y = self.call(x)
        self.built.append(y)
        return y


class Conv(Layer):
    def __init__(self, name, filters, size=3, stride=1):
        super(Conv, self).__init__(name)
        self.filters, self.size, self.stride = filters, size, stride

    def call(self, x):
        channels = x.get_shape().as_list()[-1]
        kernel = tf.get_variable('kernel', [self.size, self.size, channels, self.filters],
                                 initializer=tf.truncated_normal_initializer(stddev=0.02))
        bias = tf.get_variable('bias', [self.filters], initializer=tf.zeros_initializer())
        y = tf.nn.conv2d(x, kernel, strides=[1, self.stride, self.stride, 1], padding='SAME')
        return tf.nn.bias_add(y, bias)


class Norm(Layer):
    def __init__(self, name, training):
        super(Norm, self).__init__(name)
        self.training = training

    def call(self, x):
        return tf.layers.batch_normalization(x, training=self.training)


class Block(Layer):
    def __init__(self, name, filters, stride, training):
        super(Block, self).__init__(name)
        self.filters, self.stride = filters, stride
        self.layers = [Conv('conv1', filters, 3, stride), Norm('norm1', training),
                       Conv('conv2', filters), Norm('norm2', training)]
        self.shortcut = Conv('shortcut', filters, 1, stride)

    def call(self, x):
        y = x
        for place, layer in enumerate(self.layers):
            y = layer(y)
            if place % 2 == 1 and place < len(self.layers) - 1:
                y = tf.nn.relu(y)
        if self.stride != 1 or x.get_shape().as_list()[-1] != self.filters:
            x = self.shortcut(x)
        return tf.nn.relu(x + y)


class Net(object):
    def __init__(self, images, labels, training=True):
        self.images, self.labels, self.training = images, labels, training
        self.blocks = []
        self.ends = {{}}
        self.build()

    def build(self):
        h = Conv('first', 16)(self.images)
        for n in range({blocks}):
            filters = 16 * 2 ** min(3, 4 * n // {blocks})
            stride = 2 if n > 0 and 4 * n % {blocks} == 0 else 1
            block = Block('block_%d' % n, filters, stride, self.training)
            self.blocks.append(block)
            h = block(h)
            self.ends[block.name] = h
        h = tf.reduce_mean(h, [1, 2])
        self.logits = tf.layers.dense(h, 10)
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=self.labels, logits=self.logits)
        self.loss = tf.reduce_mean(losses)
        hits = tf.equal(tf.argmax(self.logits, 1), self.labels)
        self.accuracy = tf.reduce_mean(tf.cast(hits, tf.float32))


def main(_):
    images = tf.placeholder(tf.float32, [None, 32, 32, 3])
    labels = tf.placeholder(tf.int64, [None])
    net = Net(images, labels)
    optimizer = tf.train.MomentumOptimizer(FLAGS.learning_rate, 0.9)
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        train_op = optimizer.minimize(net.loss)
    data, target = np.load('images.npy'), np.load('labels.npy')
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for epoch in range(FLAGS.epochs):
            for i in range(len(data) // FLAGS.batch_size):
                begin, end = i * FLAGS.batch_size, (i + 1) * FLAGS.batch_size
                feed = {{images: data[begin:end], labels: target[begin:end]}}
                _, loss, accuracy = sess.run([train_op, net.loss, net.accuracy], feed)
                print(epoch, i, loss, accuracy)


if __name__ == '__main__':
    tf.app.run()
'''


def two_gans(blocks: int) -> str:
    """Two generators of so many residual blocks and two discriminators, which turn images into each other."""
    return f'''\
import numpy as np
import tensorflow as tf
{_RUN}

def instance_norm(x, name):
    with tf.variable_scope(name):
        depth = x.get_shape()[3]
        scale = tf.get_variable('scale', [depth], initializer=tf.random_normal_initializer(1.0, 0.02))
        offset = tf.get_variable('offset', [depth], initializer=tf.constant_initializer(0.0))
        mean, variance = tf.nn.moments(x, axes=[1, 2], keep_dims=True)
        return scale * (x - mean) * tf.rsqrt(variance + 1e-5) + offset


def conv(x, filters, size, stride, padding='SAME', name='conv'):
    with tf.variable_scope(name):
        return tf.layers.conv2d(x, filters, size, strides=stride, padding=padding, use_bias=False)


def deconv(x, filters, size, stride, name='deconv'):
    with tf.variable_scope(name):
        return tf.layers.conv2d_transpose(x, filters, size, strides=stride, padding='SAME', use_bias=False)


def leaky(x, slope=0.2):
    return tf.maximum(x, slope * x)


def residual(x, filters, name):
    edge = 1
    y = tf.pad(x, [[0, 0], [edge, edge], [edge, edge], [0, 0]], 'REFLECT')
    y = tf.nn.relu(instance_norm(conv(y, filters, 3, 1, 'VALID', name + '_c1'), name + '_n1'))
    y = tf.pad(y, [[0, 0], [edge, edge], [edge, edge], [0, 0]], 'REFLECT')
    y = instance_norm(conv(y, filters, 3, 1, 'VALID', name + '_c2'), name + '_n2')
    return x + y


def generator(image, reuse=False, name='generator'):
    with tf.variable_scope(name):
        if reuse:
            tf.get_variable_scope().reuse_variables()
        c0 = tf.pad(image, [[0, 0], [3, 3], [3, 3], [0, 0]], 'REFLECT')
        c1 = tf.nn.relu(instance_norm(conv(c0, 32, 7, 1, 'VALID', 'c1'), 'n1'))
        c2 = tf.nn.relu(instance_norm(conv(c1, 64, 3, 2, name='c2'), 'n2'))
        h = tf.nn.relu(instance_norm(conv(c2, 128, 3, 2, name='c3'), 'n3'))
        for n in range({blocks}):
            h = residual(h, 128, 'r%d' % n)
        d1 = tf.nn.relu(instance_norm(deconv(h, 64, 3, 2, 'd1'), 'm1'))
        d2 = tf.nn.relu(instance_norm(deconv(d1, 32, 3, 2, 'd2'), 'm2'))
        d3 = tf.pad(d2, [[0, 0], [3, 3], [3, 3], [0, 0]], 'REFLECT')
        return tf.nn.tanh(conv(d3, 3, 7, 1, 'VALID', 'd3'))


def discriminator(image, reuse=False, name='discriminator'):
    with tf.variable_scope(name):
        if reuse:
            tf.get_variable_scope().reuse_variables()
        h = leaky(conv(image, 64, 4, 2, name='h0'))
        for n in range(1, {blocks}):
            h = leaky(instance_norm(conv(h, min(512, 64 * 2 ** n), 4, 2 if n < 3 else 1, name='h%d' % n), 'b%d' % n))
        return conv(h, 1, 4, 1, name='out')


class Cycle(object):
    def __init__(self, sess):
        self.sess = sess
        self.build()

    def build(self):
        self.real = tf.placeholder(tf.float32, [None, 256, 256, 6], name='real')
        self.real_a, self.real_b = self.real[:, :, :, :3], self.real[:, :, :, 3:6]
        self.fake_b = generator(self.real_a, False, 'a_to_b')
        self.again_a = generator(self.fake_b, False, 'b_to_a')
        self.fake_a = generator(self.real_b, True, 'b_to_a')
        self.again_b = generator(self.fake_a, True, 'a_to_b')
        judged_b = discriminator(self.fake_b, False, 'of_b')
        judged_a = discriminator(self.fake_a, False, 'of_a')
        cycle = tf.reduce_mean(tf.abs(self.real_a - self.again_a)) + tf.reduce_mean(tf.abs(self.real_b - self.again_b))
        self.g_loss = tf.reduce_mean((judged_b - 1) ** 2) + tf.reduce_mean((judged_a - 1) ** 2) + 10.0 * cycle
        true_a, true_b = discriminator(self.real_a, True, 'of_a'), discriminator(self.real_b, True, 'of_b')
        self.a_loss = (tf.reduce_mean((true_a - 1) ** 2) + tf.reduce_mean(judged_a ** 2)) / 2
        self.b_loss = (tf.reduce_mean((true_b - 1) ** 2) + tf.reduce_mean(judged_b ** 2)) / 2
        self.d_loss = self.a_loss + self.b_loss
        tf.summary.scalar('g_loss', self.g_loss)
        tf.summary.scalar('d_loss', self.d_loss)
        variables = tf.trainable_variables()
        self.d_vars = [v for v in variables if 'of_' in v.name]
        self.g_vars = [v for v in variables if '_to_' in v.name]
        for variable in variables:
            print(variable.name)

    def train(self):
        rate = tf.placeholder(tf.float32, None, name='rate')
        d_op = tf.train.AdamOptimizer(rate, beta1=0.5).minimize(self.d_loss, var_list=self.d_vars)
        g_op = tf.train.AdamOptimizer(rate, beta1=0.5).minimize(self.g_loss, var_list=self.g_vars)
        self.sess.run(tf.global_variables_initializer())
        pairs = np.load('pairs.npy')
        for epoch in range(FLAGS.epochs):
            np.random.shuffle(pairs)
            for i in range(len(pairs) // FLAGS.batch_size):
                batch = pairs[i * FLAGS.batch_size:(i + 1) * FLAGS.batch_size]
                feed = {{self.real: batch, rate: FLAGS.learning_rate}}
                _, g_loss = self.sess.run([g_op, self.g_loss], feed)
                _, d_loss = self.sess.run([d_op, self.d_loss], feed)
                print(epoch, i, g_loss, d_loss)


def main(_):
    with tf.Session() as sess:
        Cycle(sess).train()


if __name__ == '__main__':
    tf.app.run()
'''


def hourglass(stacks: int) -> str:
    """A net for poses: hourglasses behind each other, each with all scales."""
    return f'''\
import numpy as np
import tensorflow as tf
{_RUN}
POINTS = 16


class Hourglass(object):
    def __init__(self, stacks, depth=4, features=256):
        self.stacks, self.depth, self.features = stacks, depth, features
        self.outputs = []

    def conv_bn_relu(self, x, filters, size=1, stride=1, name='conv'):
        with tf.name_scope(name):
            kernel = tf.Variable(tf.truncated_normal([size, size, x.get_shape().as_list()[3], filters], stddev=0.02))
            y = tf.nn.conv2d(x, kernel, [1, stride, stride, 1], padding='SAME')
            return tf.contrib.layers.batch_norm(y, 0.9, epsilon=1e-5, activation_fn=tf.nn.relu, is_training=True)

    def plain(self, x, filters, size=1, name='plain'):
        with tf.name_scope(name):
            kernel = tf.Variable(tf.truncated_normal([size, size, x.get_shape().as_list()[3], filters], stddev=0.02))
            return tf.nn.conv2d(x, kernel, [1, 1, 1, 1], padding='SAME')

    def block(self, x, filters, name='block'):
        with tf.name_scope(name):
            with tf.name_scope('norm1'):
                y = tf.contrib.layers.batch_norm(x, 0.9, epsilon=1e-5, activation_fn=tf.nn.relu, is_training=True)
                y = self.conv_bn_relu(y, filters // 2, 1)
            with tf.name_scope('norm2'):
                y = self.conv_bn_relu(y, filters // 2, 3)
            y = self.plain(y, filters, 1)
            if x.get_shape().as_list()[3] == filters:
                return x + y
            return self.plain(x, filters, 1, 'skip') + y

    def scale(self, x, depth, filters, name):
        with tf.name_scope(name):
            sides = []
            for n in range(depth):
                sides.append(self.block(x, filters, 'up_%d' % n))
                x = tf.contrib.layers.max_pool2d(x, [2, 2], [2, 2], padding='VALID')
                x = self.block(x, filters, 'low1_%d' % n)
            x = self.block(x, filters, 'low2')
            for n in reversed(range(depth)):
                x = self.block(x, filters, 'low3_%d' % n)
                x = sides[n] + tf.image.resize_nearest_neighbor(x, tf.shape(x)[1:3] * 2)
            return x

    def __call__(self, images):
        with tf.name_scope('first'):
            x = self.conv_bn_relu(images, 64, 6, 2)
            x = self.block(x, 128)
            x = tf.contrib.layers.max_pool2d(x, [2, 2], [2, 2], padding='VALID')
            x = self.block(x, self.features)
        for n in range(self.stacks):
            with tf.name_scope('stack_%d' % n):
                h = self.scale(x, self.depth, self.features, 'glass')
                h = tf.layers.dropout(h, 0.2, training=True)
                h = self.conv_bn_relu(h, self.features)
                heat = self.plain(h, POINTS, 1, 'heat')
                self.outputs.append(heat)
                if n < self.stacks - 1:
                    x = x + self.plain(h, self.features, 1, 'next') + self.plain(heat, self.features, 1, 'back')
        return tf.stack(self.outputs, axis=1)


def main(_):
    images = tf.placeholder(tf.float32, [None, 256, 256, 3], name='images')
    maps = tf.placeholder(tf.float32, [None, {stacks}, 64, 64, POINTS], name='maps')
    output = Hourglass({stacks})(images)
    losses = tf.nn.sigmoid_cross_entropy_with_logits(logits=output, labels=maps)
    loss = tf.reduce_mean(losses, name='loss')
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        train_op = tf.train.RMSPropOptimizer(FLAGS.learning_rate).minimize(loss)
    accuracies = []
    for point in range(POINTS):
        found = tf.reshape(output[:, -1, :, :, point], [-1, 64 * 64])
        wanted = tf.reshape(maps[:, -1, :, :, point], [-1, 64 * 64])
        hits = tf.cast(tf.equal(tf.argmax(found, 1), tf.argmax(wanted, 1)), tf.float32)
        accuracies.append(tf.reduce_mean(hits))
    data, target = np.load('images.npy'), np.load('maps.npy')
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for epoch in range(FLAGS.epochs):
            for i in range(len(data) // FLAGS.batch_size):
                begin, end = i * FLAGS.batch_size, (i + 1) * FLAGS.batch_size
                feed = {{images: data[begin:end], maps: target[begin:end]}}
                print(epoch, i, sess.run([train_op, loss] + accuracies, feed)[1:])


if __name__ == '__main__':
    tf.app.run()
'''
