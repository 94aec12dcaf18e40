"""Residual nets of 50 and 152 layers (arXiv:1512.03385): one training step on images of 224 x 224."""

import argparse

import numpy as np
import tensorflow as tf

parser = argparse.ArgumentParser()
parser.add_argument("--batch_size", type=int, default=1)
parser.add_argument("--layers", type=int, default=50, choices=[50, 152])
args = parser.parse_args()

BLOCKS = {50: (3, 4, 6, 3), 152: (3, 8, 36, 3)}


def convolution(net, filters, size, stride=1, activation=tf.nn.relu):
    net = tf.layers.conv2d(net, filters, size, stride, padding="same", use_bias=False)
    net = tf.layers.batch_normalization(net, training=True)
    return activation(net) if activation is not None else net


def block(net, filters, stride):
    shortcut = net
    if stride > 1 or net.get_shape().as_list()[-1] != 4 * filters:
        shortcut = convolution(net, 4 * filters, 1, stride, activation=None)
    net = convolution(net, filters, 1, stride)
    net = convolution(net, filters, 3)
    net = convolution(net, 4 * filters, 1, activation=None)
    return tf.nn.relu(net + shortcut)


images = tf.placeholder(tf.float32, [None, 224, 224, 3])
labels = tf.placeholder(tf.int64, [None])

net = convolution(images, 64, 7, 2)
net = tf.layers.max_pooling2d(net, 3, 2, padding="same")
for stage, blocks in enumerate(BLOCKS[args.layers]):
    for number in range(blocks):
        net = block(net, 64 * 2**stage, 2 if stage and not number else 1)
logits = tf.layers.dense(tf.reduce_mean(net, [1, 2]), 1000)
loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(logits=logits, labels=labels))
update_ops = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
with tf.control_dependencies(update_ops):
    train_op = tf.train.GradientDescentOptimizer(0.01).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for _ in range(2):
        batch = np.random.rand(args.batch_size, 224, 224, 3)
        sess.run(train_op, {images: batch, labels: np.random.randint(1000, size=args.batch_size)})
