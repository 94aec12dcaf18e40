"""A reader of examples that have shapes of their own, and a program that trains by it, for tests of both kinds."""

from __future__ import annotations

READER = """\
import numpy as np
import tensorflow as tf


class Reader(object):
    def __init__(self, count):
        self.count, self.place, self.log = count, 0, []

    def forward(self):
        self.place = (self.place + 1) % self.count
        rng = np.random.RandomState(self.place)
        height, width, things = rng.randint(8, 14), rng.randint(8, 14), rng.randint(1, 5)
        return {'image': rng.rand(1, height, width, 3), 'boxes': rng.rand(things, 4)}

"""
DICTS = (
    READER
    + """\

def nearest(guess, boxes):
    return boxes[np.argmin(np.abs(boxes - guess).sum(1))].astype(np.float32)


class Net(object):
    def __init__(self):
        self.losses, self.results, self.shown = {}, {}, []

    def build(self):
        self.image = tf.placeholder(tf.float32, [1, None, None, 3])
        self.boxes = tf.placeholder(tf.float32, [None, 4])
        hidden = tf.layers.conv2d(self.image, 8, 3, name='conv')
        guess = tf.layers.dense(tf.reduce_mean(hidden, [1, 2]), 4, name='guess')
        target = tf.py_func(nearest, [guess, self.boxes], tf.float32)
        self.results['guess'] = guess
        self.results['target'] = tf.reshape(target, [4])
        self.losses['near'] = tf.reduce_mean(tf.square(guess[0] - self.results['target']))
        self.losses['size'] = tf.reduce_mean(tf.square(hidden))
        self.losses['total'] = self.losses['near'] + 0.1 * self.losses['size']
        layers = {'hidden': hidden}
        layers.update(self.losses)
        layers.update(self.results)
        return layers

    def train_step(self, sess, blobs, train_op):
        feed_dict = {self.image: blobs['image'], self.boxes: blobs['boxes']}
        near, size, total, _ = sess.run(
            [self.losses['near'], self.losses['size'], self.losses['total'], train_op], feed_dict=feed_dict
        )
        return near, size, total

    def evaluate(self, sess, blobs):
        feed_dict = {self.image: blobs['image'], self.boxes: blobs['boxes']}
        return sess.run(self.losses['total'], feed_dict=feed_dict)


class Solver(object):
    def __init__(self, net):
        self.net, self.reader, self.held = net, Reader(20), Reader(5)

    def train(self, sess, steps):
        layers = self.net.build()
        optimizer = tf.train.MomentumOptimizer(0.01, 0.9)
        train_op = optimizer.apply_gradients(optimizer.compute_gradients(layers['total']))
        sess.run(tf.global_variables_initializer())
        step = 1
        while step < steps + 1:
            blobs = self.reader.forward()
            near, size, total = self.net.train_step(sess, blobs, train_op)
            if step % 2 == 0:
                print('step %d of %d: %.5f %.5f %.5f' % (step, steps, near, size, total))
                held = self.held.forward()
                print('held out: %.5f' % self.net.evaluate(sess, held))
            step += 1


with tf.Session() as sess:
    Solver(Net()).train(sess, 6)
"""
)
