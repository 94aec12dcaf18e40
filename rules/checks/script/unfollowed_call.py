"""The loss needs a call that is not followed."""

from __future__ import annotations

from converter.rule import Rule

_SCRIPT = """\
import tensorflow as tf
{imported}
batch_size = 64
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
logits = {model}
loss = tf.losses.sparse_softmax_cross_entropy(Y, logits)
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels = next_batch(batch_size)
        sess.run(train_op, {{X: images, Y: labels}})
"""

RULES = (
    Rule(
        code="TMG241",
        title="the loss needs a call that is not followed",
        why="The batch is passed to another package, or to a function whose name is known only when the script runs, "
        "and the loss needs the result. That code may make variables that the towers must share, and may mix the "
        "examples of a batch; neither can be read. --trace runs the script and relies on what it observes. The "
        "same holds for an attribute that the loss needs and that only methods of a class in another package "
        "could have set.",
        before=_SCRIPT.format(imported="import networks\n", model="networks.classifier(X)"),
        after=_SCRIPT.format(imported="", model="tf.layers.dense(X, 10)"),
    ),
)
