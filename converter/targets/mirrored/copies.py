"""Scripts that the package `keras` trains: its `multi_gpu_model` copies the model to each GPU.

The model of the script stays what it is, and the copies use its weights: fit() and its like train the copies, while it
predicts, is evaluated, saved and seen by callbacks as before. Seen of keras 2.3.1 and 2.2.4 on TensorFlow 1.15.5 with
two and three copies: a batch of any size gives the weights of one GPU with that batch to 1e-6, and a penalty on weights
counts once. Averages of batch normalisation follow the last copy, whose part of a batch is never empty.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from typing import TypeGuard

from converter.analysis.traits import Trait, has
from converter.parsing import parse_text
from converter.plan.decisions import Decision
from converter.runtime.catalog import source_of
from converter.source.project.above import imported_files, parsed
from converter.syntax.changes import Change, lines_before
from converter.syntax.known import is_known, last_name
from converter.syntax.script import Script, argument, is_on
from converter.targets.mirrored.batch_makers import Maker, grown_makers, is_of_arrays, maker_of, reads_of
from converter.targets.mirrored.counts import COUNTED, batch_counts, check_count, check_part
from converter.targets.mirrored.elsewhere import definition, module_beside
from converter.targets.mirrored.keras import DEFAULT_BATCH, compiles, grown_fits, keras_fits
from converter.targets.mirrored.losses import keras_losses
from converter.targets.mirrored.replicated import keras_code
from converter.targets.passes import Case, adding

COPIED, BATCH = "TMG159", "TMG154"
_PACKAGE = "keras"
_HELPER = "train_on_copies"
_REDUCTIONS = [kind + what for kind in ("", "reduce_") for what in ("sum", "mean", "max", "min", "std", "var", "prod")]


def obstacle(script: Script, total: bool) -> str:
    """Why the model of a script is not copied to several GPUs, as the end of a sentence; "" where it is."""
    trained = _trained(script)
    if not trained:
        return "as no model under a name is compiled and trained here"
    unclear = next((why for call in trained if (why := _of_compile(script, call))), "")
    if unclear:
        return unclear
    files = _files(script)
    return _of_layers(files) or ("" if total else _of_sizes(script, files))


def _trained(script: Script) -> list[ast.Call]:
    """The calls that compile a model which the script trains, or which a function gives back."""
    fitted = {_last(call) for call in keras_fits(script)}
    given = {
        name.rpartition(".")[2]
        for node in ast.walk(script.tree)
        if isinstance(node, ast.Return) and node.value is not None
        for part in (node.value.elts if isinstance(node.value, ast.Tuple) else [node.value])
        for name in (ast.unparse(part),)
    }
    return [call for call in compiles(script) if _last(call) in fitted | given]


def _last(call: ast.Call) -> str:
    return ast.unparse(call.func.value).rpartition(".")[2] if isinstance(call.func, ast.Attribute) else ""


def _of_compile(script: Script, call: ast.Call) -> str:
    assert isinstance(call.func, ast.Attribute)
    model = call.func.value
    while isinstance(model, ast.Attribute):
        model = model.value
    stmt = script.statement(call)
    if not isinstance(model, ast.Name) or not isinstance(stmt, ast.Expr) or stmt.value is not call:
        return "as a model without a name is compiled"
    if any(k.arg == "target_tensors" for k in call.keywords):
        return "as compile() is given the tensors of its targets"
    makers = [v.func for v in script.bindings.get(ast.unparse(call.func.value), []) if isinstance(v, ast.Call)]
    unseen = next((one for one in makers if _is_unseen(script, one)), None)
    return "" if unseen is None else f"as it is not seen how {ast.unparse(unseen)} makes the model"


def _is_unseen(script: Script, maker: ast.expr) -> bool:
    """True for what makes a model in a package other than keras, and for a model that is read from a file."""
    name = script.name(maker)
    if not name and isinstance(maker, ast.Name):
        classes = (node.name for node in ast.walk(script.tree) if isinstance(node, ast.ClassDef))
        return definition(script, maker) is None and maker.id not in classes
    if not name:
        return False
    if name.partition(".")[0] == _PACKAGE:
        return has(name, Trait.READS_MODEL)
    return module_beside(script, name.rpartition(".")[0]) is None and module_beside(script, name) is None


def _files(script: Script) -> list[Script]:
    """The script and the files of its project that it imports, one through the other."""
    trees = ((path, parsed(path)) for path in imported_files(script.path, script.tree))
    return [script, *(Script(path, "", tree) for path, tree in trees if tree is not None)]


def _of_layers(files: list[Script]) -> str:
    calls = [(file, call) for file in files for call in file.calls]
    return next((why for file, call in calls if (why := _of_layer(file, call))), "")


def _of_layer(script: Script, call: ast.Call) -> str:
    told = {k.arg for k in call.keywords if k.arg and is_on(k.value)}
    if "stateful" in told:
        return "as a stateful layer hands its state on to the next batch"
    if told & {"batch_input_shape", "batch_shape"}:
        return "as the model is built for one size of batch"
    if "activity_regularizer" in told or last_name(script, call.func) == "add_loss":
        return "as each copy would add its loss of what a layer gives"
    if last_name(script, call.func) == "Lambda" and (reduced := _reduced_in(script, argument(call, 0, "function"))):
        return f"as a layer computes with all examples of a batch at once ({reduced})"
    return ""


def _reduced_in(script: Script, function: ast.expr | None) -> str:
    """Where the function of a layer reduces the axis of the examples, as `file:line`; "" where it does not."""
    found = definition(script, function) if function is not None else None
    file, code = found if found is not None else (script, function)
    for node in ast.walk(code) if isinstance(code, ast.Lambda | ast.FunctionDef) else ():
        if isinstance(node, ast.Call) and last_name(file, node.func) in _REDUCTIONS and file.name(node.func):
            axis = argument(node, 1, "axis")
            if axis is None or (isinstance(axis, ast.Constant) and axis.value in (0, None)):
                return f"{file.path}:{node.lineno}"
    return ""


def _of_sizes(script: Script, files: list[Script]) -> str:
    """Batches whose size is not seen are shared by the GPUs: batch normalisation would see a part of them."""
    if all(is_of_arrays(call) or maker_of(script, call) is not None for call in keras_fits(script)):
        return ""
    if next(_norms(files), None) is None:
        return ""
    why = "as the size of its batches is not seen, and batch normalisation would have the statistics of a part of them"
    return f"{why} (--batch total trains so all the same)"


def _norms(files: list[Script]) -> Iterator[tuple[Script, ast.Call]]:
    """Where batch normalisation comes in: a layer, or a model of the package that has it."""
    for file in files:
        for call in file.calls:
            name = f"{file.name(call.func)}."
            if last_name(file, call.func) == "BatchNormalization" or f"{_PACKAGE}.applications." in name:
                yield file, call


def copied(case: Case) -> Case:
    """Copies of the model are made in front of compile(), and train in its place."""
    script, options = case.script, case.options
    trained = _trained(script)
    if options.num_gpus is None or options.num_gpus < 2 or options.fewer_gpus != "refuse":
        flag = "--fewer-gpus allow" if options.fewer_gpus != "refuse" else f"--num-gpus {options.num_gpus or 'auto'}"
        message = f"{flag} is not for the package keras: its multi_gpu_model takes a number of GPUs from 2 on"
        script.say(trained[0], "TMG287", message, f"leave {flag} out")
        return case
    fits = keras_fits(script)
    makers = [maker_of(script, call) for call in fits if not is_of_arrays(call)]
    total = options.batch == "total" or None in makers
    if total and options.batch == "per-gpu":
        _say_not_found(script, next(f for f in fits if not is_of_arrays(f) and maker_of(script, f) is None))
    _check(case, total)
    name = script.new(_HELPER)
    changes = [_helper(script, name)]
    for call in trained:
        assert isinstance(call.func, ast.Attribute)
        line = f"{name}({script.of(call.func.value)}, gpus={options.num_gpus})"
        changes.append(lines_before(script, script.statement(call), [line], COPIED))
    if not total:
        changes += _sizes(case, [maker for maker in makers if maker is not None])
    return replace(adding(case, changes), decisions=tuple(_decisions(case, trained, total)))


def _say_not_found(script: Script, call: ast.Call) -> None:
    message = "the size of the batches that are trained on here was not found: the GPUs share each of them"
    hint = "give the generator its size by a parameter batch_size, or load N times as many examples for each batch"
    script.say(call, "TMG303", message, hint, "warning")


def _check(case: Case, total: bool) -> None:
    """Refuse what copies would compute otherwise, and warn of what they take from a part of the batch."""
    script = case.script
    for loss in () if total else keras_losses(script):
        if _adds_up(script, loss):
            message = "this loss adds up the examples: it is computed of those of all GPUs, not the mean of the GPUs'"
            script.say(loss, "TMG288", message, "let it be a mean over the examples, or use --batch total")
    if total:
        check_part(script, keras_code(script))
    norm = next(_norms(_files(script)), None)
    if norm is not None:
        file, call = norm
        place = call if file is script else _trained(script)[0]
        message = "batch normalisation takes its statistics from the examples of one GPU"
        hint = "the moving averages are those of the last GPU's examples"
        script.say(place, "TMG381", message, hint, "warning")


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


def _helper(script: Script, name: str) -> Change:
    """The function that makes the copies, below the imports of the script."""
    text = source_of("copies")
    (function,) = (stmt for stmt in parse_text(text).body if isinstance(stmt, ast.FunctionDef))
    lines = text.splitlines()[function.lineno - 1 : function.end_lineno]
    lines = [_indented_by(line, script.unit).replace(_HELPER, name) for line in lines]
    last = [stmt for stmt in script.tree.body if isinstance(stmt, ast.Import | ast.ImportFrom)][-1]
    rest = script.tree.body[script.tree.body.index(last) + 1 :]
    return lines_before(script, rest[0], ["", *lines, "", ""], COPIED)


def _indented_by(line: str, unit: str) -> str:
    depth = (len(line) - len(line.lstrip(" "))) // 4
    return unit * depth + line.lstrip(" ")


def _sizes(case: Case, makers: list[Maker]) -> Iterator[Change]:
    """Batches of fit() and of generators grow, and what counts them follows."""
    script, times = case.script, str(case.options.num_gpus)
    arrays = [call for call in keras_fits(script) if is_of_arrays(call)]
    yield from grown_fits(case, times, BATCH, arrays)
    yield from grown_makers(script, makers, times, case.width, BATCH)
    grown = set(reads_of(script, makers))
    counted = [c for c in batch_counts(script, case.options, keras_code(script)) if (c.begin, c.end) not in grown]
    yield from counted
    yield from _written_out(script, makers, times, {(c.begin, c.end) for c in counted})


def _written_out(script: Script, makers: list[Maker], times: str, known: set[tuple[int, int]]) -> Iterator[Change]:
    """Numbers of steps that are divided by a size which is written out, as `len(x) // 32`."""
    sizes = {ast.unparse(m.size) if m.size is not None else str(DEFAULT_BATCH) for m in makers}
    for call in keras_fits(script):
        place = {"fit": 12, "fit_generator": 1}.get(getattr(call.func, "attr", ""))
        steps = argument(call, place, "steps_per_epoch") if place is not None else None
        if steps is None:
            continue
        divisors = [node.right for node in ast.walk(script.value(steps)) if _divides(node)]
        written = [one for one in divisors if script.span(one) not in known and ast.unparse(one) in sizes]
        if not written:
            check_count(script, steps)
        for one in written[:1]:
            begin, end = script.span(one)
            yield Change(begin, end, f"({script.text[begin:end]} * {times})", COUNTED)


def _divides(node: ast.AST) -> TypeGuard[ast.BinOp]:
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div | ast.FloorDiv)


def _decisions(case: Case, trained: list[ast.Call], total: bool) -> Iterator[Decision]:
    number = case.options.num_gpus
    models = ", ".join(dict.fromkeys(ast.unparse(c.func.value) for c in trained if isinstance(c.func, ast.Attribute)))
    yield Decision("target", "mirrored: the package keras trains here", "multi_gpu_model, as the package keras trains")
    size = "the script's, shared by the GPUs" if total else "the script's for each GPU"
    yield Decision("batch size", size, f"batch size {size}")
    yield Decision("loss", "computed once, on the batch of all GPUs")
    yield Decision("copies", f"{number} of {models}, by keras.utils.multi_gpu_model (keras 2.2 and 2.3)")
    yield Decision("saved", f"{models}, as for one GPU")


def trains_by_package(script: Script) -> bool:
    """True if a script imports the package `keras`."""
    modules = (alias.name for n in ast.walk(script.tree) if isinstance(n, ast.Import) for alias in n.names)
    sources = (n.module or "" for n in ast.walk(script.tree) if isinstance(n, ast.ImportFrom) and not n.level)
    return any(name.partition(".")[0] == _PACKAGE for name in (*modules, *sources))
