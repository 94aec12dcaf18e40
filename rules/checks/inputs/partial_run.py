"""Session.partial_run: a step whose inputs are fed one after the other."""

from __future__ import annotations

from converter.planner.found import Found
from converter.planner.wording import Words
from converter.rule import Rule

_SCRIPT = """\
import tensorflow as tf

batch_size = 64
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
logits = tf.layers.dense(X, 10)
classes = tf.one_hot(Y, 10)
loss = tf.losses.softmax_cross_entropy(classes, logits)
step = tf.train.AdamOptimizer(0.001).minimize(loss)
with tf.control_dependencies([step]):
    done = tf.identity(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for _ in range(100):
        images, labels = next_batch(batch_size)
        run = sess.partial_run_setup([classes, logits, done], [X, Y])
{parts}
"""

RULES = (
    Rule(
        code="TMG242",
        title="a run in parts feeds the inputs in another order than the towers need them",
        why="Every tower cuts its rows out of all inputs by the number of rows of the first that the model reads. "
        "Session.partial_run feeds the inputs of one step one after the other, and computes between them. "
        "Before that first input is fed no shard can be cut, and TensorFlow would stop with an error. Where it "
        "is fed in the first part the script converts. `verify` takes each part as a run that is fed what the parts "
        "before it were, too; where a part follows on an update, it says that it cannot compare.",
        before=_SCRIPT.replace("{parts}", """\
        print(sess.partial_run(run, classes, {Y: labels}))
        print(sess.partial_run(run, [logits, done], {X: images}))"""),
        after=_SCRIPT.replace("{parts}", """\
        print(sess.partial_run(run, logits, {X: images}))
        print(sess.partial_run(run, [classes, done], {Y: labels}))"""),
        references=("tf.Session.partial_run (tensorflow/python/client/session.py, 1.15)",),
    ),
)

WORDS = {
    Found.PART_OF_RUN_WITHOUT_LEAD: Words(
        "TMG242",
        "this part of a run feeds an input before the input whose rows say how all inputs are cut",
        "feed the input that the model reads first in the first part",
    ),
}
