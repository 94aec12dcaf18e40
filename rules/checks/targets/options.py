"""Options that have no effect for the target that a script is converted for."""

from __future__ import annotations

from converter.rule import Rule

RULES = (
    Rule(
        code="TMG287",
        title="this option has no effect for the target of the conversion",
        why="An option without effect is refused on a command line, so that nobody relies on it. Under a distribution "
        "strategy the strategy and the script decide where variables live, how the learning rate grows, how much "
        "memory a GPU gives and which inputs are shared; helpers are written for towers. Leave the option out. In "
        "pyproject.toml it holds for those files alone on which it has an effect; the decisions of the others name it.",
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
        options=("--variables", "gpu:0",),
    ),
)
