"""As many examples as a batch has are set aside for the validation or the test."""

from __future__ import annotations

from collections.abc import Iterator

from converter.analysis.values import Host, Number
from converter.diagnostics import Diagnostic
from converter.planner.cases import Placed
from converter.planner.checking import check
from converter.planner.writing.findings import warn
from converter.rule import Rule

SCRIPT = """\
import numpy as np
import tensorflow as tf
from sklearn.model_selection import train_test_split

batch_size = 64{own}
images, labels = np.random.rand(6400, 784), np.random.randint(10, size=6400)
images, held_images, labels, held_labels = train_test_split(images, labels, test_size={size}, random_state=1)
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
logits = tf.layers.dense(X, 10)
loss = tf.losses.sparse_softmax_cross_entropy(Y, logits)
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for begin in range(0, len(images), batch_size):
        rows = slice(begin, begin + batch_size)
        sess.run(train_op, {{X: images[rows], Y: labels[rows]}})
    print(sess.run(loss, {{X: held_images, Y: held_labels}}))
"""

RULES = (
    Rule(
        code="TMG395",
        title="as many examples as a batch has are set aside for the validation or the test",
        why="With N GPUs a batch has N times as many examples, and so many are set aside then: fewer are left to train "
        "on, and they are others than before. Another script that sets aside as many as one GPU's batch has, to "
        "evaluate or predict, would count examples to the validation that were trained on. Give that number a name of "
        "its own.",
        before=SCRIPT.format(own="", size="batch_size"),
        after=SCRIPT.format(own="\nheld = 64", size="held"),
    ),
)

SPLITS = ("sklearn.model_selection.train_test_split", "sklearn.cross_validation.train_test_split")


@check(Placed)
def set_aside(case: Placed) -> Iterator[Diagnostic]:
    """Calls that split the examples after as many as a batch has."""
    if case.options.batch != "per-gpu":
        return
    found = {
        node: None
        for (_, node), value in case.facts.results.items()
        if isinstance(value, Host)
        and value.call in SPLITS
        and node is value.node
        and any(isinstance(given, Number) and given.linear & case.size.scaled for given in value.inputs)
    }
    for node in found:
        yield warn(
            case.facts,
            node,
            "TMG395",
            "as many examples as a batch has are set aside here, N times as many with N GPUs: fewer examples, and "
            "others, are left to train on",
            "give the number of examples that are set aside a name of its own",
        )
