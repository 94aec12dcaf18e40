"""Refusals of model functions that a strategy cannot call once for each GPU."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator

from converter.analysis.traits import Trait, clip_arguments, has
from converter.syntax.known import is_known, last_name
from converter.syntax.script import Script, all_arguments, argument, is_given, is_on, literal, names_bound, nodes_of
from converter.targets.mirrored.counts import check_part
from converter.targets.mirrored.elsewhere import definition
from converter.targets.mirrored.losses import Dependence, LossReader, is_library_sum, losses_of
from converter.targets.mirrored.pairs import check_pairs
from converter.targets.mirrored.replicated import Code


def check_model_function(script: Script, estimator: ast.Call, total: bool) -> list[ast.AST]:
    """Notes what the model function of an Estimator does that differs, or fails, under the strategy.

    total: whether the script's batch is shared by the GPUs; then a loss that is a sum differs too.
    Returns the nodes that the replicas run.
    """
    given = argument(estimator, 0, "model_fn")
    found = _function(script, given) if given is not None else None
    if found is None:
        return script.refused(estimator, "TMG282 model_function")
    files = Code(*found, os.path.dirname(os.path.abspath(script.path))).files()
    for where, nodes in files:
        before = len(where.findings)
        calls = [node for node in nodes if isinstance(node, ast.Call)]
        for call in calls:
            _check(where, call)
        _check_slices(where, calls)
        if not total:
            _check_sums(where, nodes)
        elif where is found[0]:
            _check_total(where, nodes, found[1])
        check_pairs(where, calls, total)
        if where is not script:
            script.findings.extend(where.findings[before:])
    return [node for _, nodes in files for node in nodes]


def _function(script: Script, given: ast.expr) -> tuple[Script, ast.AST] | None:
    """A model function, and the file that defines it."""
    given = script.value(given)
    if isinstance(given, ast.Call) and script.name(given.func) == "functools.partial" and given.args:
        given = given.args[0]
    if isinstance(given, ast.Lambda):
        return script, given
    if isinstance(given, ast.Call):  # of a function that makes the model function
        given = given.func
    return definition(script, given)


def _check(script: Script, call: ast.Call) -> None:
    last = last_name(script, call.func)
    key = argument(call, 0, "key") if has(last, Trait.GETS_COLLECTION) else None
    losses = key is not None and "loss" in ast.unparse(key).lower()
    # Each replica would see the losses of those before it, and regularisation counts once in N (seen on TensorFlow
    # 1.15.5: its gradient reaches the variables of the first replica only).
    if has(last, Trait.GIVES_COLLECTED_LOSSES) or losses:
        script.finding(call, "TMG283", name=last)
    if has(last, Trait.NORMALIZES):
        script.finding(call, "TMG381 estimator")
    if is_known(script, call.func, Trait.DEVICE) and "gpu" in ast.unparse(call).lower():
        script.finding(call, "TMG286")
    _check_updates(script, call, last)


def _check_updates(script: Script, call: ast.Call, last: str) -> None:
    if has(last, Trait.CLIPS) or (has(last, Trait.CLIPS_ENTRIES) and _of_gradients(script, call)):
        script.finding(call, "TMG284 estimator", name=last)
    clipped = argument(call, -1, clip_arguments().get(last, ""))
    if is_on(clipped):
        script.finding(clipped, "TMG284 estimator", name=clip_arguments()[last])
    if has(last, Trait.TAKES_PAIRS) and not _applies_itself(script, last) and any(_gradients_given(script, call)):
        script.finding(call, "TMG284 added_up")
    _check_assignment(script, call, last)


def _applies_itself(script: Script, method: str) -> bool:
    """True if a class of the script applies gradients by a method that hands them to no other optimizer."""
    handing = [call for call in script.calls if last_name(script, call.func) == method]
    own = script.functions.get(method, [])
    return bool(own) and not any(script.function(call) in own for call in handing)


def _gradients_given(script: Script, call: ast.Call) -> Iterator[ast.Call]:
    """The calls of tf.gradients() whose results apply_gradients() is given."""
    todo, seen = all_arguments(call)[:1], set[int]()
    while todo:
        one = todo.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        if isinstance(one, ast.Call) and is_known(script, one.func, Trait.GIVES_GRADIENTS):
            yield one
        elif not isinstance(one, ast.Call) or not has(last_name(script, one.func), Trait.GIVES_PAIRS):
            todo += [inner for inner in ast.iter_child_nodes(one) if isinstance(inner, ast.expr)]
            todo += [inner.iter for inner in getattr(one, "generators", ())]
            todo += _bound_to(script, one, script.function(call)) if isinstance(one, ast.Name | ast.Attribute) else []


def _bound_to(script: Script, name: ast.Name | ast.Attribute, function: ast.FunctionDef | None) -> list[ast.expr]:
    """The values assigned to a name: in `function` if it assigns the name, else anywhere in the script."""
    values = script.bindings.get(ast.unparse(name), [])
    if function is None or ast.unparse(name) not in names_bound(function):
        return values
    return [value for value in values if script.function(value) is function]


def _check_assignment(script: Script, call: ast.Call, last: str) -> None:
    of = script.value(call.func.value) if isinstance(call.func, ast.Attribute) else call.func
    if last == "apply" and "MovingAverage" in ast.unparse(of):
        script.finding(call, "TMG285 average", name=last)
    if not has(last, Trait.ASSIGNS) or isinstance(of, ast.Call) and is_known(script, of.func, Trait.GIVES_STEP):
        return
    function, around = script.function(call), script.class_around(call)
    if around is not None and function is not None and has(function.name, Trait.TAKES_PAIRS):
        script.finding(function, "TMG285 optimizer", name=f"{around.name}.{function.name}")
    else:
        script.finding(call, "TMG285 variable", name=last)


def _check_slices(script: Script, calls: list[ast.Call]) -> None:
    """Refuse lookups in tables that the script cuts into slices: the strategy makes whole variables of them."""
    cut = [value for call in calls if is_given(value := argument(call, -1, "partitioner"))]
    cut += [call for call in calls if last_name(script, call.func) == "set_partitioner"]
    for call in calls:
        consecutive = literal(argument(call, 2, "partition_strategy")) == "div"
        if cut and is_known(script, call.func, Trait.LOOKS_UP, Trait.TAKES_SPARSE_ROWS) and not consecutive:
            script.finding(call, "TMG278")
            return


def _check_sums(script: Script, nodes: list[ast.AST]) -> None:
    """Refuse sums of TensorFlow's own losses, which the strategy adds up over the GPUs; warn of the script's sums.

    Whichever loss function was called last in the graph decides (distribute_lib.get_loss_reduction, TensorFlow 1.15.5).
    """
    added = [node for node in nodes if isinstance(node, ast.Call) and is_library_sum(script, node)]
    for call in added:
        script.finding(call, "TMG288 library_sum")
    for loss in losses_of(script, nodes):
        if not added and LossReader(script).makes(loss) is Dependence.SUM:
            script.finding(script.value(loss), "TMG374")


def _check_total(script: Script, nodes: list[ast.AST], function: ast.AST) -> None:
    """With --batch total a replica has a part of the script's batch: its loss must be a mean, its code not count."""
    losses = list(losses_of(script, nodes))
    if not losses:
        script.finding(function, "TMG288 loss_not_seen")
    for loss in losses:
        made = LossReader(script).makes(loss)
        if is_library_sum(script, LossReader(script).bound_expression(loss)):
            continue  # the strategy adds up the sums of the GPUs
        if made is not Dependence.MEAN:
            what = "is a sum" if made is Dependence.SUM else "is not seen to be a mean over the examples"
            script.finding(script.value(loss), "TMG288 no_mean", what=what)
    check_part(script, nodes)


def _of_gradients(script: Script, call: ast.Call) -> bool:
    """Whether clip_by_value stands in a function that has gradients, and in a loop over them."""
    calls = nodes_of(ast.Call, script.function(call) or script.tree)
    names = [last_name(script, one.func) for one in calls]
    gradients = any(has(name, Trait.GIVES_PAIRS) or has(name, Trait.GIVES_GRADIENTS) for name in names)
    return gradients and any(isinstance(one, ast.For | ast.ListComp | ast.GeneratorExp) for one in script.above(call))
