"""Sparse batches: rows of a SparseTensor are examples, and are cut like those of a dense one."""

from __future__ import annotations

from converter.rule import Rule

RULES = (
    Rule(
        code="TMG135",
        title="sparse batches are cut by their rows",
        why="A SparseTensor lists its values in one row after the other, any number to an example, and cannot "
        "be sliced by an index. tf.sparse_slice takes the rows of one tower, on the CPU, together with the "
        "dense inputs' rows; labels of CTC, products of a sparse with a dense matrix and look-ups of "
        "embeddings then find a sparse tensor of their own in each tower. Sparse are placeholders, features of any "
        "length (VarLenFeature) that a pipeline parses, and what an iterator gives to an operation on sparse tensors. "
        "A tower without a row computes "
        "on one with weight 0, as it does for dense inputs.",
        before="""\
import tensorflow as tf

batch_size = 64
X = tf.sparse_placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
W = tf.get_variable('W', [784, 10])
logits = tf.sparse_tensor_dense_matmul(X, W)
loss = tf.losses.sparse_softmax_cross_entropy(Y, logits)
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        features, labels = next_batch(batch_size)
        sess.run(train_op, {X: features, Y: labels})
""",
        after="""\
X_batch, Y_batch = X, Y
for gpu in range(num_gpus):
        (X, Y), rows, weight = shard_sparse([X_batch, Y_batch], gpu)
        logits = tf.sparse_tensor_dense_matmul(X, W)
X, Y = X_batch, Y_batch
""",
        references=("tf.sparse_placeholder, tf.sparse_slice (from 1.4; tf.sparse.slice in 2.x)",),
    ),
)
