"""The model has a number that is as large as the batch size."""

from __future__ import annotations

from converter.rule import Rule

_LITERAL_ROWS = """\
import tensorflow as tf

batch_size = 64
X = tf.placeholder(tf.float32, [None, 784])
noise = tf.random_normal([{rows}, 784])
loss = tf.reduce_mean(tf.square(tf.layers.dense(X + noise, 10)))
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        sess.run(train_op, {X: next_batch(batch_size)})
"""

RULES = (
    Rule(
        code="TMG254",
        title="the model has a number that is as large as the batch size",
        why="With --batch total the towers share a batch of the script's size, and the batch size means a share of it "
        "in each tower. This number is written in the model, is as large as the batch size (or as the flag for it is "
        "by default), and tells how many rows a batch is reshaped or cut to, or goes with: the rows of a tower are "
        "fewer. Write the batch size by its name, or read it off the batch: tf.shape(X)[0].",
        before=_LITERAL_ROWS.replace("{rows}", "64"),
        after=_LITERAL_ROWS.replace("{rows}", "batch_size"),
        options=("--batch", "total"),
        references=("docs: TMG108, the number inside the towers",),
    ),
)
