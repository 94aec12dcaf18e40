"""Statements that build batch norms beside the loss: their statistics are those of each tower's examples, too.

    with tf.variable_scope('decoder'):
        made = decode(code, training)
        shown = decode(other, training, reuse=True)  # updates the moving averages of the same layers

A training step runs the updates of both. Behind the loop `shown` would be normalised by the examples of all towers.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from converter.analysis.effects import EffectKind
from converter.analysis.facts import TrainStep
from converter.analysis.values import Input, Tensor, Value, needed
from converter.planner.questions.batch_statistics import may_train
from converter.planner.region.block import Block


def takes_statistics(block: Block, index: int) -> bool:
    """Whether a statement of a block builds a batch norm that may be in training."""
    return any(e.kind is EffectKind.BATCH_NORM and may_train(e) for e in block.effects_in([index]))


def normalised_behind(
    block: Block, tower: set[int], inputs: Iterable[Input], steps: Iterable[TrainStep]
) -> frozenset[int]:
    """Statements between the loss and the training step that build batch norms of the towers' batches alone."""
    last = max(tower)
    trained = min((i for s in steps if (i := block.statement(s.site)) is not None), default=len(block.body))
    found = [i for i in range(last + 1, trained) if takes_statistics(block, i)]
    found = [i for i in found if isinstance(block.body[i], (ast.Assign, ast.With))]
    own = {value.uid for value in inputs}
    return frozenset(i for i in found if _reads_only(own, _normalised(block, i)))


def _normalised(block: Block, index: int) -> list[Tensor]:
    """The results of the batch norms that a statement builds."""
    nodes = {e.node for e in block.effects_in([index]) if e.kind is EffectKind.BATCH_NORM}
    return [t for t in block.facts.tensors if t.node in nodes and block.statement(t.site) == index]


def _reads_only(own: set[int], values: Iterable[Value]) -> bool:
    """Whether some values are computed from batches, and from none but those with these uids."""
    batches = {v.uid for v in needed(values).values() if isinstance(v, Input) and v.is_batch}
    return bool(batches) and batches <= own
