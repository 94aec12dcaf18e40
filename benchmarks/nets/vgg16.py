"""VGG-16 (configuration D of arXiv:1409.1556): one training step on images of 224 x 224."""

import argparse

import numpy as np
import tensorflow as tf

parser = argparse.ArgumentParser()
parser.add_argument("--batch_size", type=int, default=1)
args = parser.parse_args()

images = tf.placeholder(tf.float32, [None, 224, 224, 3])
labels = tf.placeholder(tf.int64, [None])

net = images
for filters, layers in ((64, 2), (128, 2), (256, 3), (512, 3), (512, 3)):
    for _ in range(layers):
        net = tf.layers.conv2d(net, filters, 3, padding="same", activation=tf.nn.relu)
    net = tf.layers.max_pooling2d(net, 2, 2)
net = tf.reshape(net, [-1, 7 * 7 * 512])
net = tf.layers.dense(net, 4096, activation=tf.nn.relu)
net = tf.layers.dense(net, 4096, activation=tf.nn.relu)
logits = tf.layers.dense(net, 1000)
loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(logits=logits, labels=labels))
train_op = tf.train.GradientDescentOptimizer(0.01).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for _ in range(2):
        batch = np.random.rand(args.batch_size, 224, 224, 3)
        sess.run(train_op, {images: batch, labels: np.random.randint(1000, size=args.batch_size)})
