"""Scripts that an Estimator trains: its RunConfig gets the strategy, its training input a dataset."""

from __future__ import annotations

import ast

from converter.analysis.traits import Trait
from converter.dataclass import dataclass
from converter.options import Options
from converter.syntax.changes import Change, added_argument, replaced
from converter.syntax.known import is_known
from converter.syntax.script import Script, argument, is_given, is_spread
from converter.targets.mirrored.counts import check_count
from converter.targets.mirrored.elsewhere import module_beside
from converter.targets.mirrored.input_function import training_input
from converter.targets.mirrored.model_function import check_model_function
from converter.targets.mirrored.strategy import strategy_lines
from converter.targets.passes import Case, Known, adding

CONFIG = "TMG150"


def estimators(script: Script) -> list[ast.Call]:
    """The calls that make an Estimator."""
    return [call for call in script.calls if is_known(script, call.func, Trait.ESTIMATOR)]


@dataclass(frozen=True)
class Replicated(Case):
    """A script whose model functions were looked at; inside: the nodes that replicas run."""

    inside: tuple[ast.AST, ...] = ()


def configurations(case: Case) -> Case:
    """Each Estimator is given the strategy by its RunConfig; refused where that cannot be (TMG282)."""
    changes: list[Change] = []
    for call in estimators(case.script):
        if reason := _unserved(case.script, call):
            case.script.say(call, "TMG282", *reason)
        else:
            changes += _with_strategy(case.script, call, case.options, case.width)
    return adding(case, changes)


def _unserved(script: Script, call: ast.Call) -> tuple[str, str] | None:
    """Why a strategy cannot train an Estimator, and what helps; None where it can."""
    name = script.name(call.func)
    if is_known(script, call.func, Trait.TAKES_NO_STRATEGY):
        hint = "use tf.estimator.Estimator or a canned estimator of tf.estimator"
        return f"{name} takes no distribution strategy", hint
    if not is_known(script, call.func, Trait.OWN_MODEL, Trait.MIRRORED_MODEL):
        hint = "use tf.estimator.DNNClassifier or an Estimator of your own"
        return f"the variables of {name} cannot be mirrored", hint
    if is_spread(call):
        return "the arguments of this Estimator are given by * or **", "write them out"
    return None


def model_functions(case: Case) -> Replicated:
    """Note code of the model functions that may not run under the strategy."""
    script, inside = case.script, list[ast.AST]()
    for call in estimators(script):
        if _unserved(script, call):
            continue
        if is_known(script, call.func, Trait.OWN_MODEL):
            inside += check_model_function(script, call, case.options.batch == "total")
        else:
            script.finding(call, "TMG383")
            _check_reduction(script, call, case.options.batch == "total")
    return Replicated(**vars(case), inside=tuple(inside))


def _check_reduction(script: Script, call: ast.Call, total: bool) -> None:
    """Refuse losses of canned estimators of which a step takes something else than it should.

    By default they train with the sum over the examples, which the strategy adds up over the GPUs (TensorFlow 1.15.5).
    """
    given = argument(call, -1, "loss_reduction")
    name = "SUM" if given is None else ast.unparse(given).rpartition(".")[2]
    if name == "SUM" and not total:
        script.finding(given or call, "TMG288 estimator_sum")
    elif name not in ("SUM", "SUM_OVER_BATCH_SIZE") and total:
        script.finding(given or call, "TMG288 estimator_reduction")


def hooks(case: Known) -> Known:
    """Hooks that feed are refused: each replica has placeholders of its own, and one of them is fed (TMG291)."""
    script = case.script
    _check_feeds(script)
    for other in (module_beside(script, module) for module in _imported(script)):
        if other is not None:
            before = len(other.findings)
            _check_feeds(other)
            script.findings.extend(other.findings[before:])
    return case


def _imported(script: Script) -> list[str]:
    named = [alias.name for node in script.nodes(ast.Import) for alias in node.names]
    return named + [node.module for node in script.nodes(ast.ImportFrom) if node.module]


def _check_feeds(script: Script) -> None:
    for call in script.calls:
        by_function = is_known(script, call.func, Trait.FEEDS_BY_FUNCTION)
        fed = argument(call, 0, "feed_fn") if by_function else None
        if is_known(script, call.func, Trait.ASKED_BY_HOOK):
            fed = argument(call, 1, "feed_dict")
        if is_given(fed):
            script.finding(fed, "TMG291")


def inputs(case: Known) -> Known:
    """The input functions of training return datasets."""
    script, options, trained = case.script, case.options, trainings(case.script)
    changes: list[Change] = []
    if not trained and not case.refused:
        script.finding(None, "TMG201 estimator_not_trained")
    for training in trained:
        given = argument(training, 0, "input_fn")
        if given is None:
            script.finding(training, "TMG281 no_input_function")
            continue
        changes += training_input(script, given, options)
        if options.batch == "per-gpu":
            _check_steps(script, training)
    return adding(case, changes)


def trainings(script: Script) -> list[ast.Call]:
    """The calls that say what an Estimator is trained with."""
    found = []
    for call in script.calls:
        if is_known(script, call.func, Trait.TRAINING_SPEC):
            found.append(call)
        elif isinstance(call.func, ast.Attribute) and call.func.attr == "train" and not script.name(call.func):
            owner = script.value(call.func.value)
            if not isinstance(owner, ast.Call) or not script.name(owner.func) or owner in estimators(script):
                found.append(call)
    return found


def _with_strategy(script: Script, call: ast.Call, options: Options, width: int) -> list[Change]:
    """The strategy in the RunConfig of an Estimator, which is made where there is none."""
    own = is_known(script, call.func, Trait.OWN_MODEL)
    given = argument(call, 2 if own else -1, "config")
    tensorflow = script.names.tensorflow() or "tf"
    if not is_given(given):
        name = script.new("strategy")
        text = f"{tensorflow}.estimator.RunConfig(train_distribute={name})"
        made = strategy_lines(script, script.statement(call), name, options, CONFIG)
        added = added_argument(script, call, f"config={text}", width, CONFIG)
        return [*made, added if given is None else replaced(script, given, text, CONFIG)]
    config, replacing = _without_replace(script, given)
    if (
        not isinstance(config, ast.Call)
        or not is_known(script, config.func, Trait.RUN_CONFIG)
        or any(map(is_spread, [config, *replacing]))
    ):
        return script.refused(given, "TMG282 configuration")
    if is_known(script, config.func, Trait.TAKES_NO_STRATEGY):
        return script.refused(config, "TMG282 contrib_configuration")
    if any(argument(one, -1, "train_distribute") is not None for one in (config, *replacing)):
        return script.refused(config, "TMG216 strategy")
    name = script.new("strategy")
    made = strategy_lines(script, script.statement(config), name, options, CONFIG)
    return [*made, added_argument(script, config, f"train_distribute={name}", width, CONFIG)]


def _without_replace(script: Script, given: ast.expr) -> tuple[ast.expr, list[ast.Call]]:
    """The call that makes a configuration, and the replace() calls that change it."""
    config, replacing = script.value(given), list[ast.Call]()
    while isinstance(config, ast.Call) and isinstance(config.func, ast.Attribute) and config.func.attr == "replace":
        replacing.append(config)
        config = script.value(config.func.value)
    return config, replacing


def _check_steps(script: Script, training: ast.Call) -> None:
    names = ("max_steps",) if script.name(training.func) else ("steps", "max_steps")
    for name in names:
        given = argument(training, 1 if name != "steps" else 2, name)
        if given is not None and not isinstance(given, ast.Constant):
            check_count(script, given)
