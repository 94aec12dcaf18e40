"""An input without a shape may be one value, or have a row for each example."""

from __future__ import annotations

from converter.rule import Rule

_SHAPELESS = """\
import tensorflow as tf

batch_size = 64
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
importance = tf.placeholder(tf.float32{shape})
logits = tf.layers.dense(X, 10)
loss = tf.losses.sparse_softmax_cross_entropy(Y, logits, weights=importance)
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels = next_batch(batch_size)
        sess.run(train_op, {X: images, Y: labels, importance: rate(labels)})
"""

RULES = (
    Rule(
        code="TMG253",
        title="an input without a shape may be one value, or have a row for each example",
        why="A placeholder without a shape takes anything. What is fed to it often tells: a number goes to all towers, "
        "a slice of a data set is cut as the other inputs are. Here neither the script's feeds nor what the model "
        "does with it tell: shared by all towers, an array with a row for each example would meet the rows of one "
        "shard, and may spread over them without a word. Give the placeholder a shape, or say which it is: "
        "--shared NAME, or --batch-axis NAME=0.",
        before=_SHAPELESS.replace("{shape}", ""),
        after=_SHAPELESS.replace("{shape}", ", [None]"),
        references=("docs: TMG103, which inputs are cut",),
    ),
)
