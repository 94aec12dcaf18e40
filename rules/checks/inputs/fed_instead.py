"""A value that the model computes is fed."""

from __future__ import annotations

from collections.abc import Iterator

from converter.analysis.values import Input, Variable, tensors_in
from converter.diagnostics import Diagnostic
from converter.planner.cases import Placed
from converter.planner.checking import check
from converter.planner.found import Found
from converter.planner.towers.border.fed_results import is_fed_by_towers
from converter.planner.wording import Words
from converter.planner.writing.findings import error
from converter.rule import Rule

RULES = (
    Rule(
        code="TMG223",
        title="a value that the model computes is fed",
        why="TensorFlow lets any tensor be fed. Each tower computes a tensor of its own, and a merged tensor stands "
        "for them after the loop; feeding the merged tensor would leave the towers' own tensors unchanged. A value "
        "with one row for each example is fed to the towers in parts (TMG143), in runs that do not train. All others "
        "are refused: a mean over the batch, a tuple of states, what a training step feeds or a run in another file. "
        "Put what follows the value into a function, call that once more on a placeholder with the same variables "
        "(reuse=True), and feed the placeholder.",
        before="""\
import tensorflow as tf

batch_size = 64
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
hidden = tf.layers.dense(X, 64)
center = tf.reduce_mean(hidden, 0)
logits = tf.layers.dense(hidden - center, 10)
loss = tf.losses.sparse_softmax_cross_entropy(Y, logits)
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels = next_batch(batch_size)
        sess.run(train_op, {X: images, Y: labels})
    print(sess.run(logits, {X: load_images(), center: load_center()}))
""",
        after="""\
import tensorflow as tf

batch_size = 64
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
hidden = tf.layers.dense(X, 64)
center = tf.reduce_mean(hidden, 0)
logits = tf.layers.dense(hidden - center, 10)
loss = tf.losses.sparse_softmax_cross_entropy(Y, logits)
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)
C = tf.placeholder(tf.float32, [64])
with tf.variable_scope(tf.get_variable_scope(), reuse=True):
    centered = tf.layers.dense(hidden - C, 10, name='dense_1')

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels = next_batch(batch_size)
        sess.run(train_op, {X: images, Y: labels})
    print(sess.run(centered, {X: load_images(), C: load_center()}))
""",
    ),
)


BEFORE = "make a placeholder before the model, let the model read that, and feed it"
AGAIN = "build what follows it once more on a placeholder, with reuse=True, and feed that"

WORDS = {
    Found.FED_PART_OF_RESULTS: Words(
        "TMG223",
        "this run feeds a value of the model that towers do not compute by itself, row by row",
        AGAIN,
    ),
}


@check(Placed)
def fed_in_its_stead(case: Placed) -> Iterator[Diagnostic]:
    """Runs that feed a value which the towers compute."""
    trained = {step.result.uid for step in case.facts.train_steps}
    trains = any(run.computes(trained) for run in case.facts.runs)
    elsewhere = "convert the script that runs the training step: this one only builds it"
    for run in case.facts.runs:
        for key, _ in run.feeds:
            made = [t for t in tensors_in(key) if not isinstance(t, (Input, Variable))]
            if any(is_fed_by_towers(case.facts, region, run, key) for region in case.regions):
                continue
            if any(region.in_tower(t.site) for region in case.regions for t in made):
                yield error(
                    case.facts,
                    run.call,
                    "TMG223",
                    f"{key.label or 'a value'} is computed by the model, and this run feeds a value in its place",
                    (BEFORE if run.computes(trained) else AGAIN) if trains else elsewhere,
                )
