"""What a model function may not do when a strategy calls it once for each GPU."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator

from converter.analysis.traits import Trait, clip_arguments, has
from converter.syntax.known import is_known, last_name
from converter.syntax.script import Script, argument


def check_model_function(script: Script, estimator: ast.Call, total: bool) -> list[ast.AST]:
    """Notes what the model function of an Estimator does that differs, or fails, under the strategy.

    total: whether the script's batch is shared by the GPUs; then a loss that is a sum differs too.
    Returns the nodes that the replicas run.
    """
    given = argument(estimator, 0, "model_fn")
    found = _function(script, given) if given is not None else None
    if found is None:
        script.say(
            estimator,
            "TMG282",
            "the code of this Estimator's model function is not seen",
            "define it in this file, or in a file beside it",
        )
        return []
    where, function = found
    before = len(where.findings)
    nodes = list(_reachable(where, function))
    for node in nodes:
        _check(where, node, total)
    if where is not script:
        script.findings.extend(where.findings[before:])
    return nodes


def _function(script: Script, given: ast.expr) -> tuple[Script, ast.AST] | None:
    """A model function, and the file that defines it."""
    given = script.value(given)
    if isinstance(given, ast.Call) and script.name(given.func) == "functools.partial" and given.args:
        given = given.args[0]
    if isinstance(given, ast.Lambda):
        return script, given
    if isinstance(given, ast.Call):  # of a function that makes the model function
        given = given.func
    module, _, imported = script.name(given).rpartition(".")
    if not module:
        function = script.defined(given)
        return (script, function) if function else None
    path = os.path.join(os.path.dirname(script.path), *module.split(".")) + ".py"
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
        other = Script(path, text, ast.parse(text))
    except (OSError, SyntaxError, ValueError):
        return None
    found = other.functions.get(imported, [])
    return (other, found[0]) if len(found) == 1 else None


def _reachable(script: Script, function: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a function, and of the functions of its file that it names."""
    open_, seen = [function], {id(function)}
    while open_:
        for node in ast.walk(open_.pop()):
            yield node
            name = node.id if isinstance(node, ast.Name) else getattr(node, "attr", "")
            for other in script.functions.get(name, ()):
                if id(other) not in seen:
                    seen.add(id(other))
                    open_.append(other)


def _check(script: Script, node: ast.AST, total: bool) -> None:
    if isinstance(node, ast.Call):
        last = last_name(script, node.func)
        _check_collections(script, node, last)
        _check_updates(script, node, last)
        _check_rest(script, node, last, total)


def _check_collections(script: Script, call: ast.Call, last: str) -> None:
    key = argument(call, 0, "key") if has(last, Trait.GETS_COLLECTION) else None
    losses = key is not None and "loss" in ast.unparse(key).lower()
    # Each replica would see the losses of those before it, and regularisation counts once in N (seen on TensorFlow
    # 1.15.5: its gradient reaches the variables of the first replica only).
    if has(last, Trait.GIVES_COLLECTED_LOSSES) or losses:
        script.say(
            call,
            "TMG283",
            f"{last}() gives the losses of all GPUs, not those of the one that calls it",
            "add up the terms in the model function: "
            "tf.add_n([tf.nn.l2_loss(v) for v in tf.trainable_variables()]) for weight decay",
        )


def _check_updates(script: Script, call: ast.Call, last: str) -> None:
    if has(last, Trait.CLIPS) or (has(last, Trait.CLIPS_ENTRIES) and _of_gradients(script, call)):
        script.say(
            call,
            "TMG284",
            f"{last} would clip the gradients of each GPU, not their mean",
            "take it out, or train in a session: towers clip once",
        )
    clipped = argument(call, -1, clip_arguments().get(last, ""))
    if clipped is not None and not (isinstance(clipped, ast.Constant) and not clipped.value):
        script.say(
            clipped,
            "TMG284",
            f"{clip_arguments()[last]} would clip the gradients of each GPU, not their mean",
            "take it out, or train in a session: towers clip once",
        )
    averaged = (
        last == "apply"
        and isinstance(call.func, ast.Attribute)
        and "MovingAverage" in ast.unparse(script.value(call.func.value))
    )
    if has(last, Trait.ASSIGNS) or averaged:
        script.say(
            call,
            "TMG285",
            f"{last}() changes a variable that each GPU holds a copy of: TensorFlow raises an error",
            (
                "make the variable with aggregation=tf.VariableAggregation.ONLY_FIRST_REPLICA, or leave the update out"
                if not averaged
                else "leave the moving averages out"
            ),
        )


def _check_rest(script: Script, call: ast.Call, last: str, total: bool) -> None:
    if has(last, Trait.NORMALIZES):
        script.say(
            call,
            "TMG381",
            "batch normalisation takes its statistics from the examples of one GPU",
            "the moving averages are the mean of all GPUs'",
            "warning",
        )
    if is_known(script, call.func, Trait.DEVICE) and "gpu" in ast.unparse(call).lower():
        script.say(
            call,
            "TMG286",
            "the model places operations on a GPU of its choice, for all replicas",
            "take tf.device out: the strategy places each replica",
        )
    loss = argument(call, 3, "loss") if last == "EstimatorSpec" and total else None
    value = script.value(loss) if loss is not None else None
    if isinstance(value, ast.Call) and is_known(script, value.func, Trait.ADDS_UP):
        script.say(
            value,
            "TMG288",
            "this loss is a sum over the examples: a GPU's part of the batch gives only a part of it",
            "let it be a mean, or use --batch per-gpu",
        )


def _of_gradients(script: Script, call: ast.Call) -> bool:
    """Whether clip_by_value stands in a function that has gradients, and in a loop over them."""
    function = script.function(call)
    names = {
        last_name(script, node.func)
        for node in ast.walk(function or script.tree)
        if isinstance(node, ast.Call)
    }
    loops = (ast.For, ast.ListComp, ast.GeneratorExp)
    return any(has(name, Trait.GIVES_PAIRS) or has(name, Trait.GIVES_GRADIENTS) for name in names) and any(
        isinstance(n, loops) for n in script.above(call)
    )
