"""Whether no gradient of a script can be sparse: such a script averages gradients in fewer lines."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from converter.analysis.effects import EffectKind
from converter.analysis.facts import Facts
from converter.analysis.traits import Trait, has
from converter.analysis.values import ShapeOf, Tensor, Value, Variable
from converter.planner.region.region import Region
from converter.planner.towers.partitioned.variable_lists import last_name

ROWS = (Trait.TAKES_ROWS, Trait.MAKES_TABLES)


def all_dense(facts: Facts, regions: Iterable[Region], helpers: Iterable[str]) -> bool:
    """True if no gradient of the script can be IndexedSlices.

    TensorFlow gives IndexedSlices where rows of a variable are taken (array_ops.gather, embedding_ops.py, 1.15).
    tf.gradients may be asked for those of any tensor.
    """
    if {"gradients_of_towers", "TowerOptimizer"} & set(helpers):
        return False
    made = [*facts.effects_of(EffectKind.VARIABLE), *facts.effects_of(EffectKind.OBJECT_VARIABLE)]
    if not all(isinstance(e.value, Variable) or has(e.name, Trait.DENSE_GRADIENT) for e in made):
        return False
    if any(has(last_name(call), trait) for call in facts.nodes(ast.Call) for trait in ROWS):
        return False
    return all(_is_dense(value) for region in regions for value in region.needed.values())


def _is_dense(value: Value) -> bool:
    """Whether a value takes no variable, or takes it in a way that is known."""
    if isinstance(value, ShapeOf) or not any(isinstance(taken, Variable) for taken in value.inputs):
        return True
    return isinstance(value, Tensor) and has(value.op, Trait.DENSE_GRADIENT)
