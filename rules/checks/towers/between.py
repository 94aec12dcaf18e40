"""A statement in the middle of the model cannot be moved."""

from __future__ import annotations

from converter.planner.found import Found
from converter.planner.wording import Words
from converter.rule import Rule

RULES = (
    Rule(
        code="TMG203",
        title="a statement in the middle of the model cannot be moved",
        why="The loop holds the statements from the first use of an input to the loss. A statement among them that "
        "does not depend on the batch goes before the loop; one that the loss does not need goes after it. This "
        "statement can do neither: a run feeds it though the model computes it, it ends the block, it shares a line "
        "with one of the towers' statements, or it calls another package that may add to a collection which the loss "
        "reads. Inside the loop it would be executed once for each tower. Move it before the model or after the loss.",
        before="""\
import tensorflow as tf

batch_size = 64
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
logits = tf.layers.dense(X, 10)
loss = tf.losses.sparse_softmax_cross_entropy(Y, logits); train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels = next_batch(batch_size)
        sess.run(train_op, {X: images, Y: labels})
""",
        after="""\
import tensorflow as tf

batch_size = 64
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
logits = tf.layers.dense(X, 10)
loss = tf.losses.sparse_softmax_cross_entropy(Y, logits)
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels = next_batch(batch_size)
        sess.run(train_op, {X: images, Y: labels})
""",
    ),
)

WORDS = {
    Found.SHARES_LINE_OF_TOWERS: Words(
        "TMG203", "this statement shares its line with one of the towers'", "write it on a line of its own"
    ),
    Found.SHARES_LINE_OF_OTHERS: Words(
        "TMG203",
        "this statement shares its line with another that stays outside of the towers",
        "write it on a line of its own",
    ),
    Found.BETWEEN_ENDS_BLOCK: Words(
        "TMG203",
        "this statement stands between those of the model and ends the block",
        "move it before the model or after the loss",
    ),
    Found.BETWEEN_MAY_RETURN: Words(
        "TMG203",
        "this statement stands between those of the model and may return: what stands above it would not be built",
        "return after the loss",
    ),
    Found.BETWEEN_MAKES_INPUT: Words(
        "TMG203",
        "this statement stands between those of the model, and a run feeds a value in place of what it computes",
        "compute it before the model, or make a placeholder for what is fed",
    ),
    Found.BETWEEN_MAY_COLLECT: Words(
        "TMG203",
        "this statement stands between those of the model and may add to the collection that the loss is "
        "computed from: what it calls is not followed",
        "move it before the model or after the loss",
    ),
    Found.BETWEEN_UNMOVABLE: Words(
        "TMG203",
        "this statement stands between those of the model and cannot be moved",
        "move it before the model or after the loss",
    ),
}
