"""Tables that are cut into slices, of which a strategy makes whole variables."""

from __future__ import annotations

from converter.rule import Rule, with_changes

_SCRIPT = """\
import tensorflow as tf


def parse(record):
    found = tf.parse_single_example(record, {'words': tf.FixedLenFeature([20], tf.int64),
                                             'label': tf.FixedLenFeature([], tf.int64)})
    return found['words'], found['label']


def model_fn(features, labels, mode):
    table = tf.get_variable('table', [5000, 32], partitioner=tf.fixed_size_partitioner(4))
    words = tf.nn.embedding_lookup(table, features)
    logits = tf.layers.dense(tf.reduce_mean(words, 1), 10)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    train_op = tf.train.AdamOptimizer(0.001).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def input_fn():
    data = tf.data.TFRecordDataset('train.tfrecords').map(parse)
    return data.shuffle(1000).repeat().batch(64)


estimator = tf.estimator.Estimator(model_fn, 'model')
estimator.train(input_fn, steps=1000)
"""

RULES = (
    Rule(
        code="TMG278",
        title="a lookup in a table that is cut into slices takes other rows under a strategy",
        why="With the default partition_strategy='mod' number 5 is row 2 of the second of two slices. A strategy makes "
        "one whole variable of the table, without an error, and number 5 is row 5 (TensorFlow 1.15.5): a checkpoint of "
        "the script then means other rows. Slices of consecutive rows, partition_strategy='div', are the same in both.",
        before=_SCRIPT,
        after=with_changes(_SCRIPT, ["(table, features)", "(table, features, partition_strategy='div')"]),
    ),
)
