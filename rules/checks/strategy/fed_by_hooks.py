"""Hooks of an Estimator that feed placeholders."""

from __future__ import annotations

from converter.rule import Rule

_SCRIPT = """\
import tensorflow as tf


def parse(record):
    found = tf.parse_single_example(record, {{'image': tf.FixedLenFeature([784], tf.float32),
                                             'label': tf.FixedLenFeature([], tf.int64)}})
    return found['image'], found['label']


def model_fn(features, labels, mode):
    {rate}
    logits = tf.layers.dense(features, 10)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    train_op = tf.train.AdamOptimizer(rate).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def input_fn():
    data = tf.data.TFRecordDataset('train.tfrecords').map(parse)
    return data.shuffle(1000).repeat().batch(64)


estimator = tf.estimator.Estimator(model_fn, 'model')
estimator.train(input_fn, steps=1000{hooks})
"""

RULES = (
    Rule(
        code="TMG291",
        title="a hook feeds placeholders, of which each replica has its own",
        why="A strategy calls the model function once for each GPU, so that each has placeholders of its own: rate and "
        "replica_1/rate. A hook that feeds them by the name, or by the object, of one feeds that replica alone: a "
        "placeholder_with_default keeps its default in the others without a word, any other stops the run "
        "(TensorFlow 1.15.5). Compute the value in the graph, from the global step or from the examples.",
        before=_SCRIPT.format(
            rate="rate = tf.placeholder_with_default(0.001, [], 'rate')",
            hooks=", hooks=[tf.train.FeedFnHook(lambda: {'rate:0': 0.01})]",
        ),
        after=_SCRIPT.format(
            rate="rate = tf.train.exponential_decay(0.01, tf.train.get_global_step(), 100, 0.9)", hooks=""
        ),
        references=("tensorflow/python/training/basic_session_run_hooks.py (FeedFnHook), 1.15",),
    ),
)
