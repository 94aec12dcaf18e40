"""The decisions of a conversion for a distribution strategy, in words for the user."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import replace

from converter.plan.decisions import Decision
from converter.syntax.script import argument, is_given
from converter.targets.mirrored.counts import COUNTED
from converter.targets.mirrored.estimator import trainings
from converter.targets.mirrored.keras import keras_fits
from converter.targets.passes import Known

TRAIN = (("steps", 2), ("max_steps", 3))  # of Estimator.train; a TrainSpec takes max_steps second (TensorFlow 1.15.5)


def of_estimator(case: Known) -> Known:
    """The decisions about a script that an Estimator trains."""
    trained = trainings(case.script)
    specified = (("max_steps", 1),)
    limited = any(_limit(call, specified if case.script.name(call.func) else TRAIN) for call in trained)
    counted = any(change.code == COUNTED for change in case.changes)
    return _decided(case, "an Estimator trains", trained, limited and not counted)


def of_keras(case: Known) -> Known:
    """The decisions about a script that Keras trains."""
    fits = keras_fits(case.script)
    steps = [argument(call, 12, "steps_per_epoch") for call in fits]
    fixed = any(isinstance(given, ast.Constant) and given.value is not None for given in steps)
    return _decided(case, "Keras trains", fits, fixed)


def _limit(call: ast.Call, names: Iterable[tuple[str, int]]) -> bool:
    """Whether a number of steps is given, by one of these names and places of arguments."""
    return any(is_given(argument(call, place, name)) for name, place in names)


def _decided(case: Known, trains: str, calls: Iterable[ast.Call], limited: bool) -> Known:
    """A case with its decisions. limited: whether the script gives a number of steps that stays what it was."""
    number = "N" if case.options.num_gpus is None else str(case.options.num_gpus)
    lines = ", ".join(f"line {call.lineno}" for call in calls)
    if case.options.batch == "total":
        batch = ("the script's stays the total of a step, and the GPUs share it", "as it was, shared by the GPUs")
        epochs = "as many steps as before"
    else:
        batch = (f"the script's for each GPU: a step takes {number} batches", "for each GPU as it was")
        epochs = f"an epoch takes 1/{number} of the steps"
        epochs = f"as many steps take {number} times the examples" if limited else epochs
    made = [
        Decision("target", f"mirrored: {trains} here ({lines})", f"MirroredStrategy, as {trains}"),
        Decision("batch size", batch[0], f"batch size {batch[1]}"),
        Decision("epochs", epochs),
        Decision("learning rate", "unchanged", "learning rate unchanged"),
        Decision("variables", "a copy on each GPU", "variables copied to each GPU"),
    ]
    return replace(case, decisions=tuple(made))
