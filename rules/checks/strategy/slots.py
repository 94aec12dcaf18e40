"""Slot variables of canned estimators."""

from __future__ import annotations

from converter.rule import Rule

RULES = (
    Rule(
        code="TMG383",
        title="the optimizer of a canned estimator names its variables differently under a strategy",
        why="DNNClassifier and DNNRegressor create each variable as a single slice of itself, which they do not "
        "under a strategy: the variables of the optimizer get other names (dnn/dnn/logits/kernel/Adagrad beside "
        "dnn/logits/kernel/t_0/Adagrad), and a checkpoint of the original cannot be trained on. The model's own "
        "variables keep their names.",
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
estimator = tf.estimator.DNNClassifier([64], columns, 'model', n_classes=10,
                                       loss_reduction=tf.losses.Reduction.SUM_OVER_BATCH_SIZE)
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
