"""A variable is made with the batch size in its shape."""

from __future__ import annotations

from collections.abc import Iterator

from converter.analysis.facts import behind_losses
from converter.analysis.values import Number, ShapeOf, Tensor, Value, Variable
from converter.diagnostics import Diagnostic
from converter.planner.cases import Placed
from converter.planner.checking import check
from converter.planner.writing.findings import error
from converter.rule import Rule

RULES = (
    Rule(
        code="TMG224",
        title="a variable is made with the batch size in its shape",
        why="Such a variable has a value for each place of a batch (a state that is carried from one batch "
        "to the next, a bias per row). A tower has only some of the places, and the global batch has N "
        "times as many as the checkpoint of the original. No share of the variable would be right. Make "
        "its shape independent of the batch size; a state that is carried over can be fed and fetched.",
        before="""\
import tensorflow as tf

batch_size = 64
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
bias = tf.get_variable('bias', [batch_size, 10])
logits = tf.layers.dense(X, 10) + bias
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
bias = tf.get_variable('bias', [10])
logits = tf.layers.dense(X, 10) + bias
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

FED_STATE = (  # what to write in place of a variable that holds a state for each example
    "write a placeholder of that shape in its place, feed zeros to the first step, fetch the new state of each step "
    "and feed it to the next; a state that nothing assigns is tf.zeros([batch_size, …])"
)


@check(Placed)
def made_with_the_batch_size(case: Placed) -> Iterator[Diagnostic]:
    """Variables with the batch size in their shape: they have a value for each place of a batch, a shard has fewer."""
    keys = {o.key for o in case.size.origins}
    own = "make its shape independent of the batch size: [1, …] for all examples"
    for value in behind_losses(case.steps).values():
        if isinstance(value, Variable) and any(o.key in keys for n in _numbers_behind(value) for o in n.origins):
            yield error(
                case.facts,
                value.node or case.steps[0].call,
                "TMG224",
                "this variable is made with the batch size in it",
                own if value.trainable else FED_STATE,
            )


def _numbers_behind(variable: Variable) -> list[Number]:
    """The numbers that a variable's shape and initial value are made of, not those behind other tensors' shapes."""
    found: list[Number] = []
    todo: list[Value] = list(variable.inputs)
    seen: set[int] = set()
    while todo:
        value = todo.pop()
        batched = isinstance(value, Tensor) and bool(value.roots)
        if value.uid in seen or batched or isinstance(value, (ShapeOf, Variable)):
            continue
        seen.add(value.uid)
        if isinstance(value, Number):
            found.append(value)
        todo += [*value.inputs, *value.parts()]
    return found
