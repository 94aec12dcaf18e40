"""Nothing tells where the examples are in a sparse batch."""

from __future__ import annotations

from converter.rule import Rule

RULES = (
    Rule(
        code="TMG225",
        title="nothing tells where the examples are in a sparse batch",
        why="Sparse batches are cut by their rows (TMG135), so the rows must be the examples. A shape with "
        "the batch axis in front says so, and so do a CTC loss, a product with a dense matrix and a look-up "
        "of embeddings, which read it row by row. Where a sparse placeholder has no shape and goes "
        "elsewhere, or its batch axis is another one, its rows may be anything, such as the nodes of a graph.",
        before="""\
import tensorflow as tf

batch_size = 64
X = tf.sparse_placeholder(tf.float32)
Y = tf.placeholder(tf.int64, [None])
logits = tf.layers.dense(tf.reshape(tf.sparse_tensor_to_dense(X), [-1, 784]), 10)
loss = tf.losses.sparse_softmax_cross_entropy(Y, logits)
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels = next_batch(batch_size)
        sess.run(train_op, {X: images, Y: labels})
""",
        after="""\
import tensorflow as tf

batch_size = 64
X = tf.sparse_placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
logits = tf.layers.dense(tf.reshape(tf.sparse_tensor_to_dense(X), [-1, 784]), 10)
loss = tf.losses.sparse_softmax_cross_entropy(Y, logits)
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels = next_batch(batch_size)
        sess.run(train_op, {X: images, Y: labels})
""",
        references=("tf.sparse_placeholder", "tf.sparse_slice"),
    ),
)
