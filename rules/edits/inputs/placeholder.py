"""Placeholders: the batch that is fed is cut into shards, one for each tower."""

from __future__ import annotations

from converter.rule import Rule

RULES = (
    Rule(
        code="TMG103",
        title="batches are cut into one shard for each tower",
        why="Every placeholder with a batch axis is cut along it into N consecutive shards whose sizes "
        "differ by at most one, and inside the loop its name means the shard, so that the model's lines "
        "stay as they are. Each tower counts with its share of the rows: a batch that does not divide "
        "by N, such as the last one of an epoch, gives the exact mean. A batch with fewer rows than "
        "there are towers leaves some without any; they compute on one row with weight 0, because the "
        "mean over no rows is NaN and NaN times 0 is NaN. Placeholders without a batch axis (keep_prob, "
        "learning_rate) go to all towers whole; --shared and --batch-axis say so where the script does "
        "not. Arrays, lists and constants that the model reads in place of placeholders are cut likewise, "
        "when the graph is built. An input that only one branch of a condition makes is cut where it is there.",
        before="""\
import tensorflow as tf

batch_size = 64
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
keep_prob = tf.placeholder(tf.float32)
logits = tf.layers.dense(tf.nn.dropout(X, keep_prob), 10)
loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(logits=logits, labels=Y))
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels = next_batch(batch_size)
        sess.run(train_op, {X: images, Y: labels, keep_prob: 0.5})
""",
        after="""\
keep_prob = tf.placeholder(tf.float32)
X_batch, Y_batch = X, Y
for gpu in range(num_gpus):
        (X, Y), rows, weight = shard([X_batch, Y_batch], gpu)
        logits = tf.layers.dense(tf.nn.dropout(X, keep_prob), 10)
        tower_loss.append(loss * weight)
X, Y = X_batch, Y_batch
""",
        references=("tf.reduce_mean of an empty tensor is NaN (all versions)",),
    ),
)
