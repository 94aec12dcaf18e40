"""Inception v3 (arXiv:1512.00567) without its auxiliary head: one training step on images of 299 x 299."""

import argparse

import numpy as np
import tensorflow as tf

parser = argparse.ArgumentParser()
parser.add_argument("--batch_size", type=int, default=1)
args = parser.parse_args()


def convolution(net, filters, size, stride=1, padding="same"):
    net = tf.layers.conv2d(net, filters, size, stride, padding=padding, use_bias=False)
    return tf.nn.relu(tf.layers.batch_normalization(net, scale=False, training=True))


def chain(net, *layers):
    for layer in layers:
        net = convolution(net, *layer)
    return net


def pooled(net, filters):
    return convolution(tf.layers.average_pooling2d(net, 3, 1, padding="same"), filters, 1)


def block_35(net, pool):
    branches = [
        chain(net, (64, 1)),
        chain(net, (48, 1), (64, 5)),
        chain(net, (64, 1), (96, 3), (96, 3)),
        pooled(net, pool),
    ]
    return tf.concat(branches, 3)


def reduction_17(net):
    branches = [
        convolution(net, 384, 3, 2, "valid"),
        convolution(chain(net, (64, 1), (96, 3)), 96, 3, 2, "valid"),
        tf.layers.max_pooling2d(net, 3, 2),
    ]
    return tf.concat(branches, 3)


def block_17(net, width):
    branches = [
        chain(net, (192, 1)),
        chain(net, (width, 1), (width, (1, 7)), (192, (7, 1))),
        chain(net, (width, 1), (width, (7, 1)), (width, (1, 7)), (width, (7, 1)), (192, (1, 7))),
        pooled(net, 192),
    ]
    return tf.concat(branches, 3)


def reduction_8(net):
    branches = [
        convolution(chain(net, (192, 1)), 320, 3, 2, "valid"),
        convolution(chain(net, (192, 1), (192, (1, 7)), (192, (7, 1))), 192, 3, 2, "valid"),
        tf.layers.max_pooling2d(net, 3, 2),
    ]
    return tf.concat(branches, 3)


def block_8(net):
    middle = chain(net, (384, 1))
    outer = chain(net, (448, 1), (384, 3))
    branches = [
        chain(net, (320, 1)),
        chain(middle, (384, (1, 3))),
        chain(middle, (384, (3, 1))),
        chain(outer, (384, (1, 3))),
        chain(outer, (384, (3, 1))),
        pooled(net, 192),
    ]
    return tf.concat(branches, 3)


images = tf.placeholder(tf.float32, [None, 299, 299, 3])
labels = tf.placeholder(tf.int64, [None])

net = convolution(images, 32, 3, 2, "valid")
net = convolution(net, 32, 3, 1, "valid")
net = convolution(net, 64, 3)
net = tf.layers.max_pooling2d(net, 3, 2)
net = convolution(net, 80, 1, 1, "valid")
net = convolution(net, 192, 3, 1, "valid")
net = tf.layers.max_pooling2d(net, 3, 2)
for pool in (32, 64, 64):
    net = block_35(net, pool)
net = reduction_17(net)
for width in (128, 160, 160, 192):
    net = block_17(net, width)
net = reduction_8(net)
for _ in range(2):
    net = block_8(net)
logits = tf.layers.dense(tf.reduce_mean(net, [1, 2]), 1000)
loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(logits=logits, labels=labels))
update_ops = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
with tf.control_dependencies(update_ops):
    train_op = tf.train.GradientDescentOptimizer(0.01).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for _ in range(2):
        batch = np.random.rand(args.batch_size, 299, 299, 3)
        sess.run(train_op, {images: batch, labels: np.random.randint(1000, size=args.batch_size)})
