"""Layers that would be computed once for the whole batch, outside of the towers."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from converter.analysis.facts import TrainStep, behind_losses
from converter.analysis.traits import Trait, has
from converter.analysis.values import Input, Tensor, Value, needed
from converter.diagnostics import Diagnostic
from converter.planner.cases import Placed
from converter.planner.checking import check
from converter.planner.region.layers import SHARE, layers_in
from converter.planner.region.region import Region
from converter.planner.writing.findings import error
from converter.rule import Rule

_SCRIPT = """\
import tensorflow as tf

batch_size = 64
images = tf.data.Dataset.from_tensor_slices(load_images()).repeat().batch(batch_size).make_one_shot_iterator()
labels = tf.data.Dataset.from_tensor_slices(load_labels()).repeat().batch(batch_size).make_one_shot_iterator()
X = images.get_next()
{before}hidden = tf.layers.dense(X, 256, activation=tf.nn.relu)
logits = tf.layers.dense(hidden, 10)
per_example = tf.nn.sparse_softmax_cross_entropy_with_logits(labels={labels}, logits=logits)
loss = tf.reduce_mean(per_example)
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        sess.run(train_op)
"""

RULES = (
    Rule(
        code="TMG258",
        title="layers would be computed outside of the towers",
        why="Towers share the work of a step among the GPUs. Where the model's last input comes in behind its layers, "
        "the loop could only begin there: the layers would run once, for the whole batch and on one device, "
        "and more GPUs would make nothing faster. Statements that prepare a batch (casts, tf.one_hot, a look-up "
        "in a table) may run once for all towers; layers and products with variables may not, unless they "
        "are less than a tenth of those between the inputs and the loss. Make all inputs before the model.",
        before=_SCRIPT.replace("{before}", "").replace("{labels}", "labels.get_next()"),
        after=_SCRIPT.replace("{before}", "Y = labels.get_next()\n").replace("{labels}", "Y"),
        references=("docs: TMG204, inputs that are made by the same statement as the model",),
    ),
)


@check(Placed)
def layers_outside_of_towers(case: Placed) -> Iterator[Diagnostic]:
    """Towers that hold less than nine tenths of the layers between the inputs and the losses.

    Only operations that compute with weights count: what prepares a batch (casts, one_hot, a look-up in a table) may
    be computed once for all towers.
    """
    layers = layers_in(case.facts, _behind(case.steps, case.regions))
    outside = [t for t in layers if not _in_towers(t, case.steps, case.regions)]
    inside = len(layers) - len(outside)
    if inside >= SHARE * len(layers):
        return
    first = min(outside, key=lambda t: t.time)
    yield error(
        case.facts,
        first.node or case.steps[0].call,
        "TMG258",
        f"this layer would be computed once for the whole batch, on one device: of {len(layers)} layers "
        f"between the inputs and the loss, {inside} would be in the towers",
        "make all inputs before the model, in statements of their own",
    )


def _behind(steps: Iterable[TrainStep], regions: Iterable[Region]) -> list[Value]:
    """All that losses are computed from, and what computes the inputs of the towers."""
    found = dict(behind_losses(steps))
    todo = [i for region in regions for i in region.inputs]
    while todo:
        more = needed(todo.pop().inputs)
        todo += [v for uid, v in more.items() if isinstance(v, Input) and uid not in found]
        found.update(more)
    return list(found.values())


def _in_towers(tensor: Tensor, steps: Iterable[TrainStep], regions: Iterable[Region]) -> bool:
    if any(region.in_tower(tensor.site) or tensor.node in region.inline for region in regions):
        return True
    if any(region.exact for region in regions):
        # a margin or a temperature of the loss, which reads nothing of a batch but its merged results
        return has(tensor.op, Trait.ADDS) or has(tensor.op, Trait.SCALES)
    stmts: set[ast.stmt] = {step.site.stmt for step in steps}
    return tensor.site is not None and any(site.stmt in stmts for site in tensor.site.chain())
