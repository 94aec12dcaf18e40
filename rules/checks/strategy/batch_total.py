"""Batches that the GPUs cannot share."""

from __future__ import annotations

from converter.rule import Rule

RULES = (
    Rule(
        code="TMG288",
        title="the batch cannot be shared by the GPUs",
        why="With --batch total each GPU takes its share of the script's batch. That needs a batch size that is seen "
        "and that the number of GPUs divides, and a loss that is a mean over the examples: the mean of sums over "
        "parts of the batch is not the sum over all of it. Choose such a batch size, or --batch per-gpu.",
        before="""\
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
    return data.shuffle(1000).repeat().batch(65)


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
        options=("--batch", "total",),
    ),
)
