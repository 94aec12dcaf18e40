"""Training steps that only search values for a trained model stay on one GPU."""

from __future__ import annotations

from collections.abc import Iterator

from converter.diagnostics import Diagnostic
from converter.planner.cases import Selected
from converter.planner.checking import check
from converter.planner.writing.findings import warn
from converter.rule import Rule

_SCRIPT = """\
import tensorflow as tf

batch_size = 64


def generator(codes):
    with tf.variable_scope('G', reuse=tf.AUTO_REUSE):
        return tf.layers.dense(codes, 784)


X = tf.placeholder(tf.float32, [batch_size, 784])
loss = tf.reduce_mean(tf.square(generator(tf.layers.dense(X, 10)) - X))
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)
{search}
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images = next_batch(batch_size)
        sess.run(train_op, {{X: images}})
"""
_SEARCH = """\
codes = tf.get_variable('codes', [batch_size, 10])
distance = tf.reduce_mean(tf.abs(generator(codes) - X))
search = tf.train.AdamOptimizer(0.1).minimize(distance, var_list=[codes])
"""

RULES = (
    Rule(
        code="TMG379",
        title="a search of values for each example stays on one GPU",
        why="A step trains variables that have a row for each example of a batch, and that no other loss reads: it "
        "looks for the codes from which a trained model makes given pictures, as test scripts do. Towers share "
        "variables, so that this step stays as it is, outside of them: where the script runs it, GPU 0 computes it "
        "for the whole batch. The other training steps go into the towers.",
        before=_SCRIPT.format(search=_SEARCH),
        after=_SCRIPT.format(search=""),
        references=("docs: TMG224, variables with the batch size in their shape",),
    ),
)


@check(Selected)
def stays_on_one_gpu(case: Selected) -> Iterator[Diagnostic]:
    """Steps that only search values for a trained model."""
    for step in case.searches:
        yield warn(
            case.facts,
            step.call,
            "TMG379",
            "the variables that this step trains have a row for each example: it stays on one GPU, outside of the "
            "towers, and takes the whole batch",
            "where this search takes the time, run it with the original script on one GPU",
        )
