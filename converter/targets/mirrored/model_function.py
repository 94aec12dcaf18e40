"""What a model function may not do when a strategy calls it once for each GPU."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator

from converter.syntax.script import Script, argument

# Sums of collections: each replica would see the losses of those before it, and regularisation counts once in N
# (seen on TensorFlow 1.15.5: its gradient reaches the variables of the first replica only).
_COLLECTED = ("get_regularization_loss", "get_regularization_losses", "get_total_loss", "get_losses")
_ASSIGNS = (
    "assign",
    "assign_add",
    "assign_sub",
    "scatter_update",
    "scatter_add",
    "scatter_sub",
    "scatter_nd_update",
)
_CLIPS = ("clip_by_global_norm", "clip_by_norm", "clip_by_average_norm", "clip_gradients_by_norm")
_CLIP_ARGUMENTS = {"optimize_loss": "clip_gradients", "create_train_op": "clip_gradient_norm"}
_NORMS = ("batch_normalization", "batch_norm", "BatchNormalization", "fused_batch_norm")


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
        last = script.name(node.func).rpartition(".")[2] or getattr(node.func, "attr", "")
        _check_collections(script, node, last)
        _check_updates(script, node, last)
        _check_rest(script, node, last, total)


def _check_collections(script: Script, call: ast.Call, last: str) -> None:
    key = argument(call, 0, "key") if last in ("get_collection", "get_collection_ref") else None
    losses = key is not None and "loss" in ast.unparse(key).lower()
    if last in _COLLECTED or losses:
        script.say(
            call,
            "TMG283",
            f"{last}() gives the losses of all GPUs, not those of the one that calls it",
            "add up the terms in the model function: "
            "tf.add_n([tf.nn.l2_loss(v) for v in tf.trainable_variables()]) for weight decay",
        )


def _check_updates(script: Script, call: ast.Call, last: str) -> None:
    if last in _CLIPS or (last == "clip_by_value" and _of_gradients(script, call)):
        script.say(
            call,
            "TMG284",
            f"{last} would clip the gradients of each GPU, not their mean",
            "take it out, or train in a session: towers clip once",
        )
    clipped = argument(call, -1, _CLIP_ARGUMENTS.get(last, ""))
    if clipped is not None and not (isinstance(clipped, ast.Constant) and not clipped.value):
        script.say(
            clipped,
            "TMG284",
            f"{_CLIP_ARGUMENTS[last]} would clip the gradients of each GPU, not their mean",
            "take it out, or train in a session: towers clip once",
        )
    averaged = (
        last == "apply"
        and isinstance(call.func, ast.Attribute)
        and "MovingAverage" in ast.unparse(script.value(call.func.value))
    )
    if last in _ASSIGNS or averaged:
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
    if last in _NORMS:
        script.say(
            call,
            "TMG381",
            "batch normalisation takes its statistics from the examples of one GPU",
            "the moving averages are the mean of all GPUs'",
            "warning",
        )
    if last == "device" and script.name(call.func) == "tf.device" and "gpu" in ast.unparse(call).lower():
        script.say(
            call,
            "TMG286",
            "the model places operations on a GPU of its choice, for all replicas",
            "take tf.device out: the strategy places each replica",
        )
    loss = argument(call, 3, "loss") if last == "EstimatorSpec" and total else None
    value = script.value(loss) if loss is not None else None
    if isinstance(value, ast.Call) and script.name(value.func) in ("tf.reduce_sum", "tf.nn.l2_loss"):
        script.say(
            value,
            "TMG288",
            "this loss is a sum: half of the batch gives half of it",
            "let it be a mean, or use --batch per-gpu",
        )


def _of_gradients(script: Script, call: ast.Call) -> bool:
    """Whether clip_by_value stands in a function that has gradients, and in a loop over them."""
    function = script.function(call)
    names = {
        script.name(node.func).rpartition(".")[2] or getattr(node.func, "attr", "")
        for node in ast.walk(function or script.tree)
        if isinstance(node, ast.Call)
    }
    loops = (ast.For, ast.ListComp, ast.GeneratorExp)
    return bool(names & {"compute_gradients", "gradients"}) and any(
        isinstance(n, loops) for n in script.above(call)
    )
