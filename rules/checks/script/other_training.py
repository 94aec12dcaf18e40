"""The script trains by an Estimator or by Keras."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from converter.analysis.effects import EffectKind
from converter.analysis.facts import Effect, Facts
from converter.diagnostics import Diagnostic
from converter.planner.cases import Selected
from converter.planner.checking import check
from converter.planner.questions.imported import convert_importing
from converter.planner.questions.statements import is_executed, uncalled_around
from converter.planner.wording import finding
from converter.planner.writing.findings import error

CODES = ("TMG220",)


@check(Selected, unless=("TMG216", "TMG235"))
def trains_by_other_means(case: Selected) -> Iterator[Diagnostic]:
    """Scripts whose sessions are made and run by an Estimator or by Keras."""
    other = next((e for e in case.facts.effects_of(EffectKind.OTHER_TRAINING)), None)
    if other is not None and not case.trains_on_batches:
        name = of_library(case.facts, other)
        yield finding(case.facts, other.node, "TMG220", name=name, advice=advice(name))


@check(Selected)
def trains_while_steps_are_not_called(case: Selected) -> Iterator[Diagnostic]:
    """Scripts that an Estimator or Keras trains, and whose own training steps stand in code that nothing calls."""
    trained = [e for e in case.facts.effects_of(EffectKind.TRAINED_BY_LIBRARY) if is_executed(e.site)]
    around = [getattr(uncalled_around(step.site), "name", "") for step in case.steps]
    if not trained or not around or not all(around):
        return
    name = of_library(case.facts, trained[0])
    yield error(
        case.facts,
        trained[0].node,
        "TMG220",
        f"this script trains by {name}: nothing here calls {around[0]}, which trains in a session",
        convert_importing(
            case.facts,
            case.steps[0].call,
            case.sources.users,
            f"leave {around[0]} out, and use several GPUs by its own means: {advice(name)}",
        ),
    )


def of_library(facts: Facts, other: Effect) -> str:
    """The full name of the call that trains, as messages show it; `keras.…` if it is the package's."""
    written = ast.unparse(other.node.func) if isinstance(other.node, ast.Call) else ""
    names = facts.imports.get(facts.path_of(other.node), {})
    if written.startswith("keras.") and "keras" not in names:
        return written
    of_package = other.name.startswith("tf.keras.") and _imports_package(facts.tree_of(facts.path_of(other.node)))
    return other.name.removeprefix("tf.") if of_package else other.name


def _imports_package(tree: ast.Module) -> bool:
    """Whether all that a file imports of Keras is the package's."""
    modules = [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and not node.level]
    modules += [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    of_keras = [module for module in modules if "keras" in module.split(".")]
    return bool(of_keras) and all(module.partition(".")[0] == "keras" for module in of_keras)


def advice(name: str) -> str:
    """The advice how to use several GPUs with this library."""
    if name.startswith("keras."):
        return "tf.keras in its place can be built and compiled in the scope() of tf.distribute.MirroredStrategy()"
    if name.startswith("tf.keras."):
        return "build and compile the model in the scope() of tf.distribute.MirroredStrategy()"
    if name.startswith(("tf.contrib.learn.", "tf.contrib.tpu.", "tf.estimator.tpu.")):
        return "tf.estimator in its place takes RunConfig(train_distribute=tf.distribute.MirroredStrategy())"
    return "an Estimator takes RunConfig(train_distribute=tf.distribute.MirroredStrategy())"
