"""The result of a call is known only from a run of the script."""

from __future__ import annotations

from collections.abc import Iterator

from converter.analysis.effects import EffectKind
from converter.diagnostics import Diagnostic
from converter.planner.cases import Placed
from converter.planner.checking import check
from converter.planner.writing.findings import warn
from converter.rule import Rule

_SCRIPT = """\
import tensorflow as tf
{imported}
batch_size = 64
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
logits = {model}
loss = tf.losses.sparse_softmax_cross_entropy(Y, logits)
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels = next_batch(batch_size)
        sess.run(train_op, {{X: images, Y: labels}})
"""

RULES = (
    Rule(
        code="TMG309",
        title="the result of a call is known only from a run of the script",
        why="The analysis does not follow calls into other packages, or of functions whose names are only known as the "
        "script runs. With --trace the script is run up to its first training step, and each tensor that such a call "
        "gave is computed for the batch, for both parts of it, and for the batch in another order: a row for each "
        "example, a mean or a sum over them, or nothing of these, and then the script stays refused. What was seen "
        "stands in the header as --traced LINE:COLUMN=FACT, by the call's closing parenthesis. It held for one batch "
        "at the first weights: prove the conversion.",
        before=_SCRIPT.format(imported="import networks\n", model="networks.classifier(X)"),
        after=_SCRIPT.format(imported="", model="tf.layers.dense(X, 10)"),
        options=("--traced", "7:31=example:0/-x10+variables"),
    ),
)


@check(Placed)
def known_from_a_run(case: Placed) -> Iterator[Diagnostic]:
    """Calls whose results are known from a run of the script (`--trace`)."""
    for effect in case.facts.effects:
        if effect.kind is EffectKind.TRACED:
            yield warn(
                case.facts,
                effect.node,
                "TMG309",
                f"the result of this call is known only from a run of the script: {effect.name}",
                "prove the conversion with `tf-multigpu verify`",
            )
