"""Scripts whose model, gradients or batch size stand in other files of their project."""

from __future__ import annotations

from converter.analysis.signature import Call, Handler
from converter.analysis.values import Constant, Value
from converter.rule import Rule

_MODEL = """\
# --- model.py ---
import tensorflow as tf


def train_step(x, y):
    logits = tf.layers.dense(x, 10)
    loss = tf.losses.sparse_softmax_cross_entropy(y, logits)
    return tf.train.AdamOptimizer(0.001).minimize(loss)


# --- train.py ---
import tensorflow as tf
from model import train_step

batch_size = 64
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
train_op = train_step(X, Y)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels = next_batch(batch_size)
        sess.run(train_op, {X: images, Y: labels})
"""

_MODEL_AND_USER = """\
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
_LEFT_EARLY = """\
# --- model.py ---
import tensorflow as tf


def network(x, y, training):
    with tf.variable_scope('net'):
        logits = tf.layers.dense(x, 10)
        probs = tf.nn.softmax(logits)
        if not training:
            return probs
    loss = tf.losses.sparse_softmax_cross_entropy(y, logits)
    return loss


# --- predict.py ---
import tensorflow as tf
from model import network

X = tf.placeholder(tf.float32, [None, 784])
probs = network(X, None, False)
with tf.Session() as sess:
    tf.train.Saver().restore(sess, 'model.ckpt')
    print(sess.run(probs, {X: images}))


# --- train.py ---
import tensorflow as tf
from model import network

batch_size = 64
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
loss = network(X, Y, True)
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels = next_batch(batch_size)
        sess.run(train_op, {X: images, Y: labels})
"""


def _add_path(call: Call) -> Value:
    """A folder in which modules are looked for: `sys.path.append('src')`, `sys.path.insert(0, 'src')`."""
    path = call.constant(1 if call.name.endswith("insert") else 0)
    if isinstance(path, str):
        call.walk.project.add_path(path)
    return Constant(None)


CALLS: dict[str, Handler] = {"sys.path.append": _add_path, "sys.path.insert": _add_path}

RULES = (
    Rule(
        code="TMG115",
        title="several files share one module of helpers",
        why="Local imports are followed, and what the towers need changes where it stands: the loop in the "
        "file that builds the model and its loss, the gradients where they are taken, the batch size where "
        "it is defined, the configuration where the session is made. The helpers, and the number of GPUs, "
        "then lie in one module beside the script, from which these files import them. Each changed file "
        "carries a header of its own; files that need no change are not written.",
        before=_MODEL,
        after="""\
import tower_helpers

batch_size = 64 * tower_helpers.num_gpus
""",
    ),
    Rule(
        code="TMG221",
        title="another file of the project would have to change",
        why="The model, the gradients or the batch size stand in a file that the script imports, and that "
        "file has to change with it. With -o FILE, and on standard output, only one file is written. "
        "--output-dir DIR writes the script, the files that change with it and the module of their helpers; "
        "--in-place changes them where they are. Or let the other file define the parts and this one put "
        "them together: build the model and minimise its loss here.",
        before=_MODEL,
        after="""\
# --- model.py ---
import tensorflow as tf


def loss_of(x, y):
    logits = tf.layers.dense(x, 10)
    return tf.losses.sparse_softmax_cross_entropy(y, logits)


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
    ),
    Rule(
        code="TMG127",
        title="other scripts go on building the model for one GPU",
        why="A file that changes with the script is imported by others too, for evaluation or prediction. They "
        "must not get towers: they may build the model without its loss, feed as many rows as a placeholder has "
        "on one GPU, or read tensors by their names. So the number of towers is one, and the model is built as it "
        "was, without towers' names and devices, unless the converted script is the one that is run: it alone "
        "sets the number, before it imports the files that read it. Scripts, packages and notebooks in and below "
        "the folder that holds the script and the changed files are looked through; those that the script "
        "imports itself count where they can be run. The example is converted in place.",
        before=_MODEL_AND_USER,
        after="""\
if __name__ == '__main__':
    tower_helpers.num_gpus = 2
from model import Net
""",
    ),
    Rule(
        code="TMG307",
        title="another script imports a file that changes",
        why="Only the converted script uses several GPUs when it is run. Another one that imports a file which "
        "changes goes on building the model for one GPU, with the same names, variables and checkpoints (TMG127). "
        "For a script that evaluates or predicts that is as it should be. This one seems to train, too, or calls "
        "what the converted script is made of: convert both together (name both, or their folder), or set the "
        "number of GPUs in it as the converted script does. The example is converted in place.",
        before=_MODEL_AND_USER.replace("evaluate.py", "tune.py").replace(
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
    Rule(
        code="TMG263",
        title="another script may leave the model before its towers are done",
        why="Other scripts that import a changed file go on building the model for one GPU, by the same statements "
        "as before and in their order (TMG127). Here the towers' statements stand on both sides of a with block's "
        "return: behind the loop the block is opened once more for it, and a script for which the function ends "
        "there would build what follows, too. Return behind the loss, or build what the other script needs by a "
        "function of its own. The example is converted in place.",
        before=_LEFT_EARLY,
        after=_LEFT_EARLY.replace("        if not training:\n            return probs\n", "").replace(
            "    loss =", "    if not training:\n        return probs\n    loss ="
        ),
    ),
    Rule(
        code="TMG306",
        title="a session of another file keeps its configuration",
        why="The session is made in a file that is not written (-o FILE, standard output), so that it does "
        "not get the configuration that towers need: an operation that has no GPU kernel then fails "
        "where soft placement is off. Give the session allow_soft_placement=True there, or let the "
        "tool do it, with --output-dir or --in-place.",
        before="""\
# --- sessions.py ---
import tensorflow as tf


def make_session():
    return tf.Session()


# --- train.py ---
import tensorflow as tf
from sessions import make_session

batch_size = 64
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
loss = tf.losses.sparse_softmax_cross_entropy(Y, tf.layers.dense(X, 10))
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

sess = make_session()
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
loss = tf.losses.sparse_softmax_cross_entropy(Y, tf.layers.dense(X, 10))
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

sess = tf.Session()
sess.run(tf.global_variables_initializer())
for step in range(100):
    images, labels = next_batch(batch_size)
    sess.run(train_op, {X: images, Y: labels})
""",
    ),
)
