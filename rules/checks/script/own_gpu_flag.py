"""Scripts with a flag of their own for the number of GPUs: the towers are counted by another one."""

from __future__ import annotations

from collections.abc import Iterator

from converter.diagnostics import Diagnostic
from converter.planner.cases import Selected
from converter.planner.checking import check
from converter.planner.host.gpu_count import OWN_FLAGS
from converter.planner.writing.findings import warn
from converter.rule import Rule

_SCRIPT = """\
import argparse

import tensorflow as tf

parser = argparse.ArgumentParser()
parser.add_argument('--batch_size', type=int, default=64)
{flag}args = parser.parse_args()
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
loss = tf.losses.sparse_softmax_cross_entropy(Y, tf.layers.dense(X, 10))
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels = next_batch(args.batch_size)
        sess.run(train_op, {X: images, Y: labels})
"""

RULES = (
    Rule(
        code="TMG334",
        title="the script's own flag for GPUs does not count the towers",
        why="The script has a flag for the number of its GPUs, which it may use in ways of its own: to scale a batch "
        "size, to number devices. The conversion does not know which, and leaves it as it is; the towers are as many "
        "as `convert --num-gpus` says. A batch size that the script multiplies by this flag is multiplied twice where "
        "it is not 1. Leave the flag out before the conversion: then a flag of this name counts the towers.",
        before=_SCRIPT.replace("{flag}", "parser.add_argument('--num_gpus', type=int, default=1)\n"),
        after=_SCRIPT.replace("{flag}", ""),
        references=("docs: TMG112, the number of GPUs",),
    ),
)


@check(Selected)
def own_flags(case: Selected) -> Iterator[Diagnostic]:
    """Flags for the number of GPUs."""
    for flag in case.facts.flags:
        if flag.name in OWN_FLAGS:
            yield warn(case.facts, flag.call, "TMG334",
                       f"the script's own flag {flag.name} does not count the towers: convert --num-gpus does",
                       "leave it 1 in runs, or take it out before the conversion, which adds one of this name",
                       )  # fmt: skip
