"""tf.data pipelines: the batch size grows with the number of GPUs; what the iterator gives is sharded."""

from __future__ import annotations

from converter.rule import Rule

RULES = (
    Rule(
        code="TMG114",
        title="batches of tf.data and of queues grow with the number of GPUs and are sharded",
        why="A pipeline gives one global batch for each step: Dataset.batch (or tf.train.batch and its "
        "like) gets N times the examples and the towers share what the iterator gives, in order, so "
        "that an epoch stays an epoch and the towers see consecutive batches of the original. One "
        "iterator for each tower would shuffle and repeat on its own, and tf.train.batch inside the "
        "loop would start a queue for each tower, filled by threads that nobody asked for. Of a dict each tower reads "
        "its shard under the same key. Data sets of validation keep their size: only those that an iterator is seen "
        "to read in training grow.",
        before="""\
import tensorflow as tf

batch_size = 64
images, labels = load()
dataset = tf.data.Dataset.from_tensor_slices((images, labels))
dataset = dataset.shuffle(1000).repeat().batch(batch_size)
X, Y = dataset.make_one_shot_iterator().get_next()
logits = tf.layers.dense(X, 10)
loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(logits=logits, labels=Y))
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        sess.run(train_op)
""",
        after="""\
batch_size = 64 * num_gpus
dataset = dataset.shuffle(1000).repeat().batch(batch_size)
X, Y = dataset.make_one_shot_iterator().get_next()
X_batch, Y_batch = X, Y
for gpu in range(num_gpus):
        (X, Y), rows, weight = shard([X_batch, Y_batch], gpu)
        logits = tf.layers.dense(X, 10)
""",
        references=(
            "tf.data.Dataset.batch(batch_size) (from 1.4)",
            "tf.train.batch, tf.train.shuffle_batch: queues with runners of their own "
            "(tensorflow/python/training/input.py, 1.15)",
        ),
    ),
)
