"""Estimators that take no strategy."""

from __future__ import annotations

from converter.rule import Rule

RULES = (
    Rule(
        code="TMG282",
        title="this Estimator accepts no distribution strategy, or parts of it are not in the file",
        why="Of the canned estimators the linear ones cut their variables in parts, which a strategy cannot mirror "
        "(TensorFlow 1.15 raises an error), and those of tf.contrib.learn accept no strategy. An Estimator whose "
        "model function, configuration or arguments are not in the file could do what fails under a strategy. Use an "
        "Estimator with a model function of your own, and write its arguments out.",
        before="""\
import tensorflow as tf


def parse(record):
    found = tf.parse_single_example(record, {'image': tf.FixedLenFeature([784], tf.float32),
                                             'label': tf.FixedLenFeature([], tf.int64)})
    return found['image'], found['label']


def input_fn():
    data = tf.data.TFRecordDataset('train.tfrecords').map(parse)
    return data.shuffle(1000).repeat().batch(64)


columns = [tf.feature_column.numeric_column('image', [784])]
estimator = tf.estimator.LinearClassifier(columns, 'model', n_classes=10)
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
