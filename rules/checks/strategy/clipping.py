"""Gradients that are clipped before they are averaged."""

from __future__ import annotations

from converter.rule import Rule

RULES = (
    Rule(
        code="TMG284",
        title="gradients would be clipped on each GPU",
        why="The script clips the gradients of its batch. Under a distribution strategy that code runs on each GPU, "
        "before the gradients are averaged, and a mean of clipped gradients is not the clipped mean (8e-3 apart "
        "after three steps of a small model). Train in a session: towers clip once, after the averaging.",
        before="""\
import tensorflow as tf


def parse(record):
    found = tf.parse_single_example(record, {'image': tf.FixedLenFeature([784], tf.float32),
                                             'label': tf.FixedLenFeature([], tf.int64)})
    return found['image'], found['label']


def model_fn(features, labels, mode):
    logits = tf.layers.dense(features, 10)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    optimizer = tf.train.AdamOptimizer(0.001)
    gradients, variables = zip(*optimizer.compute_gradients(loss))
    gradients, _ = tf.clip_by_global_norm(gradients, 5.0)
    train_op = optimizer.apply_gradients(zip(gradients, variables), tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def input_fn():
    data = tf.data.TFRecordDataset('train.tfrecords').map(parse)
    return data.shuffle(1000).repeat().batch(64)


estimator = tf.estimator.Estimator(model_fn, 'model')
estimator.train(input_fn, steps=1000)
""",
        after="""\
import tensorflow as tf


def parse(record):
    found = tf.parse_single_example(record, {'image': tf.FixedLenFeature([784], tf.float32),
                                             'label': tf.FixedLenFeature([], tf.int64)})
    return found['image'], found['label']


def model_fn(features, labels, mode):
    logits = tf.layers.dense(features, 10)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    train_op = tf.train.AdamOptimizer(0.001).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def input_fn():
    data = tf.data.TFRecordDataset('train.tfrecords').map(parse)
    return data.shuffle(1000).repeat().batch(64)


estimator = tf.estimator.Estimator(model_fn, 'model')
estimator.train(input_fn, steps=1000)
""",
    ),
)
