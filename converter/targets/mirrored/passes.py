"""The passes for scripts that an Estimator or Keras trains, in their order."""

from __future__ import annotations

import ast
from functools import partial

from converter.analysis.traits import Trait
from converter.source.quick_checks import may_train_by_imported_keras
from converter.syntax.known import is_known
from converter.syntax.script import Script
from converter.targets.mirrored.copies import copied, imports_package, is_of_package
from converter.targets.mirrored.counts import batch_counts
from converter.targets.mirrored.decisions import of_estimator, of_keras
from converter.targets.mirrored.estimator import Replicated, configurations, estimators, hooks, inputs, model_functions
from converter.targets.mirrored.keras import batches, differences, keras_fits, scopes
from converter.targets.mirrored.program import Program, program_of
from converter.targets.mirrored.replicated import keras_code
from converter.targets.mirrored.sessions import sessions_of_the_script
from converter.targets.mirrored.strategy import check_devices, no_other_means
from converter.targets.passes import Case, Fit, TargetPass, adding


def fit(script: Script) -> Fit | None:
    """What trains a script, and the passes for it; None for a session, and for what is no training script."""
    if any(sessions_of_the_script(script)):
        return None
    if made := estimators(script):
        return Fit(made[0], ESTIMATOR)
    elsewhere = may_train_by_imported_keras(script.text.encode())
    program = program_of(script) if elsewhere or imports_package(script) else None
    if program is not None and is_of_package(program) and program.trainings:
        file, call = program.trainings[0]
        return Fit(call if file is script else script.tree.body[0], _copies(program))
    fits = keras_fits(script) if _mentions_keras(script) else []
    return Fit(fits[0], KERAS) if fits else None


def _mentions_keras(script: Script) -> bool:
    return any(
        is_known(script, node, Trait.KERAS)
        for node in ast.walk(script.tree)
        if isinstance(node, ast.Attribute | ast.Name)
    )


def counts(case: Case) -> Case:
    """Numbers that count batches follow the batch of all GPUs, but for those that replicas compute."""
    inside = case.inside if isinstance(case, Replicated) else keras_code(case.script)
    return adding(case, batch_counts(case.script, case.options, inside))


ESTIMATOR = (
    TargetPass("no other means of using several GPUs", no_other_means, ends=True),
    TargetPass("GPUs that are hidden from the strategy", check_devices),
    TargetPass("the strategy in the configuration of each Estimator", configurations),
    TargetPass("what replicas of the model functions do", model_functions),
    TargetPass("what hooks feed", hooks),
    TargetPass("training input as datasets", inputs),
    TargetPass("numbers that count batches", counts),
    TargetPass("what was decided", of_estimator),
)
KERAS = (
    TargetPass("no other means of using several GPUs", no_other_means, ends=True),
    TargetPass("GPUs that are hidden from the strategy", check_devices),
    TargetPass("what a strategy refuses, or changes", differences),
    TargetPass("models under the strategy", scopes),
    TargetPass("the batches of fit()", batches),
    TargetPass("numbers that count batches", counts),
    TargetPass("what was decided", of_keras),
)


def _copies(program: Program) -> tuple[TargetPass, ...]:
    """The passes for a program of the package keras, whose files are read once."""
    return (
        TargetPass("no other means of using several GPUs", no_other_means, ends=True),
        TargetPass("GPUs that are hidden from the copies", check_devices),
        TargetPass("the model of the copies", partial(copied, program)),
    )
