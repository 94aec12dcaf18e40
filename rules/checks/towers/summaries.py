"""Summaries, savers and other host side objects: they stay after the loop."""

from __future__ import annotations

from collections.abc import Iterator

from converter.analysis.effects import EffectKind
from converter.diagnostics import Diagnostic
from converter.planner.cases import Placed
from converter.planner.checking import check
from converter.planner.writing.findings import warn
from converter.rule import Rule

RULES = (
    Rule(
        code="TMG315",
        title="a summary of the model shows one tower's share of each batch",
        why="Where a function of the model makes summaries, each tower makes them of its own shard, and tf.summary "
        "takes the tower's name scope into the tag; those of the first tower are kept in the collection. A "
        "histogram or an image of a share is what one GPU shows, in batches of one tower; a mean is that of this "
        "share, not of the whole batch. Summaries that are made after the loss show the whole batch, under the tags "
        "that they have on one GPU.",
        before="""\
import tensorflow as tf

batch_size = 64
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.float32, [None, 1])


def mean_error(prediction):
    loss = tf.reduce_mean(tf.square(prediction - Y))
    tf.summary.scalar('loss', loss)
    return loss


loss = mean_error(tf.layers.dense(X, 1))
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)
merged = tf.summary.merge_all()

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, targets = next_batch(batch_size)
        sess.run([train_op, merged], {X: images, Y: targets})
""",
        after="""\
import tensorflow as tf

batch_size = 64
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.float32, [None, 1])


def mean_error(prediction):
    return tf.reduce_mean(tf.square(prediction - Y))


loss = mean_error(tf.layers.dense(X, 1))
tf.summary.scalar('loss', loss)
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)
merged = tf.summary.merge_all()

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, targets = next_batch(batch_size)
        sess.run([train_op, merged], {X: images, Y: targets})
""",
        references=(
            "docs: TMG107, the collections of the towers",
            "the tag is the name scope of the summary (tensorflow/python/ops/summary_op_util.py, summary_scope, 1.15)",
        ),
    ),
)


@check(Placed)
def summaries_of_the_model(case: Placed) -> Iterator[Diagnostic]:
    """Summaries that the towers make: each has its own, of its shard and under its scope. Says so once."""
    for effect in case.facts.effects:
        made = effect.kind is EffectKind.COLLECTION and effect.name == "summaries"
        if made and any(region.in_tower(effect.site) for region in case.regions):
            yield warn(
                case.facts,
                effect.node,
                "TMG315",
                "this summary is made by the model: it shows one tower's share of each batch, under a tag that "
                "begins with tower_0",
                "make it after the loss where it should show the whole batch under its own tag",
            )
            return
