"""Scripts that the package `keras` trains: its `multi_gpu_model` copies the model to each GPU.

The model of the script stays the template, whose weights the copies use: it is saved, loaded and predicts. The model of
the copies is compiled and trained. Seen of keras 2.3.1 on TensorFlow 1.15.5 with two and three copies: a batch of any
size gives the weights of one GPU with that batch to 1e-6, a penalty on weights counts once.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from converter.analysis.traits import Trait
from converter.plan.decisions import Decision
from converter.syntax.changes import Change, lines_before
from converter.syntax.known import is_known, last_name
from converter.syntax.script import Script, argument, is_on, is_spread
from converter.targets.mirrored.counts import batch_counts
from converter.targets.mirrored.keras import compiles, grown_fits, keras_fits
from converter.targets.mirrored.losses import keras_losses
from converter.targets.mirrored.replicated import keras_code
from converter.targets.passes import Case, adding

COPIED, BATCH = "TMG159", "TMG154"
_PACKAGE = "keras"
# Attributes that a model has once it is compiled, or that training sets (keras/engine/training.py, 2.2 and 2.3).
_COMPILED = (
    *("compile", "fit", "fit_generator", "train_on_batch", "evaluate", "evaluate_generator", "test_on_batch"),
    *("optimizer", "loss", "metrics", "metrics_names", "history", "stop_training"),
)
_HELPER = (
    "def {name}(callback, template):",
    '{unit}"""Lets a callback save the model for one GPU: its weights are those of the copies."""',
    "{unit}callback.set_model = lambda copies: setattr(callback, 'model', template)",
    "{unit}return callback",
)


def obstacle(script: Script, total: bool) -> str:
    """Why the model of a script is not copied to several GPUs, as the end of a sentence; "" where it is."""
    made, fits = compiles(script), keras_fits(script)
    if len(made) != 1 or not isinstance(made[0].func, ast.Attribute) or not isinstance(made[0].func.value, ast.Name):
        return "as not one model, under a name of its own, is compiled at one place"
    model = made[0].func.value.id
    where = script.function(made[0])
    if any(_receiver(call) != model or script.function(call) is not where for call in fits):
        return "as the model is compiled and trained in different functions"
    return _of_model(script, model, made[0]) or _of_use(script, model) or _of_batches(fits, total)


def _receiver(call: ast.Call) -> str:
    return ast.unparse(call.func.value) if isinstance(call.func, ast.Attribute) else ""


def _of_model(script: Script, model: str, compiled: ast.Call) -> str:
    bound = script.bindings.get(model, [])
    stores = [name for name in script.uses(model) if _is_bound(name)]
    maker = bound[0].func if len(bound) == 1 and isinstance(bound[0], ast.Call) else None
    if len(stores) != 1 or maker is None or not _is_seen(script, maker):
        return "as it is not seen in this script how the model is made"
    if script.statement(compiled) not in script.block(script.statement(bound[0])):
        return "as the model is made and compiled in different blocks"
    return next((why for call in script.calls if (why := _of_layer(script, call))), "")


def _of_layer(script: Script, call: ast.Call) -> str:
    name = last_name(script, call.func)
    if name == "BatchNormalization" or f"{_PACKAGE}.applications." in f"{script.name(call.func)}.":
        averages = "as each copy would update the averages of batch normalisation"
        return f"{averages}, and a batch with fewer rows than GPUs gives no number"
    told = {k.arg for k in call.keywords if k.arg and is_on(k.value)}
    if "stateful" in told:
        return "as a stateful layer hands its state on to the next batch"
    if told & {"batch_input_shape", "batch_shape"}:
        return "as the model is built for one size of batch"
    if "activity_regularizer" in told or name == "add_loss":
        return "as each copy would add its loss of what a layer gives"
    return ""


def _is_bound(node: ast.Name) -> bool:
    return not isinstance(node.ctx, ast.Load)


def _is_seen(script: Script, maker: ast.expr) -> bool:
    """True for a model of Keras' classes, or what a function of the script returns that takes no model in."""
    name = script.name(maker)
    return name.startswith(f"{_PACKAGE}.") and name.endswith((".Model", ".Sequential")) or (
        isinstance(maker, ast.Name) and maker.id in script.functions
    )


def _of_use(script: Script, model: str) -> str:
    for call in script.calls:
        given = [one for one in (*call.args, *(k.value for k in call.keywords)) if isinstance(one, ast.Name)]
        own = isinstance(call.func, ast.Name) and call.func.id in script.functions
        if own and any(one.id == model for one in given):
            return "as a function of the script takes the model"
        if script.name(call.func) in (f"{_PACKAGE}.backend.function", f"{_PACKAGE}.backend.gradients"):
            return "as the script runs functions of its own on the model"
    classes = [node for node in ast.walk(script.tree) if isinstance(node, ast.ClassDef)]
    callbacks = [node for node in classes if any("Callback" in ast.unparse(base) for base in node.bases)]
    used = any("self.model" in ast.unparse(node) for node in callbacks)
    return "as a callback of the script uses the model that it is given" if used else ""


def _of_batches(fits: list[ast.Call], total: bool) -> str:
    for call in fits:
        y = argument(call, 1, "y")
        arrays = getattr(call.func, "attr", "") == "fit" and is_on(y)
        if not total and (is_spread(call) or not arrays):
            return "as the size of its batches is not seen (--batch total leaves it to the GPUs together)"
    return ""


def copied(case: Case) -> Case:
    """The model of the copies is made in front of compile(), and takes its place where the model is trained."""
    script, options = case.script, case.options
    if options.num_gpus is None or options.num_gpus < 2 or options.fewer_gpus != "refuse":
        flag = "--fewer-gpus allow" if options.fewer_gpus != "refuse" else f"--num-gpus {options.num_gpus or 'auto'}"
        message = f"{flag} is not for the package keras: its multi_gpu_model takes a number of GPUs from 2 on"
        script.say(compiles(script)[0], "TMG287", message, f"leave {flag} out")
        return case
    compiled = compiles(script)[0]
    assert isinstance(compiled.func, ast.Attribute) and isinstance(compiled.func.value, ast.Name)
    model, copies = compiled.func.value.id, script.new("parallel_model")
    for loss in keras_losses(script) if options.batch == "per-gpu" else ():
        if _adds_up(script, loss):
            message = "this loss adds up the examples: it is computed of those of all GPUs, not the mean of the GPUs'"
            script.say(loss, "TMG288", message, "let it be a mean over the examples, or use --batch total")
    spread = script.new("multi_gpu_model")
    given = "" if spread == "multi_gpu_model" else f" as {spread}"
    made = f"{copies} = {spread}({model}, gpus={options.num_gpus})  # {model}: to save, with the same weights"
    changes = [
        _imported(script, f"from {_PACKAGE}.utils import multi_gpu_model{given}"),
        lines_before(script, script.statement(compiled), [made], COPIED),
        *_renamed(script, model, copies, compiled),
        *_saving(script, model),
        *(_sizes(case, options.num_gpus) if options.batch == "per-gpu" else ()),
    ]
    return replace(adding(case, changes), decisions=tuple(_decisions(case, model)))


def _adds_up(script: Script, loss: ast.expr) -> bool:
    """True for a loss in which the examples of a batch are added up, by `K.sum` without an axis or `reduction`."""
    given = script.value(loss)
    named = script.functions.get(given.id, []) if isinstance(given, ast.Name) else []
    for call in (node for one in (given, *named) for node in ast.walk(one) if isinstance(node, ast.Call)):
        told = [ast.unparse(k.value).strip("'\"").lower() for k in call.keywords if k.arg == "reduction"]
        if any(one.rpartition(".")[2] == "sum" for one in told):
            return True
        adds = is_known(script, call.func, Trait.ADDS_UP) or last_name(script, call.func) == "sum"
        if adds and argument(call, 1, "axis") is None:
            return True
    return False


def _imported(script: Script, line: str) -> Change:
    """An import below the first one of Keras at the top of the script."""
    imports = [stmt for stmt in script.tree.body if isinstance(stmt, ast.Import | ast.ImportFrom)]
    first = next(stmt for stmt in imports if _PACKAGE in ast.unparse(stmt).replace(".", " ").split())
    place = script.line((first.end_lineno or 0) + 1)
    return Change(place, place, line + script.newline, COPIED)


def _renamed(script: Script, model: str, copies: str, compiled: ast.Call) -> Iterator[Change]:
    attributes = [node for node in ast.walk(script.tree) if isinstance(node, ast.Attribute)]
    for node in attributes:
        is_trained = node.attr in _COMPILED and ast.unparse(node.value) == model
        if is_trained and (node.lineno, node.col_offset) >= (compiled.lineno, compiled.col_offset):
            begin, end = script.span(node.value)
            yield Change(begin, end, copies, COPIED)


def _saving(script: Script, model: str) -> Iterator[Change]:
    """Callbacks that save checkpoints get the template, not the model that they are fitted with."""
    calls = [call for call in script.calls if last_name(script, call.func) == "ModelCheckpoint"]
    if not calls:
        return
    name = script.new("of_template")
    bound = script.statement(script.bindings[model][0])
    for call in calls:
        if script.function(call) is not script.function(bound) or call.lineno < bound.lineno:
            message = "this callback is made before the model whose weights it saves"
            script.say(call, "TMG289", message, "make it below the model")
        begin, end = script.span(call)
        yield Change(begin, begin, f"{name}(", COPIED)
        yield Change(end, end, f", {model})", COPIED)
    last = [stmt for stmt in script.tree.body if isinstance(stmt, ast.Import | ast.ImportFrom)][-1]
    rest = script.tree.body[script.tree.body.index(last) + 1 :]
    lines = [line.format(name=name, unit=script.unit) for line in _HELPER]
    yield lines_before(script, rest[0], ["", *lines, "", ""], COPIED)


def _sizes(case: Case, number: int) -> Iterator[Change]:
    script = case.script
    yield from grown_fits(case, str(number), BATCH)
    yield from batch_counts(script, case.options, keras_code(script))


def _decisions(case: Case, model: str) -> Iterator[Decision]:
    number = case.options.num_gpus
    yield Decision("target", "mirrored: the package keras trains here", "multi_gpu_model, as the package keras trains")
    size = "the script's for each GPU" if case.options.batch == "per-gpu" else "the script's, shared by the GPUs"
    yield Decision("batch size", size, f"batch size {size}")
    yield Decision("loss", "computed once, on the batch of all GPUs")
    yield Decision("copies", f"{number} of the model, by keras.utils.multi_gpu_model (keras 2.0.9 to 2.3)")
    yield Decision("saved", f"{model}, as for one GPU; without the optimizer's state, as it is not compiled itself")


def trains_by_package(script: Script) -> bool:
    """True if a script imports the package `keras`."""
    modules = (alias.name for n in ast.walk(script.tree) if isinstance(n, ast.Import) for alias in n.names)
    sources = (n.module or "" for n in ast.walk(script.tree) if isinstance(n, ast.ImportFrom) and not n.level)
    return any(name.partition(".")[0] == _PACKAGE for name in (*modules, *sources))
