"""How the loss is computed from the examples: as a mean, a sum, or neither."""

from __future__ import annotations

from converter.rule import Rule

RULES = (
    Rule(
        code="TMG117",
        title="a masked mean is weighted by each tower's own denominator",
        why="Padded sequences and missing labels are masked: the loss is a sum over the unmasked entries divided by "
        "their number, or tf.losses with weights, or a mean of tf.boolean_mask. The mean over the batch is then "
        "not the mean of the towers' losses by their rows: a shard of long sequences counts more than a shard of "
        "short ones. So each tower's denominator is kept beside its loss, and the losses are weighted by the "
        "denominators before their gradients are taken; the step is exactly the step of the whole batch. This "
        "needs a denominator that depends on inputs alone and can be read where the towers are built. A shard in "
        "which everything is masked gives 0 / 0, as such a batch does on one GPU, unless the loss guards against "
        "it as tf.losses does.",
        before="""\
import tensorflow as tf

batch_size = 64
X = tf.placeholder(tf.float32, [None, 20, 16])
Y = tf.placeholder(tf.int64, [None, 20])
lengths = tf.placeholder(tf.int32, [None])
logits = tf.layers.dense(X, 10)
mask = tf.sequence_mask(lengths, 20, dtype=tf.float32)
losses = tf.nn.sparse_softmax_cross_entropy_with_logits(logits=logits, labels=Y)
loss = tf.reduce_sum(losses * mask) / tf.reduce_sum(mask)
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        x, y, n = next_batch(batch_size)
        sess.run(train_op, {X: x, Y: y, lengths: n})
""",
        after="""\
        tower_loss.append(loss)
        tower_count.append(tf.cast(tf.reduce_sum(mask), tf.float32) * tf.sign(weight))
tower_loss = weigh_losses(tower_loss, tower_count)
loss = tf.add_n(tower_loss)
train_op = optimizer.apply_gradients(tower_gradients(optimizer, tower_loss))
""",
        references=(
            "tf.losses.compute_weighted_loss: divided by the number of weights that are not zero "
            "(tensorflow/python/ops/losses/losses_impl.py, 1.15)",
            "docs: TMG302, losses that are no such means",
        ),
    ),
)
