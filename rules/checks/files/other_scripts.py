"""Another script imports a file that changes."""

from __future__ import annotations

from collections.abc import Iterator

from converter.diagnostics import Diagnostic
from converter.planner.cases import Shared
from converter.planner.checking import check
from converter.planner.writing.findings import at_user
from converter.rule import Rule

MODEL_AND_USER = """\
# --- model.py ---
import tensorflow as tf


class Net(object):
    def __init__(self):
        self.x = tf.placeholder(tf.float32, [None, 784])
        self.y = tf.placeholder(tf.int64, [None])
        logits = tf.layers.dense(self.x, 10)
        self.loss = tf.losses.sparse_softmax_cross_entropy(self.y, logits)


# --- evaluate.py ---
import tensorflow as tf
from model import Net

net = Net()
with tf.Session() as sess:
    tf.train.Saver().restore(sess, 'model.ckpt')
    print(sess.run(net.loss, {net.x: images, net.y: labels}))


# --- train.py ---
import tensorflow as tf
from model import Net

batch_size = 64
net = Net()
train_op = tf.train.AdamOptimizer(0.001).minimize(net.loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels = next_batch(batch_size)
        sess.run(train_op, {net.x: images, net.y: labels})
"""

RULES = (
    Rule(
        code="TMG307",
        title="another script imports a file that changes",
        why="Only the converted script uses several GPUs when it is run. Another one that imports a file which "
        "changes goes on building the model for one GPU, with the same names, variables and checkpoints (TMG127). "
        "For a script that evaluates or predicts that is as it should be. This one seems to train, too, or calls "
        "what the converted script is made of: convert both together (name both, or their folder), or set the "
        "number of GPUs in it as the converted script does. The example is converted in place.",
        before=MODEL_AND_USER.replace("evaluate.py", "tune.py").replace(
            "with tf", "train_op = tf.train.AdamOptimizer(0.01).minimize(net.loss)\nwith tf", 1
        ),
        after="""\
# --- model.py ---
import tensorflow as tf


def loss_of(x, y):
    return tf.losses.sparse_softmax_cross_entropy(y, tf.layers.dense(x, 10))


# --- tune.py ---
import tensorflow as tf
from model import loss_of

X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
loss = loss_of(X, Y)
train_op = tf.train.AdamOptimizer(0.01).minimize(loss)
with tf.Session() as sess:
    tf.train.Saver().restore(sess, 'model.ckpt')
    print(sess.run(loss, {X: images, Y: labels}))


# --- train.py ---
import tensorflow as tf
from model import loss_of

batch_size = 64
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
loss = loss_of(X, Y)
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels = next_batch(batch_size)
        sess.run(train_op, {X: images, Y: labels})
""",
        references=("docs: TMG127, other scripts go on building the model for one GPU",),
    ),
)


@check(Shared)
def stays_on_one_gpu(case: Shared) -> Iterator[Diagnostic]:
    """Other scripts that train with the changed files."""
    count = case.plans[0].num_gpus
    settable = "." in count and "(" not in count
    hint = f"to train with it on several GPUs, set {count} there before the model is built"
    for user in (user for user in case.users if user.trains):
        yield at_user(
            case.facts,
            user,
            "TMG307",
            "it imports files that change, and goes on building the model for one GPU",
            hint if settable else "convert it, too, if it trains",
            "warning",
        )
