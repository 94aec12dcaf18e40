"""Scripts that Keras trains: the model is built under the strategy, and its batch grows with the GPUs."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from converter.options import Options
from converter.syntax.changes import Change, added_argument, indented, lines_before
from converter.syntax.script import Script, argument, is_spread
from converter.targets.mirrored.datasets import Kind, Reader
from converter.targets.mirrored.strategy import check_shares, strategy_lines
from converter.targets.passes import Case, Known, adding

SCOPE, BATCH, ROWS = "TMG153", "TMG154", "TMG155"
DEFAULT_BATCH = 32  # of Model.fit (tensorflow/python/keras/engine/training.py, 1.15 and 2.x)
_BUILDS = (
    "tf.keras.Sequential",
    "tf.keras.Model",
    "tf.keras.Input",
    "tf.keras.models.",
    "tf.keras.layers.",
    "tf.keras.applications.",
    "tf.keras.engine.",
)
_FITS = ("fit", "fit_generator", "train_on_batch")
_TRAINED_BY_HAND = ("tf.GradientTape", "tf.contrib.eager.GradientTape")


def keras_fits(script: Script) -> list[ast.Call]:
    """The calls that train a compiled Keras model."""
    compiled = {
        ast.unparse(call.func.value) for call in _compiles(script) if isinstance(call.func, ast.Attribute)
    }
    known = {name.rpartition(".")[2] for name in compiled}
    return [
        call
        for call in script.calls
        if isinstance(call.func, ast.Attribute)
        and call.func.attr in _FITS
        and not script.name(call.func)
        and ast.unparse(call.func.value).rpartition(".")[2] in known | _returned(script, known)
    ]


def _returned(script: Script, models: set[str]) -> set[str]:
    """Names that are bound to what a function returns that compiles a model."""
    makers = {
        name
        for name, found in script.functions.items()
        for function in found
        if any(
            isinstance(n, ast.Return)
            and n.value is not None
            and ast.unparse(n.value).rpartition(".")[2] in models
            for n in ast.walk(function)
        )
    }
    return {
        place.rpartition(".")[2]
        for place, values in script.bindings.items()
        for value in values
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id in makers
    }


def _compiles(script: Script) -> list[ast.Call]:
    return [
        call
        for call in script.calls
        if isinstance(call.func, ast.Attribute)
        and call.func.attr == "compile"
        and not script.name(call.func)
        and (call.args or call.keywords)
        and ({k.arg for k in call.keywords} & {"optimizer", "loss", "metrics"} or len(call.args) > 1)
    ]


@dataclass(frozen=True)
class Scoped(Case):
    """A script whose models are built under strategies; strategies: the names of these, by the calls of compile()."""

    strategies: tuple[str, ...] = ()


def scopes(case: Case) -> Scoped:
    """The statements that build and compile a model stand under a strategy."""
    made = [_scope(case.script, call, case.options) for call in _compiles(case.script)]
    names = tuple(name for name, _ in made if name)
    fits = keras_fits(case.script)
    if len(set(names)) > 1 and len(fits) > 1:
        message = "several models are compiled and trained"
        case.script.say(fits[1], "TMG289", message, "convert scripts of one model")
    return Scoped(**vars(adding(case, [change for _, changes in made for change in changes])), strategies=names)


def batches(case: Scoped) -> Scoped:
    """fit() takes the batch of all GPUs; rows that do not fill one are left out."""
    if not case.strategies:
        return case
    changes: list[Change] = []
    for call in keras_fits(case.script):
        changes += _fit(case.script, call, case.strategies[0], case.options, case.width)
    return adding(case, changes)


def differences(case: Known) -> Known:
    """What the strategy refuses, or does otherwise than one GPU, is noted."""
    script = case.script
    for call in script.calls:
        name = script.name(call.func)
        if name in _TRAINED_BY_HAND:
            script.say(call, "TMG289", "the training loop takes gradients itself", "train by model.fit")
        if name.startswith("tf.keras.") and name.endswith(("BatchNormalization", "SyncBatchNormalization")):
            script.say(
                call,
                "TMG381",
                "batch normalisation takes its statistics from the examples of one GPU",
                "the moving averages are the mean of all GPUs'",
                "warning",
            )
        for keyword in call.keywords:
            if keyword.arg in ("clipnorm", "clipvalue"):
                script.say(
                    keyword.value,
                    "TMG284",
                    f"{keyword.arg} would clip the gradients of each GPU, not their mean",
                    "take it out",
                )
        last = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        if last in ("evaluate", "predict") and not name and len(call.args) > (last == "evaluate"):
            _warn_of_rows(script, call, last)
    return case


def _warn_of_rows(script: Script, call: ast.Call, what: str) -> None:
    script.say(
        call,
        "TMG382",
        f"{what}() raises an error where the GPUs get different numbers of rows",
        "give it a multiple of the number of GPUs, on TensorFlow 1.15 of its batch size, or a tf.data dataset",
        "warning",
    )


def _scope(script: Script, compiled: ast.Call, options: Options) -> tuple[str, list[Change]]:
    """The strategy under which the statements that build and compile a model stand, and what changes for that.

    Its name is "" where that cannot be.
    """
    stmt = script.statement(compiled)
    block = script.block(stmt)
    built = [s for s in block[: block.index(stmt) + 1] if any(_builds(script, n) for n in _run_by(s))]
    fits = [s for s in block if any(c in keras_fits(script) for c in ast.walk(s))]
    before = [s for s in fits if block.index(s) < block.index(stmt)]
    if before:
        built = [s for s in built if block.index(s) > block.index(before[-1])]
    if not built:
        script.say(
            compiled,
            "TMG289",
            "the model is not built in the block that compiles it",
            "build it right before compile(): the strategy has to see both",
        )
        return "", []
    if not _own_lines(script, built[0], stmt):
        script.say(
            built[0], "TMG289", "these statements share a line with others", "give each a line of its own"
        )
        return "", []
    name = script.new("strategy")
    *imported, made = strategy_lines(script, built[0], name, options, SCOPE)
    scope = f"{script.indentation(built[0])}with {name}.scope():{script.newline}"
    changes = [*imported, Change(made.begin, made.end, made.text + scope, SCOPE)]
    changes += [
        Change(script.line(n), script.line(n), script.unit, SCOPE)
        for n in range(1, built[0].lineno)
        if script.line(n) >= made.begin and script.line_text(n).strip()  # comments and decorators of the first one
    ]
    return name, [*changes, *indented(script, built[0], stmt, SCOPE)]


def _run_by(stmt: ast.stmt) -> Iterator[ast.AST]:
    """The nodes of a statement that are run where it stands: not those of functions and classes that it defines."""
    if isinstance(stmt, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Import | ast.ImportFrom):
        return
    yield from ast.walk(stmt)


def _builds(script: Script, node: ast.AST) -> bool:
    """Whether a node makes a layer or a model, or calls a function or class of the script that does."""
    if not isinstance(node, ast.Call):
        return False
    name = script.name(node.func)
    if name:
        return name.startswith(_BUILDS) and name.rpartition(".")[2] not in ("load_model",)
    called = getattr(node.func, "id", getattr(node.func, "attr", ""))
    if called == "compile" or called in _FITS:
        return False
    inside: list[ast.AST] = [*script.functions.get(called, ())]
    inside += [n for n in ast.walk(script.tree) if isinstance(n, ast.ClassDef) and n.name == called]
    return any(
        isinstance(n, ast.Call) and script.name(n.func).startswith(_BUILDS)
        for i in inside
        for n in ast.walk(i)
    )


def _own_lines(script: Script, first: ast.stmt, last: ast.stmt) -> bool:
    begin, end = script.span(first)[0], script.span(last)[1]
    head = script.text[script.line(first.lineno) : begin]
    rest = script.line_text(last.end_lineno or 0)[end - script.line(last.end_lineno or 0) :].strip()
    return not head.strip() and (not rest or rest.startswith("#"))


def _fit(script: Script, call: ast.Call, strategy: str, options: Options, width: int) -> list[Change]:
    """The batch of fit() is the one of all GPUs; rows that do not fill one are left out."""
    attribute = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    if attribute != "fit":
        script.say(
            call,
            "TMG289",
            f"{attribute}() is not supported under a distribution strategy",
            "give fit() a tf.data dataset",
        )
        return []
    if is_spread(call):
        script.say(call, "TMG289", "the arguments of fit() are given by * or **", "write them out")
        return []
    if script.function(call) is not None and not _reaches(script, call):
        script.say(
            call,
            "TMG289",
            "fit() is called in a function that does not see the strategy",
            "build, compile and fit in one function, or at top level",
        )
        return []
    for name in ("validation_split", "class_weight"):
        given = argument(call, {"validation_split": 6, "class_weight": 9}[name], name)
        if given is not None and not (isinstance(given, ast.Constant) and not given.value):
            script.say(
                given,
                "TMG289",
                f"{name} fails under a strategy on TensorFlow 1.15",
                "split the arrays yourself" if name == "validation_split" else "give sample_weight",
            )
    if argument(call, 7, "validation_data") is not None:
        _warn_of_rows(script, call, "the validation in fit")
    x, y = argument(call, 0, "x"), argument(call, 1, "y")
    factor = f"{strategy}.num_replicas_in_sync"
    if y is not None:
        return _of_arrays(
            script,
            call,
            [v for v in (x, y, argument(call, 10, "sample_weight")) if v],
            factor,
            options,
            width,
        )
    if x is not None and Reader(script).kind(x) is Kind.DATASET:
        return _of_dataset(script, call, x, factor, options)
    script.say(
        x or call,
        "TMG289",
        "fit() takes what is neither arrays nor a tf.data dataset",
        "give it a tf.data dataset",
    )
    return []


def _reaches(script: Script, call: ast.Call) -> bool:
    """Whether the name of the strategy is bound in the function of the call, or at top level."""
    compiles = _compiles(script)
    where = [script.function(one) for one in compiles]
    return all(one is None or one is script.function(call) for one in where)


def _of_arrays(
    script: Script, call: ast.Call, arrays: list[ast.expr], factor: str, options: Options, width: int
) -> list[Change]:
    if not all(isinstance(array, ast.Name | ast.Attribute) for array in arrays):
        script.say(
            call,
            "TMG289",
            "what fit() takes has no name",
            "bind the arrays to names before they are given to fit()",
        )
        return []
    given = argument(call, 2, "batch_size")
    if options.batch == "total":
        text = script.of(given) if given is not None else str(DEFAULT_BATCH)
        if given is not None:
            check_shares(script, given, options)
    else:
        text = f"{script.operand(given) if given is not None else DEFAULT_BATCH} * {factor}"
    batch, rows = script.new("global_batch"), script.new("rows")
    lines = [
        f"{batch} = {text}",
        f"{rows} = len({script.of(arrays[0])}) // {batch} * {batch}  # whole batches, the same for each GPU",
    ]
    changes = [lines_before(script, script.statement(call), lines, ROWS)]
    for array in arrays:
        place = script.span(array)[1]
        changes.append(Change(place, place, f"[:{rows}]", ROWS))
    if given is None:
        return [*changes, added_argument(script, call, f"batch_size={batch}", width, BATCH)]
    begin, end = script.span(given)
    return [*changes, Change(begin, end, batch, BATCH)]


def _of_dataset(
    script: Script, call: ast.Call, data: ast.expr, factor: str, options: Options
) -> list[Change]:
    """The dataset's own batch grows; a last batch that is smaller is left out."""
    found = [
        node
        for node in _behind(script, data)
        if isinstance(node.func, ast.Attribute) and node.func.attr == "batch"
    ]
    if len(found) != 1 or argument(found[0], 0, "batch_size") is None:
        script.say(
            data,
            "TMG289",
            "the batch size of this dataset is not seen",
            "call dataset.batch() in this file, once",
        )
        return []
    size = argument(found[0], 0, "batch_size")
    assert size is not None
    changes = []
    if options.batch == "per-gpu":
        if (
            script.function(found[0]) is not script.function(call)
            or found[0].lineno < _compiles(script)[0].lineno
        ):
            script.say(
                found[0],
                "TMG289",
                "the dataset is made before the strategy",
                "build and compile the model first, or use --batch total",
            )
            return []
        begin, end = script.span(size)
        changes.append(Change(begin, end, f"{script.operand(size)} * {factor}", BATCH))
    if argument(found[0], 1, "drop_remainder") is None:
        changes.append(added_argument(script, found[0], "drop_remainder=True", 10**6, ROWS))
    return changes


def _behind(script: Script, node: ast.expr) -> Iterator[ast.Call]:
    """The calls that make a dataset, followed through names that are bound once or again to themselves."""
    open_, seen = [node], set()
    while open_:
        one = open_.pop()
        for value in (
            script.bindings.get(ast.unparse(one), []) if isinstance(one, ast.Name | ast.Attribute) else [one]
        ):
            if id(value) in seen:
                continue
            seen.add(id(value))
            for inner in ast.walk(value):
                if isinstance(inner, ast.Call):
                    yield inner
                elif isinstance(inner, ast.Name):
                    open_.append(inner)
