"""Sequences that are padded to the longest of their batch, of which a tower sees a share."""

from __future__ import annotations

from converter.rule import Rule

RULES = (
    Rule(
        code="TMG138",
        title="the longest sequence is the longest of the whole batch",
        why="The sequences of a batch are padded to the longest of them, and a mask without a given width, or the "
        "maximum of the lengths, depends on that length. A tower's shard keeps the padding of the whole batch, "
        "but the longest sequence may belong to another tower's shard: computed from the shard, the mask would be "
        "narrower than the tensor that it masks, and tf.boolean_mask then takes wrong entries without an error. "
        "So the towers compute it from the whole batch, before it is cut.",
        before="""\
import tensorflow as tf

batch_size = 64
X = tf.placeholder(tf.float32, [None, None, 16])
Y = tf.placeholder(tf.int64, [None, None])
lengths = tf.placeholder(tf.int32, [None])
logits = tf.layers.dense(X, 10)
losses = tf.nn.sparse_softmax_cross_entropy_with_logits(logits=logits, labels=Y)
mask = tf.sequence_mask(lengths)
loss = tf.reduce_mean(tf.boolean_mask(losses, mask))
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        x, y, n = next_batch(batch_size)
        sess.run(train_op, {X: x, Y: y, lengths: n})
""",
        after="""\
        mask = tf.sequence_mask(lengths, maxlen=tf.reduce_max(whole_batch(lengths)))
""",
        references=("tf.sequence_mask, tf.boolean_mask (tensorflow/python/ops/array_ops.py, 1.15)",),
    ),
)
