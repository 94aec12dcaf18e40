"""Losses that are computed once, from the towers' merged results."""

from __future__ import annotations

from converter.rule import Rule

RULES = (
    Rule(
        code="TMG167",
        title="a loss that is not a mean over the examples is computed once, from the towers' merged results",
        why="The root of a mean, a dice coefficient, in-batch negatives, hard triplets and pairwise rankings are not "
        "the mean of what several parts of the batch give. With --loss global, and always with --batch total, each "
        "tower computes the results for its own examples (logits, embeddings, scores), these are put together again, "
        "and the loss is computed once from all of them, as on one GPU with the whole batch. "
        "colocate_gradients_with_ops=True takes the gradients back through each tower on the tower's own GPU; weight "
        "decay counts once. A call that computes such results in the middle of the loss gets a name and a line of its "
        "own, so that it can stand in the towers. Statistics that layers take of the batch (batch norm) stay each "
        "tower's. Where the results for the examples are not made in one place in front of the loss, or where a layer "
        "follows that needs the whole batch, the towers' losses are averaged with a warning (TMG302). With --batch "
        "per-gpu a loss that takes a part of the rows, such as the first half of the batch, is averaged, too: in the "
        "batches of all towers that part is another one.",
        options=("--loss", "global"),
        before="""\
import tensorflow as tf

batch_size = 64
A = tf.placeholder(tf.float32, [None, 100])
B = tf.placeholder(tf.float32, [None, 100])


def embed(x, name):
    return tf.nn.l2_normalize(tf.layers.dense(x, 32, name=name), 1)


scores = tf.matmul(embed(A, 'a'), embed(B, 'b'), transpose_b=True)
labels = tf.range(tf.shape(scores)[0])
loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(logits=scores, labels=labels))
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        a, b = next_batch(batch_size)
        sess.run(train_op, {A: a, B: b})
""",
        after="""\
        (A, B), rows, weight = shard([A_batch, B_batch], gpu)
        embed_of_A = embed(A, 'a')
        embed_of_B = embed(B, 'b')
        tower_embed_of_A.append(embed_of_A[:rows])
        tower_embed_of_B.append(embed_of_B[:rows])
embed_of_A = tf.concat(tower_embed_of_A, 0)
embed_of_B = tf.concat(tower_embed_of_B, 0)
scores = tf.matmul(embed_of_A, embed_of_B, transpose_b=True)
train_op = tf.train.AdamOptimizer(0.001).minimize(loss, colocate_gradients_with_ops=True)
""",
        references=(
            "tf.gradients, colocate_gradients_with_ops (tensorflow/python/ops/gradients_impl.py, 1.15)",
            "docs: TMG302, losses whose towers are averaged",
        ),
    ),
)
