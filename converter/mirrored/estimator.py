"""Scripts that an Estimator trains: its RunConfig gets the strategy, its training input a dataset."""

from __future__ import annotations

import ast

from converter.mirrored.counts import batch_counts, check_count
from converter.mirrored.input_function import training_input
from converter.mirrored.model_function import check_model_function
from converter.mirrored.strategy import strategy_lines
from converter.options import Options
from converter.syntax.changes import Change, added_argument
from converter.syntax.script import Script, argument, is_spread

CONFIG = "TMG150"
# Canned estimators whose variables the strategy can mirror (TensorFlow 1.15.5); linear models cut theirs in parts.
DEEP = ("tf.estimator.DNNClassifier", "tf.estimator.DNNRegressor")
OWN = "tf.estimator.Estimator"
_PREFIX = "tf.estimator."
_KINDS = ("Estimator", "Classifier", "Regressor")


def estimators(script: Script) -> list[ast.Call]:
    """The calls that make an Estimator."""
    return [call for call in script.calls if _is_estimator(script.name(call.func))]


def _is_estimator(name: str) -> bool:
    return (name.startswith(_PREFIX) and name.endswith(_KINDS)) or (
        name.startswith("tf.contrib.learn.") and name.endswith(_KINDS)
    )


def estimator_changes(script: Script, options: Options, width: int) -> list[Change]:
    """The changes to a script that trains by Estimators; what stands in the way is noted in its findings."""
    changes: list[Change] = []
    inside: list[ast.AST] = []
    trained = _trained(script)
    for call in estimators(script):
        name = script.name(call.func)
        if name.startswith("tf.contrib.learn."):
            script.say(
                call,
                "TMG282",
                f"{name} takes no distribution strategy",
                f"use {OWN} or a canned estimator of tf.estimator",
            )
        elif name != OWN and name not in DEEP:
            script.say(
                call,
                "TMG282",
                f"the variables of {name} cannot be mirrored",
                "use tf.estimator.DNNClassifier or an Estimator of your own",
            )
        elif is_spread(call):
            script.say(
                call, "TMG282", "the arguments of this Estimator are given by * or **", "write them out"
            )
        else:
            changes += _with_strategy(script, call, options, width)
            if name == OWN:
                inside += check_model_function(script, call, options.batch == "total")
            else:
                script.say(
                    call,
                    "TMG383",
                    "the optimizer's slot variables are stored under other names by the strategy",
                    "training goes on from checkpoints of the conversion, not from older ones",
                    "warning",
                )
    if not trained:
        script.say(
            None,
            "TMG201",
            "an Estimator is made here, and not trained",
            "name the script that calls its train()",
        )
    for training in trained:
        given = argument(training, 0, "input_fn")
        if given is None:
            script.say(
                training, "TMG281", "this training has no input function that is seen", "give it as input_fn="
            )
        else:
            changes += training_input(script, given, options)
            if options.batch == "per-gpu":
                _check_steps(script, training)
    return list(dict.fromkeys([*changes, *batch_counts(script, options, inside)]))


def _trained(script: Script) -> list[ast.Call]:
    """The calls that say what an Estimator is trained with."""
    found = []
    for call in script.calls:
        if script.name(call.func) == "tf.estimator.TrainSpec":
            found.append(call)
        elif (
            isinstance(call.func, ast.Attribute) and call.func.attr == "train" and not script.name(call.func)
        ):
            owner = script.value(call.func.value)
            if not isinstance(owner, ast.Call) or not script.name(owner.func) or owner in estimators(script):
                found.append(call)
    return found


def _with_strategy(script: Script, call: ast.Call, options: Options, width: int) -> list[Change]:
    """The strategy in the RunConfig of an Estimator, which is made where there is none."""
    own = script.name(call.func) == OWN
    given = argument(call, 2 if own else -1, "config")
    tensorflow = script.names.tensorflow() or "tf"
    if given is None or (isinstance(given, ast.Constant) and given.value is None):
        name = script.new("strategy")
        text = f"{tensorflow}.estimator.RunConfig(train_distribute={name})"
        made = strategy_lines(script, script.statement(call), name, options, CONFIG)
        if given is not None:
            begin, end = script.span(given)
            return [*made, Change(begin, end, text, CONFIG)]
        return [*made, added_argument(script, call, f"config={text}", width, CONFIG)]
    config = script.value(given)
    while (
        isinstance(config, ast.Call)
        and isinstance(config.func, ast.Attribute)
        and config.func.attr == "replace"
    ):
        if argument(config, -1, "train_distribute") is not None:
            break
        config = script.value(config.func.value)
    if (
        not isinstance(config, ast.Call)
        or script.name(config.func)
        not in (
            "tf.estimator.RunConfig",
            "tf.contrib.learn.RunConfig",
        )
        or is_spread(config)
    ):
        script.say(
            given,
            "TMG282",
            "the content of this configuration is not known",
            "write config=tf.estimator.RunConfig(…) out",
        )
        return []
    if script.name(config.func) != "tf.estimator.RunConfig":
        script.say(
            config,
            "TMG282",
            "tf.contrib.learn.RunConfig takes no distribution strategy",
            "use tf.estimator.RunConfig",
        )
        return []
    if argument(config, -1, "train_distribute") is not None:
        script.say(
            config, "TMG216", "this RunConfig holds a distribution strategy already", "nothing is to be done"
        )
        return []
    _check_session(script, config)
    name = script.new("strategy")
    made = strategy_lines(script, script.statement(config), name, options, CONFIG)
    return [*made, added_argument(script, config, f"train_distribute={name}", width, CONFIG)]


def _check_session(script: Script, config: ast.Call) -> None:
    """Refuse a session that sees one GPU only (TMG286)."""
    session = argument(config, 4, "session_config")
    session = script.value(session) if session is not None else None
    for node in ast.walk(session) if session is not None else ():
        if isinstance(node, ast.keyword) and node.arg in ("device_count", "visible_device_list"):
            script.say(
                node.value,
                "TMG286",
                f"{node.arg} says which devices the session sees",
                f"take {node.arg} out, or let it name all GPUs",
            )


def _check_steps(script: Script, training: ast.Call) -> None:
    names = ("max_steps",) if script.name(training.func) else ("steps", "max_steps")
    for name in names:
        given = argument(training, 1 if name != "steps" else 2, name)
        if given is not None and not isinstance(given, ast.Constant):
            check_count(script, given)
