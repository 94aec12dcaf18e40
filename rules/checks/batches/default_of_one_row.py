"""An input gets a default value with a single row."""

from __future__ import annotations

from collections.abc import Iterator

from converter.analysis.effects import EffectKind
from converter.diagnostics import Diagnostic
from converter.planner.cases import Placed
from converter.planner.checking import check
from converter.planner.writing.findings import error
from converter.rule import Rule

_DEFAULT = """\
import tensorflow as tf

batch_size = 64
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
noise = tf.placeholder_with_default({default}, [None, 784])
logits = tf.layers.dense(X + noise, 10)
loss = tf.losses.sparse_softmax_cross_entropy(Y, logits)
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels, noises = next_batch(batch_size)
        sess.run(train_op, {X: images, Y: labels, noise: noises})
    print(sess.run(loss, {X: images, Y: labels}))
"""

RULES = (
    Rule(
        code="TMG243",
        title="an input gets a default value with a single row",
        why="tf.placeholder_with_default takes the default where nothing is fed. A default with a single row works "
        "with a batch of any size on one GPU, because TensorFlow broadcasts it; but the towers cut their rows out of "
        "every input, and only the first would find one. Give it a default with a row for each example, made of the "
        "size of another input, or feed it in every run.",
        before=_DEFAULT.replace("{default}", "tf.zeros([1, 784])"),
        after=_DEFAULT.replace("{default}", "tf.zeros([tf.shape(X)[0], 784])"),
        references=("docs: TMG103, which inputs are cut",),
    ),
)


@check(Placed)
def left_to_its_default(case: Placed) -> Iterator[Diagnostic]:
    """Runs that leave an input to a default that has one row for all examples."""
    facts = case.facts
    inputs = {i.uid for region in case.regions for i in region.inputs}
    single = {e.value.uid for e in facts.effects_of(EffectKind.DEFAULT_OF_ONE_ROW) if e.value is not None} & inputs
    for run in facts.runs if single else ():
        keys = {key.uid for key, _ in run.feeds}
        if keys & inputs and single - keys:
            yield error(
                facts,
                run.call,
                "TMG243",
                "this run does not feed an input whose default has one row for all examples: it cannot be cut into "
                "shards",
                "feed it, or give it a default with a row for each example",
            )
