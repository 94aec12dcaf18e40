"""Optimizers that average the variables, which must then lie on the device of the averages."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import replace

from converter.analysis.facts import TrainStep
from converter.analysis.traits import Trait, has
from converter.analysis.values import Typed
from converter.options import Options


def averaging(steps: Iterable[TrainStep]) -> list[ast.AST]:
    """The calls that create the optimizers that average variables behind their update, of these training steps."""
    made = {id(step.optimizer): step.optimizer for step in steps}
    return [
        one.node
        for one in made.values()
        if isinstance(one, Typed) and one.node and has(one.name.rpartition(".")[2], Trait.AVERAGES_BEHIND_STEP)
    ]


def held_together(options: Options, steps: Iterable[TrainStep]) -> Options:
    """The options with the variables on the first GPU, if they are to lie on the CPU and an optimizer averages them.

    TensorFlow places the averages on a GPU, which would read copies of variables that lie elsewhere.
    """
    return replace(options, variables="gpu:0") if options.variables == "cpu" and averaging(steps) else options
