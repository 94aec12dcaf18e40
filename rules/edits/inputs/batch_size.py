"""The batch size, from its uses to its definition: on the host it is the global batch's."""

from __future__ import annotations

from converter.rule import Rule

RULES = (
    Rule(
        code="TMG110",
        title="the batch size follows the number of GPUs",
        why="With --batch per-gpu each tower takes as many examples as the script did, so a step takes N "
        "times as many. The number is changed once, where it is defined, and what is computed from it "
        "follows: batches in an epoch, ranges, slices, so that an epoch stays an epoch. A flag keeps "
        "what the user gives for one GPU, and the host's uses of it are multiplied, within `print(sess.run(…))` too; "
        "in a text (`'%d' % batch_size`), a line of a log or a test against a constant it stays what was given. "
        "Where the number counts steps (`if step % batch_size == 0: print(…)`), it stays, too. "
        "With --batch total the number stays, and the towers share it.",
        before="""\
import tensorflow as tf

batch_size = 64
num_batches = 60000 // batch_size
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
logits = tf.layers.dense(X, 10)
loss = tf.losses.sparse_softmax_cross_entropy(Y, logits)
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(num_batches):
        images, labels = next_batch(batch_size)
        sess.run(train_op, {X: images, Y: labels})
""",
        after="""\
batch_size = 64 * num_gpus
num_batches = 60000 // batch_size
    for step in range(num_batches):
        images, labels = next_batch(batch_size)
""",
        references=("docs: TMG108, the number inside the towers",),
    ),
)
