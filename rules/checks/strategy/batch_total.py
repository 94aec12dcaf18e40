"""Batches that the GPUs cannot share."""

from __future__ import annotations

from converter.rule import Rule

RULES = (
    Rule(
        code="TMG288",
        title="the GPUs' parts of the batch make another loss",
        why="With --batch total each GPU takes its share of the script's batch. That needs a batch size that is seen, "
        "that the number of GPUs divides, and that the model itself does not use; and a loss that is a mean over the "
        "examples: the mean of sums, ratios or roots over parts of the batch is not the one over all of it. Choose "
        "such a batch size and loss, or --batch per-gpu. Of a Keras loss that a function sums up, TensorFlow 1.15 "
        "takes the mean of the GPUs' sums and 2.21 their sum: it is refused in both modes. Where a loss of TensorFlow "
        "is told to add up the examples (reduction='sum', tf.losses.Reduction.SUM, canned estimators by default) the "
        "strategy adds up the GPUs' sums, which is the script's loss with --batch total alone. In a model function the "
        "loss of TensorFlow that is called last decides that for the whole gradient.",
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
