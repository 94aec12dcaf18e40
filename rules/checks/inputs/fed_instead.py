"""A value that the model computes is fed."""

from __future__ import annotations

from collections.abc import Iterator

from converter.analysis.values import Input, Variable, tensors_in
from converter.diagnostics import Diagnostic
from converter.planner.cases import Placed
from converter.planner.checking import check
from converter.planner.writing.findings import error
from converter.rule import Rule

RULES = (
    Rule(
        code="TMG223",
        title="a value that the model computes is fed",
        why="TensorFlow lets any tensor be fed. Each tower computes a tensor of its own, and a merged tensor stands "
        "for them after the loop; feeding the merged tensor would leave the towers' own tensors unchanged. Put what "
        "follows it into a function (the decoder of an autoencoder, say), call that once more on a placeholder with "
        "the same variables (reuse=True), and feed the placeholder.",
        before="""\
import tensorflow as tf

batch_size = 64
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
hidden = tf.layers.dense(X, 64)
logits = tf.layers.dense(hidden, 10)
loss = tf.losses.sparse_softmax_cross_entropy(Y, logits)
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels = next_batch(batch_size)
        sess.run(train_op, {X: images, Y: labels})
    print(sess.run(logits, {hidden: load_hidden()}))
""",
        after="""\
import tensorflow as tf

batch_size = 64
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
hidden = tf.layers.dense(X, 64)
logits = tf.layers.dense(hidden, 10)
loss = tf.losses.sparse_softmax_cross_entropy(Y, logits)
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)
H = tf.placeholder(tf.float32, [None, 64])
with tf.variable_scope(tf.get_variable_scope(), reuse=True):
    decoded = tf.layers.dense(H, 10, name='dense_1')

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels = next_batch(batch_size)
        sess.run(train_op, {X: images, Y: labels})
    print(sess.run(decoded, {H: load_hidden()}))
""",
    ),
)


BEFORE = "make a placeholder before the model, let the model read that, and feed it"
AGAIN = "build what follows it once more on a placeholder, with reuse=True, and feed that"


@check(Placed)
def fed_in_its_stead(case: Placed) -> Iterator[Diagnostic]:
    """Runs that feed a value which the towers compute."""
    trained = {step.result.uid for step in case.facts.train_steps}
    trains = any(run.computes(trained) for run in case.facts.runs)
    elsewhere = "convert the script that runs the training step: this one only builds it"
    for run in case.facts.runs:
        for key, _ in run.feeds:
            made = [t for t in tensors_in(key) if not isinstance(t, (Input, Variable))]
            if any(region.in_tower(t.site) for region in case.regions for t in made):
                yield error(
                    case.facts,
                    run.call,
                    "TMG223",
                    f"{key.label or 'a value'} is computed by the model, and this run feeds a value in its place",
                    (BEFORE if run.computes(trained) else AGAIN) if trains else elsewhere,
                )
