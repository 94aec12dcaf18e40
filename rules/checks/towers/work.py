"""Layers that would be computed once for the whole batch, outside of the towers."""

from __future__ import annotations

from converter.rule import Rule

_SCRIPT = """\
import tensorflow as tf

batch_size = 64
images = tf.data.Dataset.from_tensor_slices(load_images()).repeat().batch(batch_size).make_one_shot_iterator()
labels = tf.data.Dataset.from_tensor_slices(load_labels()).repeat().batch(batch_size).make_one_shot_iterator()
X = images.get_next()
{before}hidden = tf.layers.dense(X, 256, activation=tf.nn.relu)
logits = tf.layers.dense(hidden, 10)
per_example = tf.nn.sparse_softmax_cross_entropy_with_logits(labels={labels}, logits=logits)
loss = tf.reduce_mean(per_example)
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        sess.run(train_op)
"""

RULES = (
    Rule(
        code="TMG258",
        title="layers would be computed outside of the towers",
        why="Towers share the work of a step among the GPUs. Where the model's last input comes in behind its layers, "
        "the loop could only begin there: the layers would run once, for the whole batch and on one device, "
        "and more GPUs would make nothing faster. Statements that prepare a batch (casts, tf.one_hot, a look-up "
        "in a table) may run once for all towers; layers and products with variables may not, unless they "
        "are less than a tenth of those between the inputs and the loss. Make all inputs before the model.",
        before=_SCRIPT.replace("{before}", "").replace("{labels}", "labels.get_next()"),
        after=_SCRIPT.replace("{before}", "Y = labels.get_next()\n").replace("{labels}", "Y"),
        references=("docs: TMG204, inputs that are made by the same statement as the model",),
    ),
)
