"""Scripts that Keras trains as N processes: how the batches of `fit()` and the other calls are dealt to workers."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from converter.analysis.traits import Trait, has
from converter.syntax.changes import Change
from converter.syntax.known import last_name
from converter.syntax.script import Script, argument, called_name, is_given, is_on, is_spread
from converter.targets.cluster.reading import BATCH_SIZE, ReadFacts
from converter.targets.mirrored.counts import batch_counts
from converter.targets.mirrored.keras import grown_fits, keras_fits
from converter.targets.mirrored.losses import Dependence, LossReader, keras_losses
from converter.targets.mirrored.replicated import keras_code
from converter.targets.passes import Case

_FIXED = ("batch_input_shape", "batch_shape", "batch_size")  # of layers that are built for one size of batch
_UNKNOWN = "it is not seen how many examples a batch has"


def keras_trainings(script: Script) -> list[ast.Call]:
    """Calls that train a compiled Keras model, and calls of get_updates() that make a training step."""
    return [*keras_fits(script), *_own_steps(script)]


def _own_steps(script: Script) -> list[ast.Call]:
    return [call for call in script.calls if called_name(call) == "get_updates"]


def check_keras(case: Case) -> Case:
    """Refuse what Keras cannot do as one of several processes."""
    script = case.script
    for call in script.calls:
        for keyword in call.keywords:
            if keyword.arg == "stateful" and is_on(keyword.value):
                script.finding(keyword.value, "TMG259 stateful")
            if keyword.arg == "run_eagerly" and is_on(keyword.value):
                script.finding(keyword.value, "TMG259 eagerly")
        if has(last_name(script, call.func), Trait.STARTS_EAGERNESS) and script.name(call.func):
            script.finding(call, "TMG259 eagerly")
    return case


def reading_keras(case: Case) -> ReadFacts:
    """Where all of the training is fit() on arrays, each worker takes its rows of a batch; else whole batches."""
    script, options = case.script, case.options
    fits, why = keras_fits(script), _why_whole(script)
    if options.shard == "files":
        _check_files(script, fits)
    elif options.batch == "total":
        _check_shared(script, why)
    elif why:
        return ReadFacts(script, options, case.width, by_runs=True, by_rows=True, why=why, graph=True)
    return ReadFacts(script, options, case.width, changes=case.changes, graph=True)


def beside_sessions(case: ReadFacts) -> ReadFacts:
    """Batches are dealt whole where Keras trains, too, beside sessions of the script."""
    if not keras_trainings(case.script) or case.by_runs or case.options.shard == "files":
        return case
    if case.options.batch == "total":
        return case
    return replace(case, sizes=(), by_runs=True, by_rows=True, why="Keras trains beside a session of the script")


def batches(case: ReadFacts, cluster: str) -> Iterator[Change]:
    """The batches of fit() are those of all workers together; `cluster` is the script's name for the object."""
    script, times = case.script, f"{cluster}.size"
    if not case.graph or case.by_runs or case.options.batch == "total" or case.options.shard == "files":
        return
    yield from grown_fits(case, times, BATCH_SIZE)
    yield from batch_counts(script, case.options, keras_code(script), times)


def _why_whole(script: Script) -> str:
    """Why the batches of a script cannot be cut by rows, "" where they can."""
    for call in script.calls:
        builds = has(last_name(script, call.func), Trait.KERAS_INPUT) or any(k.arg in _FIXED[:2] for k in call.keywords)
        if builds and any(keyword.arg in _FIXED for keyword in call.keywords):
            return "its model is built for one size of batch"
    if _own_steps(script):
        return "a function of the script trains on batches that it prepares"
    for call in keras_fits(script):
        if called_name(call) != "fit":
            return f"{called_name(call)}() takes batches that the script prepares"
        if is_spread(call):
            return _UNKNOWN
        if not is_given(argument(call, 1, "y")):
            return "fit() takes batches of a dataset or a generator"
        if is_given(argument(call, 12, "steps_per_epoch")):
            return "fit() is told a number of steps"
    return ""


def _check_files(script: Script, fits: list[ast.Call]) -> None:
    for call in fits:
        if is_given(argument(call, 1, "y")):  # of fit_generator, the number of steps: a generator gives arrays
            script.finding(call, "TMG259 arrays")


def _check_shared(script: Script, why: str) -> None:
    """Refuse --batch total where a part of a batch is none, or has another loss."""
    if why == "its model is built for one size of batch":
        script.finding(script.tree.body[0], "TMG259 shared", why=why)
    for loss in keras_losses(script):
        if LossReader(script).of_keras(loss, True) in (Dependence.SUM, Dependence.OTHER):
            script.finding(loss, "TMG259 no_mean")
