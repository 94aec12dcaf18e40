"""Layers of a network: convolutions, pooling, dense layers and the losses on logits."""

from __future__ import annotations

from converter.rule import Rule

RULES = (
    Rule(
        code="TMG106",
        title="moving averages are updated once in a step, by the first tower",
        why="Batch normalisation keeps moving averages of its statistics and updates them in every training "
        "step. With N towers there are N such updates of the same variables: run all, the averages "
        "would move N times as fast and race with each other; TensorFlow gives no order. Each tower "
        "normalises with the statistics of its own shard, as the original does with those of its batch, "
        "and only the first one updates. Update ops in a collection (UPDATE_OPS) are those of the first "
        "tower after the loop, so that tf.control_dependencies around the training step holds what it "
        "did; updates that a layer forces by itself (updates_collections=None) are left out of the "
        "other towers. Where a batch norm is written by hand, tf.train.ExponentialMovingAverage is the first "
        "tower's: it names its variables as on one GPU, and .average() gives these in the other towers too.",
        before="""\
import tensorflow as tf

batch_size = 64
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
hidden = tf.layers.batch_normalization(tf.layers.dense(X, 64), training=True)
logits = tf.layers.dense(tf.nn.relu(hidden), 10)
loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(logits=logits, labels=Y))
with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
    train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels = next_batch(batch_size)
        sess.run(train_op, {X: images, Y: labels})
""",
        after="""\
tower_collections = TowerCollections()
for gpu in range(num_gpus):
            tower_collections.tower(gpu), first_tower_updates(gpu):
        hidden = tf.layers.batch_normalization(tf.layers.dense(X, 64), training=True)
with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
""",
        references=(
            "tf.layers.batch_normalization: its updates are put into tf.GraphKeys.UPDATE_OPS "
            "(tensorflow/python/layers/normalization.py, 1.15)",
            "tf.contrib.layers.batch_norm(updates_collections=None): updates by control dependencies "
            "(tensorflow/contrib/layers/python/layers/layers.py, 1.15)",
            "tf.train.ExponentialMovingAverage.apply: a slot is named after the tensor's operation "
            "(tensorflow/python/training/slot_creator.py, 1.15)",
        ),
    ),
)
