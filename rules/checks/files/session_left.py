"""A session of another file, or of a caller, keeps its configuration."""

from __future__ import annotations

from collections.abc import Iterator

from converter.diagnostics import Diagnostic
from converter.planner.cases import Placed
from converter.planner.checking import check
from converter.planner.writing.findings import warn
from converter.rule import Rule

RULES = (
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
    Rule(
        code="TMG351",
        title="the session that trains is made by other code, and keeps its configuration",
        why="The session comes to this code as an argument, and nothing in these files makes it. Towers ask for GPUs "
        "by name: an operation that has no GPU kernel fails, on a machine with fewer GPUs everything does, unless the "
        "session allows soft placement. Give it tf.ConfigProto(allow_soft_placement=True) where it is made, or convert "
        "the script that makes it.",
        before="""\
import tensorflow as tf

batch_size = 64


class Net(object):
    def __init__(self, sess):
        self.sess = sess
        self.x = tf.placeholder(tf.float32, [None, 784])
        self.y = tf.placeholder(tf.int64, [None])
        self.loss = tf.losses.sparse_softmax_cross_entropy(self.y, tf.layers.dense(self.x, 10))
        self.train_op = tf.train.AdamOptimizer(0.001).minimize(self.loss)

    def train(self):
        for step in range(100):
            images, labels = next_batch(batch_size)
            self.sess.run(self.train_op, {self.x: images, self.y: labels})
""",
        after="""\
import tensorflow as tf

batch_size = 64


class Net(object):
    def __init__(self):
        self.sess = tf.Session()
        self.x = tf.placeholder(tf.float32, [None, 784])
        self.y = tf.placeholder(tf.int64, [None])
        self.loss = tf.losses.sparse_softmax_cross_entropy(self.y, tf.layers.dense(self.x, 10))
        self.train_op = tf.train.AdamOptimizer(0.001).minimize(self.loss)

    def train(self):
        for step in range(100):
            images, labels = next_batch(batch_size)
            self.sess.run(self.train_op, {self.x: images, self.y: labels})
""",
    ),
)


@check(Placed)
def session_of_a_caller(case: Placed) -> Iterator[Diagnostic]:
    """A session that is handed to the code that trains."""
    if case.facts.sessions or not case.facts.runs:
        return
    trained = {step.result.uid for step in case.steps}
    run = next((run for run in case.facts.runs if run.computes(trained)), None)
    if run is not None:
        yield warn(
            case.facts,
            run.call,
            "TMG351",
            "the session of this training step is made by other code, and keeps its configuration",
            "give it tf.ConfigProto(allow_soft_placement=True) where it is made",
        )


@check(Placed)
def sessions_left(case: Placed) -> Iterator[Diagnostic]:
    """Sessions in files that may not change."""
    for session in case.facts.sessions if not case.sources.several else ():
        if case.facts.path_of(session.call):
            yield warn(
                case.facts,
                session.call,
                "TMG306",
                "this session in another file keeps its configuration",
                "give it allow_soft_placement=True, or convert with --output-dir or --in-place",
            )
