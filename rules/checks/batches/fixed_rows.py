"""What is fed to an input of a fixed size does not grow with it."""

from __future__ import annotations

from converter.rule import Rule

_ROWS_THAT_STAY = """\
import numpy as np
import tensorflow as tf

batch_size = 64
valid = np.load('valid.npy'){rows}
X = tf.placeholder(tf.float32, [{size}, 784])
loss = tf.reduce_mean(tf.square(tf.layers.dense(X, 10)))
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        sess.run(train_op, {X: next_batch(batch_size)})
    print(sess.run(loss, {X: valid}))
"""

RULES = (
    Rule(
        code="TMG252",
        title="a fixed number of rows is fed to an input that grows with the number of GPUs",
        why="A placeholder with the batch size in its shape takes N times the rows, as the host feeds a batch for all "
        "towers; so does a model that reshapes to the batch size. This run feeds a fixed number of rows, which is "
        "one batch of the original script: an array of labels, or a validation set of just as many rows. "
        "TensorFlow would reject it. Make the fed array with the batch size, or leave the number of rows of the "
        "input open.",
        before=_ROWS_THAT_STAY.replace("{rows}", "[:64]").replace("{size}", "batch_size"),
        after=_ROWS_THAT_STAY.replace("{rows}", "[:64]").replace("{size}", "None"),
        references=("docs: TMG110, how the number is followed",),
    ),
)
