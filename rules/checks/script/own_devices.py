"""tf.device inside the model."""

from __future__ import annotations

from converter.planner.found import Found
from converter.planner.wording import Words
from converter.rule import Rule

SCRIPT = """\
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

AROUND = """\
import tensorflow as tf

batch_size = 64

with tf.device('/gpu:3'):
    X = tf.placeholder(tf.float32, [None, 784])
    Y = tf.placeholder(tf.int64, [None])
    loss = tf.losses.sparse_softmax_cross_entropy(Y, tf.layers.dense(X, 10))
    train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels = next_batch(batch_size)
        sess.run(train_op, {X: images, Y: labels})
"""

RULES = (
    Rule(
        code="TMG314",
        title="the model computes the name of its device",
        why="The innermost tf.device counts, so that what stands in such a block is computed on the same device "
        "by all towers. Where that is a GPU, the others wait for it. Which one it is shows when the script "
        "runs only; `verify` sees where the towers computed. An empty device keeps that of the tower.",
        before=SCRIPT.replace("{device}", "choose_device()"),
        after=SCRIPT.replace("{device}", "''"),
        references=("docs: TMG137, devices that are written out",),
    ),
    Rule(
        code="TMG326",
        title="layers on the CPU are left to the towers",
        why="Where a script puts more than a tenth of its layers on the CPU, towers that did the same would share "
        "nothing: all of them would compute there, and the GPUs would wait. The device gives way to the tower's; "
        "the numbers are the same, and variables stay where --variables puts them. Blocks that hold only variables "
        "and look-ups in tables are left as they are.",
        before=SCRIPT.replace("{device}", "'/cpu:0'"),
        after=SCRIPT.replace("{device}", "''"),
        references=("docs: TMG137, GPUs that are written out",),
    ),
    Rule(
        code="TMG352",
        title="a GPU that is named around the towers gives way",
        why="A script that is built under tf.device('/gpu:3') trains on that GPU. Its towers are on the first GPUs "
        "that it sees, and what stands beside them (inputs, the sum of the losses) is put on the first one, as "
        "TensorFlow does with operations that have no device. Which GPUs a script sees is said when it is started: "
        "CUDA_VISIBLE_DEVICES=2,3 python train.py.",
        before=AROUND,
        after=AROUND.replace("/gpu:3", "/gpu:0"),
        references=("docs: TMG137, GPUs that the model names",),
    ),
)

WORDS = {
    Found.LAYERS_ON_CPU: Words(
        "TMG326",
        "the script computes these layers on the CPU; the towers compute them on their GPUs",
        "put only variables and look-ups there that must stay on the CPU",
    ),
    Found.GPU_AROUND_TOWERS: Words(
        "TMG352",
        "this puts what it holds on {gpu}; the towers are on the first GPUs that the script sees",
        "choose the GPUs when the script is started: CUDA_VISIBLE_DEVICES=2,3 python SCRIPT",
    ),
    Found.DEVICE_OF_ALL_TOWERS: Words(
        "TMG314",
        "the device that is chosen here is the same for all towers",
        "leave it to the towers: tf.device('') keeps the device around it",
    ),
}
