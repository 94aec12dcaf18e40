"""Scripts whose model, gradients or batch size stand in other files of their project."""

from __future__ import annotations

from converter.rule import Rule

MODEL = """\
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

_APART = MODEL_AND_USER.replace("# --- model.py ---", "# --- nets/__init__.py ---\n# --- nets/model.py ---").replace(
    "from model import", "from nets.model import", 1
).replace("# --- train.py ---", "# --- nets/train.py ---")
_LOSS = """\
    loss = tf.losses.sparse_softmax_cross_entropy(y, tf.layers.dense(x, 10))
    return tf.train.AdamOptimizer(0.001).minimize(loss)
"""
_NETWORK_THERE = "def network(x):\n    return tf.layers.dense(x, 10)\n"
_STEP_THERE = "def train_step(x, y):\n" + _LOSS
_STEP_HERE = """\
loss = tf.losses.sparse_softmax_cross_entropy(Y, model.network(X))
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)"""
_CHOSEN = """\
# --- mlp.py ---
import tensorflow as tf


{model}

# --- train.py ---
import argparse
import importlib

import tensorflow as tf

parser = argparse.ArgumentParser()
parser.add_argument('--model', default='mlp')
args = parser.parse_args()
model = importlib.import_module(args.model)
batch_size = 64
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
{train}
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels = next_batch(batch_size)
        sess.run(train_op, {X: images, Y: labels})
"""

RULES = (
    Rule(
        code="TMG221",
        title="another file of the project would have to change",
        why="The model, the gradients or the batch size stand in a file that the script imports, and that "
        "file has to change with it. With -o FILE, and on standard output, only one file is written. "
        "--output-dir DIR writes the script, the files that change with it and the module of their helpers; "
        "--in-place changes them where they are. Or let the other file define the parts and this one put "
        "them together: build the model and minimise its loss here.",
        before=MODEL,
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
        code="TMG265",
        title="another script does not find the module of helpers",
        why="Files that change import the number of towers and their helpers from a module beside the converted "
        "script. A script in another folder that imports such a file, too, does not look for modules there, and "
        "would end with an ImportError. Put both scripts into one folder, or let the other one add the folder to "
        "sys.path. The example is converted in place.",
        before=_APART,
        after=_APART.replace("# --- nets/train.py ---", "# --- train.py ---").replace(
            "from model import", "from nets.model import"
        ),
    ),
    Rule(
        code="TMG266",
        title="a flag chooses a module that would have to change",
        why="importlib.import_module is handed a flag: the default of the flag tells which file is read. Where towers "
        "need changes in that file, the other choices would go without, and each of them would have to be converted "
        "on its own. Build the loss and take the training step in the script, from what the module's functions "
        "give: then it needs no change. The example is converted in place.",
        before=_CHOSEN.replace("{model}", _STEP_THERE).replace("{train}", "train_op = model.train_step(X, Y)"),
        after=_CHOSEN.replace("{model}", _NETWORK_THERE)
        .replace("{train}", _STEP_HERE).replace("import_module(args.model)", "import_module('mlp')"),
    ),
    Rule(
        code="TMG331",
        title="a flag chooses the module that builds the model",
        why="importlib.import_module is handed a flag: the default of the flag tells which file is read, and what the "
        "towers take from it. The loop stands in the script and serves each choice whose functions take and give the "
        "same; prove it with each of them. The example is converted in place.",
        before=_CHOSEN.replace("{model}", _NETWORK_THERE)
        .replace("{train}", _STEP_HERE),
        after=_CHOSEN.replace("{model}", _NETWORK_THERE)
        .replace("{train}", _STEP_HERE).replace("import_module(args.model)", "import_module('mlp')"),
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
