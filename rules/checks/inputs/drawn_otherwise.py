"""Random draws of which a larger batch makes fewer or more."""

from __future__ import annotations

from collections.abc import Iterator

from converter.diagnostics import Diagnostic
from converter.planner.cases import Placed
from converter.planner.checking import check
from converter.planner.host.random_draws import drawn_from_buffers, shuffled_batches
from converter.planner.writing.findings import warn
from converter.rule import Rule

_SCRIPT = """\
import numpy as np
import tensorflow as tf

batch_size = 64
images, labels = np.load('images.npy'), np.load('labels.npy')
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
logits = tf.layers.dense(X, 10)
loss = tf.losses.sparse_softmax_cross_entropy(Y, logits)
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for epoch in range(10):
"""
_BEFORE = """\
        for number in np.random.permutation(len(images) // batch_size):
            begin, end = number * batch_size, (number + 1) * batch_size
            sess.run(train_op, {X: images[begin:end], Y: labels[begin:end]})
"""
_AFTER = """\
        order = np.random.permutation(len(images))
        for begin in range(0, len(images) - batch_size + 1, batch_size):
            rows = order[begin:begin + batch_size]
            sess.run(train_op, {X: images[rows], Y: labels[rows]})
"""

_BUFFER = """\
import random

import numpy as np
import tensorflow as tf

batch_size = 64
images, labels = np.load('images.npy'), np.load('labels.npy')
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
logits = tf.layers.dense(X, 10)
loss = tf.losses.sparse_softmax_cross_entropy(Y, logits)
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)
memory = {memory}

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for image, label in zip(images, labels):
        {added}
        if len(memory) > 1000:
            batch = random.sample(memory, batch_size)
            rows, classes = np.array([one[0] for one in batch]), np.array([one[1] for one in batch])
            sess.run(train_op, {{X: rows, Y: classes}})
"""

RULES = (
    Rule(
        code="TMG347",
        title="whole batches are put into a random order",
        why="Where whole batches are shuffled, or their numbers, there are fewer of them if a batch is larger, so the "
        "order is another one, also from the same seed; neighbours within a batch stay together, now N times as many. "
        "The steps are those of towers all the same; only the examples in them are others, and `verify` lists the data "
        "as a difference. Rows that are shuffled, and cut into batches then, come in the original's order.",
        before=_SCRIPT + _BEFORE,
        after=_SCRIPT + _AFTER,
        references=("docs: TMG110, the batch size",),
    ),
    Rule(
        code="TMG348",
        title="a step draws more rows from what the script collects",
        why="A replay buffer grows while the model acts. For one step the script now draws N times as many rows of the "
        "buffer as it is then, where N steps would have drawn after each other from one that went on growing; and the "
        "buffer must hold as many before the first step, else random.sample raises an error. The steps are those of "
        "towers all the same, with other examples in them, which `verify` lists as a difference. With `--batch total` "
        "the towers share the rows that the script draws now.",
        before=_BUFFER.format(memory="[]", added="memory.append((image, label))"),
        after=_BUFFER.format(memory="list(zip(images, labels))", added="pass"),
        references=("docs: TMG311, the model acts between the training steps",),
    ),
)


@check(Placed)
def shuffled(case: Placed) -> Iterator[Diagnostic]:
    """Batches in a random order, if the batch grows."""
    for node in shuffled_batches(case.facts, case.size.scaled) if case.options.batch == "per-gpu" else ():
        yield warn(
            case.facts,
            node,
            "TMG347",
            "whole batches are put into a random order here: larger ones are fewer, and come in another order from the "
            "same seed",
            "shuffle the examples, and cut them into batches then, if their order matters",
        )


@check(Placed)
def collected(case: Placed) -> Iterator[Diagnostic]:
    """Rows that are drawn from what the script collects, if the batch grows."""
    for node in drawn_from_buffers(case.facts, case.size.scaled) if case.options.batch == "per-gpu" else ():
        yield warn(
            case.facts,
            node,
            "TMG348",
            "a step draws N times as many rows here from what the script collects: not those that N steps would draw, "
            "and there must be as many before the first step",
            "collect N times as many before the first step, and between steps, where the ratio of both matters",
        )
