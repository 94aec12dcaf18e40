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
        code="TMG307",
        title="another script imports a file that builds towers now",
        why="A file that changed with the script is imported by others too, an evaluation script for one. They "
        "get the same tensors under the same names, made by towers, and read the same checkpoints; but their "
        "sessions may lack the configuration that towers need on a machine with fewer GPUs. Convert the scripts "
        "together, or give those sessions allow_soft_placement=True. The example is converted in place.",
        before="""\
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
""",
        after="""\
# --- model.py ---
import tensorflow as tf


def loss_of(x, y):
    return tf.losses.sparse_softmax_cross_entropy(y, tf.layers.dense(x, 10))


# --- evaluate.py ---
import tensorflow as tf
from model import loss_of

X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
loss = loss_of(X, Y)
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
