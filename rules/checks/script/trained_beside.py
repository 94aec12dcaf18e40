"""Beside the training step that the towers take, an Estimator or Keras trains something."""

from __future__ import annotations

from collections.abc import Iterator

from converter.analysis.effects import EffectKind
from converter.diagnostics import Diagnostic
from converter.planner.cases import Placed
from converter.planner.checking import check
from converter.planner.writing.findings import warn
from converter.rule import Rule
from rules.checks.script.other_training import of_library

SCRIPT = """\
import numpy as np
import tensorflow as tf

batch_size = 64
images, labels = np.random.rand(6400, 784).astype('float32'), np.random.randint(10, size=6400)
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
logits = tf.layers.dense(X, 10)
loss = tf.losses.sparse_softmax_cross_entropy(Y, logits)
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for begin in range(0, len(images), batch_size):
        rows = slice(begin, begin + batch_size)
        sess.run(train_op, {X: images[rows], Y: labels[rows]})
"""
BESIDE = """
columns = [tf.feature_column.numeric_column('image', [784])]
estimator = tf.estimator.DNNClassifier([64], columns, n_classes=10)
estimator.train(tf.estimator.inputs.numpy_input_fn({'image': images}, labels, shuffle=True), steps=100)
"""

RULES = (
    Rule(
        code="TMG398",
        title="an Estimator or Keras trains beside the towers, on one GPU",
        why="The towers take the training steps of the script's own session. What an Estimator or a Keras model trains "
        "in the same script (train(), fit()) gets no towers: it goes on training on one GPU. If it takes the same "
        "batch size, that grows with the number of GPUs: give it a number of its own. Put it in a script of its own, "
        "and convert that one: an Estimator or a Keras model gets a distribution strategy (TMG150, TMG153).",
        before=SCRIPT + BESIDE,
        after=SCRIPT,
    ),
)


@check(Placed)
def trained_on_one_gpu(case: Placed) -> Iterator[Diagnostic]:
    """Calls that train an Estimator or a Keras model, in a script that gets towers."""
    grows = case.options.batch == "per-gpu" and case.size.scaled
    batches = ", with N times the batch where it takes the script's batch size" if grows else ""
    for effect in case.facts.effects_of(EffectKind.TRAINED_BY_LIBRARY):
        name = of_library(case.facts, effect)
        yield warn(
            case.facts,
            effect.node,
            "TMG398",
            f"this trains {name}, which gets no towers: it goes on training on one GPU{batches}",
            "put it in a script of its own, and convert that one",
        )
