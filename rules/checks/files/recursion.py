"""Forms of a program: functions that call themselves, properties that build."""

from __future__ import annotations

from collections.abc import Iterator

from converter.analysis.effects import EffectKind
from converter.analysis.facts import Facts, behind_losses
from converter.analysis.values import Host, Value, tensors_in
from converter.diagnostics import Diagnostic
from converter.planner.cases import Selected
from converter.planner.checking import check
from converter.planner.writing.findings import error
from converter.rule import Rule

RULES = (
    Rule(
        code="TMG232",
        title="the model is built by a function that calls itself",
        why="The building of the graph is followed call by call, and a function that calls itself only for one "
        "turn: when it would stop depends on values that only a run of the script knows. What lies beyond "
        "could be anything, a variable, a batch, a second loss. Build the layers in a loop.",
        before="""\
import tensorflow as tf

batch_size = 64
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])


def stack(x, depth):
    return x if depth == 0 else stack(tf.layers.dense(x, 64, tf.nn.relu), depth - 1)


logits = tf.layers.dense(stack(X, 3), 10)
loss = tf.losses.sparse_softmax_cross_entropy(Y, logits)
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
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


def stack(x, depth):
    for _ in range(depth):
        x = tf.layers.dense(x, 64, tf.nn.relu)
    return x


logits = tf.layers.dense(stack(X, 3), 10)
loss = tf.losses.sparse_softmax_cross_entropy(Y, logits)
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels = next_batch(batch_size)
        sess.run(train_op, {X: images, Y: labels})
""",
    ),
)


@check(Selected)
def model_calls_itself(case: Selected) -> Iterator[Diagnostic]:
    """Functions that call themselves are followed for one turn, so a model built by them is not seen as a whole."""
    behind = {uid for uid, value in behind_losses(case.steps).items() if isinstance(value, Host)}
    for effect in case.facts.effects:
        if effect.kind is not EffectKind.RECURSION or effect.value is None or effect.value.uid not in behind:
            continue
        if _builds(case.facts, effect.value):
            yield error(
                case.facts,
                effect.node,
                "TMG232",
                f"the model is built by {effect.name}, which calls itself",
                "build it in a loop",
            )


def _builds(facts: Facts, result: Value) -> bool:
    """Whether tensors take part in a call that is not followed any deeper: given to it, or made by the function.

    A function that walks through folders, or through lists of numbers, gives the model nothing but numbers.
    """
    function, *given = result.inputs
    if any(tensor for value in given for tensor in tensors_in(value)):
        return True
    sites = (tensor.site for tensor in facts.tensors if tensor.site is not None)
    return any(around.frame.function is function for site in sites for around in site.chain())
