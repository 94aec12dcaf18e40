"""A small convolutional net on images of 28 by 28."""
import argparse

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()

parser = argparse.ArgumentParser()
parser.add_argument('--batch_size', type=int, default=16)
parser.add_argument('--steps', type=int, default=30)
args = parser.parse_args()


def layer(name, x, shape):
    weights = tf.get_variable(name + '_w', shape, initializer=tf.random_normal_initializer(stddev=0.05))
    biases = tf.get_variable(name + '_b', shape[-1:], initializer=tf.zeros_initializer())
    if len(shape) == 4:
        x = tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(x, weights, strides=[1, 1, 1, 1], padding='SAME'), biases))
        return tf.nn.max_pool(x, [1, 2, 2, 1], [1, 2, 2, 1], 'SAME')
    return tf.matmul(x, weights) + biases


images = tf.placeholder(tf.float32, [None, 28, 28, 1])
labels = tf.placeholder(tf.int64, [None])
hidden = layer('conv1', images, [5, 5, 1, 16])
hidden = layer('conv2', hidden, [5, 5, 16, 32])
hidden = layer('conv3', hidden, [3, 3, 32, 32])
hidden = tf.nn.relu(layer('dense1', tf.reshape(hidden, [-1, 4 * 4 * 32]), [4 * 4 * 32, 128]))
logits = layer('dense2', hidden, [128, 10])
loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(logits=logits, labels=labels))
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)
accuracy = tf.reduce_mean(tf.cast(tf.equal(tf.argmax(logits, 1), labels), tf.float32))

rng = np.random.RandomState(1)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(args.steps):
        batch = rng.rand(args.batch_size, 28, 28, 1).astype('float32')
        sess.run(train_op, feed_dict={images: batch, labels: rng.randint(0, 10, args.batch_size)})
    batch = rng.rand(args.batch_size, 28, 28, 1).astype('float32')
    print(sess.run(accuracy, {images: batch, labels: rng.randint(0, 10, args.batch_size)}))
