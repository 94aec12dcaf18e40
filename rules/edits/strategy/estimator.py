"""What changes in a script that trains by an Estimator."""

from __future__ import annotations

from converter.rule import Rule

RULES = (
    Rule(
        code="TMG150",
        title="an Estimator trains under a distribution strategy",
        why="An Estimator holds the session and the training loop. Its RunConfig takes a strategy that puts a "
        "replica of the model function on each GPU, gives each a batch of its own from the dataset, and applies the "
        "mean of the gradients once. Variables keep their names, and global_step counts once a step. A number of "
        "steps that counts batches is divided by the number of GPUs. The lines above stop a script that finds fewer "
        "GPUs than it was converted for; --fewer-gpus allow leaves them out. Needs TensorFlow 1.14 or newer.",
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
strategy = tf.distribute.MirroredStrategy(['/gpu:0', '/gpu:1'])
estimator = tf.estimator.Estimator(model_fn, 'model',
                                   config=tf.estimator.RunConfig(train_distribute=strategy))
""",
        references=(
            "tf.distribute.MirroredStrategy (tensorflow/python/distribute/mirrored_strategy.py, 1.15)",
            "tf.estimator.RunConfig(train_distribute=...) (tensorflow_estimator/python/estimator/run_config.py, 1.15)",
        ),
    ),
    Rule(
        code="TMG151",
        title="the input function of an Estimator returns its dataset",
        why="A strategy takes the batches of its replicas from a dataset, and raises an error where an input "
        "function returns the tensors of an iterator. The iterator is removed, and what the return statement "
        "computes from its tensors becomes a map() of the dataset.",
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
    iterator = data.repeat().batch(64).make_one_shot_iterator()
    images, labels = iterator.get_next()
    return images, labels


estimator = tf.estimator.Estimator(model_fn, 'model')
estimator.train(input_fn, steps=1000)
""",
        after="""\
    data = tf.data.TFRecordDataset('train.tfrecords').map(parse)
    return data.repeat().batch(64)
""",
    ),
    Rule(
        code="TMG152",
        title="numpy_input_fn gives a dataset",
        why="tf.estimator.inputs.numpy_input_fn reads arrays through a queue and returns tensors, which a strategy "
        "does not take. The helper takes the same arguments and returns a dataset: rows in their order, or "
        "shuffled, batches that reach over the end of an epoch. Rows are gathered when a batch is asked for, so "
        "that the arrays do not become a part of the graph. Evaluation may keep its queue: it runs on one GPU.",
        before="""\
import numpy as np
import tensorflow as tf

images, labels = np.load('images.npy'), np.load('labels.npy')


def model_fn(features, labels, mode):
    logits = tf.layers.dense(features, 10)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    train_op = tf.train.AdamOptimizer(0.001).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


train_input_fn = tf.estimator.inputs.numpy_input_fn(
    images, labels, batch_size=64, num_epochs=None, shuffle=True)
estimator = tf.estimator.Estimator(model_fn, 'model')
estimator.train(train_input_fn, steps=1000)
""",
        after="""\
    return input_fn
train_input_fn = numpy_dataset_fn(
""",
        references=(
            "tf.estimator.inputs.numpy_input_fn (tensorflow_estimator/python/estimator/inputs/numpy_io.py, 1.15)",
        ),
    ),
)
