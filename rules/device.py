"""tf.device inside the model."""

from __future__ import annotations

from converter.rule import Rule

_SCRIPT = """\
import tensorflow as tf

batch_size = 64


def network(images):
    with tf.device({device}):
        return tf.layers.dense(images, 10)


X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
loss = tf.losses.sparse_softmax_cross_entropy(Y, network(X))
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels = next_batch(batch_size)
        sess.run(train_op, {X: images, Y: labels})
"""

RULES = (
    Rule(
        code="TMG137",
        title="a GPU that the model names gives way to the tower's",
        why="The innermost tf.device counts. Where the model names a GPU itself, all towers would compute on "
        "that one: the numbers would be right, and nothing would be faster. An empty device keeps the one "
        "around it: in a tower that is the tower's, elsewhere the first GPU, where TensorFlow puts what has "
        "no device. Variables and look-ups that the model puts on the CPU stay there. A function around the model "
        "that chooses a device for each operation has the last word, so that it gives way, too.",
        before=_SCRIPT.replace("{device}", "'/gpu:0'"),
        after="    with tf.device(''):\n",
        references=("tf.device, merging of device specifications (tensorflow/python/framework/device.py, 1.15)",),
    ),
    Rule(
        code="TMG314",
        title="the model computes the name of its device",
        why="The innermost tf.device counts, so that what stands in such a block is computed on the same device "
        "by all towers. Where that is a GPU, the others wait for it. Which one it is shows when the script "
        "runs only; `verify` sees where the towers computed. An empty device keeps that of the tower.",
        before=_SCRIPT.replace("{device}", "choose_device()"),
        after=_SCRIPT.replace("{device}", "''"),
        references=("docs: TMG137, devices that are written out",),
    ),
    Rule(
        code="TMG326",
        title="layers on the CPU are left to the towers",
        why="Where a script puts more than a tenth of its layers on the CPU, towers that did the same would share "
        "nothing: all of them would compute there, and the GPUs would wait. The device gives way to the tower's; "
        "the numbers are the same, and variables stay where --variables puts them. Blocks that hold only variables "
        "and look-ups in tables are left as they are.",
        before=_SCRIPT.replace("{device}", "'/cpu:0'"),
        after=_SCRIPT.replace("{device}", "''"),
        references=("docs: TMG137, GPUs that are written out",),
    ),
)
