"""Batch norms: whether they normalise with statistics of the batch, or are not in training."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from converter.analysis.effects import BATCH_NORMS, EffectKind
from converter.analysis.facts import Effect, Facts
from converter.analysis.python.settings import default_of
from converter.analysis.traits import Trait, has
from converter.analysis.values import Constant, Input, Tensor, Value, needed


def norms_behind(facts: Facts, loss: Tensor) -> Iterator[Effect]:
    """The batch norms that a loss is computed through and that may be in training; scopes that may give layers some."""
    return norms_among(facts, needed([loss]).values())


def norms_among(facts: Facts, values: Iterable[Value]) -> Iterator[Effect]:
    """Batch norms that may be in training, among the values that a loss is computed from."""
    norms = [effect for kind in BATCH_NORMS for effect in facts.effects_of(kind) if may_train(effect)]
    nodes = {effect.node for effect in norms}
    made = {(v.node, v.site) for v in values if isinstance(v, Tensor) and v.node in nodes} if nodes else set()
    for effect in sorted(norms, key=lambda norm: norm.time):
        if (effect.node, effect.site) in made or effect.kind is EffectKind.BATCH_NORM_SCOPE:
            yield effect


def may_train(norm: Effect) -> bool:
    """True unless a batch norm is told that it is not in training."""
    return not (isinstance(norm.value, Constant) and not norm.value.value)


def trains(facts: Facts, trained: set[int], norm: Effect) -> bool:
    """True if a batch norm is told to be in training: directly, by a flag's default, or as training steps are fed.

    trained: the uids of the training steps' results.
    """
    told = norm.value
    if isinstance(told, Constant):
        return told.value is True
    if default_of(facts, told) is True:
        return True
    if not isinstance(told, Input) or has(told.op, Trait.HAS_DEFAULT):
        return False
    runs = [run for run in facts.runs if run.computes(trained)]
    fed = [value for run in runs for key, value in run.feeds if key is told]
    return bool(fed) and all(isinstance(value, Constant) and value.value is True for value in fed)
