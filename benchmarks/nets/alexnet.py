"""AlexNet (the single column of arXiv:1404.5997): one training step on images of 224 x 224."""

import argparse

import numpy as np
import tensorflow as tf

parser = argparse.ArgumentParser()
parser.add_argument("--batch_size", type=int, default=1)
args = parser.parse_args()

images = tf.placeholder(tf.float32, [None, 227, 227, 3])
labels = tf.placeholder(tf.int64, [None])

net = tf.layers.conv2d(images, 64, 11, 4, activation=tf.nn.relu)
net = tf.layers.max_pooling2d(net, 3, 2)
net = tf.layers.conv2d(net, 192, 5, padding="same", activation=tf.nn.relu)
net = tf.layers.max_pooling2d(net, 3, 2)
net = tf.layers.conv2d(net, 384, 3, padding="same", activation=tf.nn.relu)
net = tf.layers.conv2d(net, 384, 3, padding="same", activation=tf.nn.relu)
net = tf.layers.conv2d(net, 256, 3, padding="same", activation=tf.nn.relu)
net = tf.layers.max_pooling2d(net, 3, 2)
net = tf.reshape(net, [-1, 6 * 6 * 256])
net = tf.layers.dense(net, 4096, activation=tf.nn.relu)
net = tf.layers.dense(net, 4096, activation=tf.nn.relu)
logits = tf.layers.dense(net, 1000)
loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(logits=logits, labels=labels))
train_op = tf.train.GradientDescentOptimizer(0.01).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for _ in range(2):
        batch = np.random.rand(args.batch_size, 227, 227, 3)
        sess.run(train_op, {images: batch, labels: np.random.randint(1000, size=args.batch_size)})
