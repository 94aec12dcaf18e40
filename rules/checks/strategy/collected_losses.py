"""Losses that a model function reads from collections."""

from __future__ import annotations

from converter.rule import Rule

RULES = (
    Rule(
        code="TMG283",
        title="the model function sums losses of a collection",
        why="All replicas write into one graph. A collection of losses holds those of the replicas built so far, and a "
        "regularisation loss is added by the first replica only: its gradient does not reach the copies of the "
        "others, so that weight decay counts once in N (seen on TensorFlow 1.15: no error, no message). Compute "
        "the terms in the model function.",
        before="""\
import tensorflow as tf


def parse(record):
    found = tf.parse_single_example(record, {'image': tf.FixedLenFeature([784], tf.float32),
                                             'label': tf.FixedLenFeature([], tf.int64)})
    return found['image'], found['label']


def model_fn(features, labels, mode):
    logits = tf.layers.dense(features, 10, kernel_regularizer=tf.contrib.layers.l2_regularizer(1e-4))
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    loss += tf.losses.get_regularization_loss()
    train_op = tf.train.AdamOptimizer(0.001).minimize(loss, tf.train.get_global_step())
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
    loss += 1e-4 * tf.add_n([tf.nn.l2_loss(v) for v in tf.trainable_variables() if 'kernel' in v.name])
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
