"""Variables that the model function assigns to."""

from __future__ import annotations

from converter.rule import Rule

RULES = (
    Rule(
        code="TMG285",
        title="the model function changes a variable itself",
        why="Each GPU has a copy of every variable. An assignment in the model function does not say how the copies "
        "come together again: TensorFlow raises an error when the graph is built, and so does "
        "tf.train.ExponentialMovingAverage.apply. The optimizer and batch normalisation bring rules of their own.",
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
    seen = tf.get_variable('seen', [], initializer=tf.zeros_initializer(), trainable=False)
    train_op = tf.group(train_op, tf.assign_add(seen, 64.0))
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
