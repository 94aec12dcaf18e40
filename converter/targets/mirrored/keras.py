"""Scripts that Keras trains: the model is built under the strategy, and its batch grows with the GPUs."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from converter.analysis.traits import Trait, has, names
from converter.dataclass import dataclass
from converter.options import Options
from converter.syntax.changes import Change, added_argument, indented, lines_before, replaced
from converter.syntax.known import is_known
from converter.syntax.script import (
    Script,
    argument,
    called_name,
    is_on,
    is_spread,
    method_name,
    plain_name,
    returns_in,
)
from converter.targets.mirrored.counts import check_count, check_part
from converter.targets.mirrored.datasets import Kind, Reader
from converter.targets.mirrored.losses import check_keras_losses
from converter.targets.mirrored.replicated import keras_code
from converter.targets.mirrored.sessions import check_session
from converter.targets.mirrored.strategy import check_shares, strategy_lines
from converter.targets.passes import Case, Known, adding

SCOPE, BATCH, ROWS = "TMG153", "TMG154", "TMG155"
# Arguments of fit() that fail: their places, and what to do.
_FAILING = ((6, "validation_split", "split the arrays yourself"), (9, "class_weight", "give sample_weight"))
DEFAULT_BATCH = 32  # of Model.fit (tensorflow/python/keras/engine/training.py, 1.15 and 2.x)


def keras_fits(script: Script) -> list[ast.Call]:
    """The calls that train a compiled Keras model."""
    known = {ast.unparse(model).rpartition(".")[2] for model in compiled_models(script)}
    models = known | _returned(script, known)
    trained = [call for call in script.calls if has(script.method(call), Trait.FITS_MODEL)]
    return [call for call in trained if ast.unparse(call.func).split(".")[-2] in models]


def grown_fits(case: Case, times: str, rule: str, fits: list[ast.Call] | None = None) -> Iterator[Change]:
    """The batch sizes of arrays that `fit()` trains on, multiplied; `fit()` has one of its own where none is given.

    fits: the calls that train on arrays; None for all that train.
    """
    script = case.script
    for call in keras_fits(script) if fits is None else fits:
        given = argument(call, 2, "batch_size")
        if given is None:
            yield added_argument(script, call, f"batch_size={DEFAULT_BATCH} * {times}", case.width, rule)
        else:
            yield replaced(script, given, f"{script.operand(given)} * {times}", rule)


def _returned(script: Script, models: set[str]) -> set[str]:
    """Names that are bound to what a function returns that compiles a model."""
    makers = {
        function.name
        for function in script.nodes(ast.FunctionDef)
        if any(ast.unparse(value).rpartition(".")[2] in models for value in returns_in(function))
    }
    bound = ((place.rpartition(".")[2], values) for place, values in script.bindings.items())
    return {name for name, values in bound if any(plain_name(value) in makers for value in values)}


def compiles(script: Script) -> list[ast.Call]:
    """The calls that compile a Keras model."""
    told = {"optimizer", "loss", "metrics"}
    calls = (call for call in script.calls if script.method(call) == "compile")
    return [call for call in calls if len(call.args) > 1 or told & {keyword.arg for keyword in call.keywords}]


def compiled_models(script: Script) -> list[ast.expr]:
    """The models that a script compiles, as the calls name them."""
    return [call.func.value for call in compiles(script) if isinstance(call.func, ast.Attribute)]


@dataclass(frozen=True)
class Scoped(Case):
    """A script whose models are built under strategies; strategies: the names of these, by the calls of compile()."""

    strategies: tuple[str, ...] = ()


@dataclass(frozen=True)
class _OfModels:
    """Calls that make models and layers, that train models, and that cut datasets into batches of all GPUs."""

    building: frozenset[ast.AST]
    fitting: frozenset[ast.AST]
    batching: frozenset[ast.AST]


def scopes(case: Case) -> Scoped:
    """The statements that build and compile a model stand under a strategy."""
    fits = keras_fits(case.script)
    batching = _growing(case.script, fits) if case.options.batch == "per-gpu" else ()
    of_models = _OfModels(frozenset(_building(case.script)), frozenset(fits), frozenset(batching))
    made = [_scope(case.script, call, case.options, of_models) for call in compiles(case.script)]
    names = tuple(name for name, _ in made if name)
    if len(set(names)) > 1:
        several = len(fits) > 1
        message = "several models are compiled and trained" if several else "models are compiled at several places"
        where = (fits if several else compiles(case.script))[1]
        case.script.say(where, "TMG289", message, "convert scripts of one model, compiled at one place")
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
    """Note what the strategy refuses, and where its results differ from one GPU's."""
    script, total = case.script, case.options.batch == "total"
    check_keras_losses(script, total)
    check_session(script)
    if total:
        check_part(script, keras_code(script))
    for call in script.calls:
        if is_known(script, call.func, Trait.TAPE):
            script.finding(call, "TMG289 takes_gradients")
        if is_known(script, call.func, Trait.KERAS_BATCH_NORM):
            script.finding(call, "TMG381 keras")
        for keyword in call.keywords:
            if keyword.arg == "stateful" and is_on(keyword.value):
                script.finding(keyword.value, "TMG289 stateful")
            if keyword.arg in ("clipnorm", "clipvalue", "global_clipnorm"):
                script.finding(keyword.value, "TMG284 keras", name=keyword.arg)
        last = script.method(call)
        takes_rows = last in ("evaluate", "predict") and len(call.args) > (last == "evaluate")
        if takes_rows and Reader(script).kind(call.args[0]) is not Kind.DATASET:
            script.finding(call, "TMG382", what=last)
    return case


def _scope(script: Script, compiled: ast.Call, options: Options, calls: _OfModels) -> tuple[str, list[Change]]:
    """The strategy under which the statements that build and compile a model stand, and what changes for that.

    Its name is "" where that cannot be.
    """
    stmt = script.statement(compiled)
    block = script.block(stmt)
    in_front = block[: block.index(stmt)]
    begin = 1 + max((i for i, s in enumerate(in_front) if not calls.fitting.isdisjoint(ast.walk(s))), default=-1)
    built = [s for s in [*in_front[begin:], stmt] if not calls.building.isdisjoint(_run_by(s))]
    if not built:
        script.finding(compiled, "TMG289 built_elsewhere")
        return "", []
    if not script.has_own_lines(built[0], stmt):
        script.finding(built[0], "TMG289 shares_its_line")
        return "", []
    name = script.new("strategy")
    early = [s for s in block[: block.index(built[0])] if not calls.batching.isdisjoint(_run_by(s))]
    *imported, made = strategy_lines(script, early[0] if early else built[0], name, options, SCOPE)
    opened = lines_before(script, built[0], [f"with {name}.scope():"], SCOPE)
    together = [made, opened] if early else [Change(made.begin, made.end, made.text + opened.text, SCOPE)]
    changes = [*imported, *together]
    changes += [
        Change(script.line(n), script.line(n), script.unit, SCOPE)
        for n in range(1, built[0].lineno)
        if script.line(n) >= opened.begin and script.line_text(n).strip()  # comments and decorators of the first one
    ]
    return name, [*changes, *indented(script, built[0], stmt, SCOPE)]


def _run_by(stmt: ast.stmt) -> Iterator[ast.AST]:
    """The nodes of a statement that are run where it stands: not those of functions and classes that it defines."""
    if isinstance(stmt, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Import | ast.ImportFrom):
        return
    yield from ast.walk(stmt)


def _building(script: Script) -> Iterator[ast.Call]:
    """The calls that make a layer or a model, or call a function or class of the script that does."""
    makes = {
        call
        for call in script.calls
        if is_known(script, call.func, Trait.BUILDS_MODEL) and not is_known(script, call.func, Trait.READS_MODEL)
    }
    defined: list[ast.FunctionDef | ast.ClassDef] = [*script.nodes(ast.FunctionDef), *script.nodes(ast.ClassDef)]
    makers = {node.name for node in defined if not makes.isdisjoint(ast.walk(node))}
    makers -= {"compile", *names(Trait.FITS_MODEL)}
    for call in script.calls:
        if call in makes or (called_name(call) in makers and not script.name(call.func)):
            yield call


def _fit(script: Script, call: ast.Call, strategy: str, options: Options, width: int) -> list[Change]:
    """The batch of fit() is the one of all GPUs; rows that do not fill one are left out."""
    if script.method(call) != "fit":
        return script.refused(call, "TMG289 not_fit", name=script.method(call))
    if is_spread(call):
        return script.refused(call, "TMG289 arguments_by_star")
    if script.function(call) is not None and not _reaches(script, call):
        return script.refused(call, "TMG289 strategy_not_seen")
    steps = argument(call, 12, "steps_per_epoch")
    if steps is not None and not isinstance(steps, ast.Constant) and options.batch == "per-gpu":
        check_count(script, steps)
    for place, name, hint in _FAILING:
        if is_on(given := argument(call, place, name)):
            script.say(given, "TMG289", f"{name} fails under a strategy on TensorFlow 1.15", hint)
    validation = argument(call, 7, "validation_data")
    if validation is not None and Reader(script).kind(validation) is not Kind.DATASET:
        script.finding(call, "TMG382", what="the validation in fit")
    x, y = argument(call, 0, "x"), argument(call, 1, "y")
    factor = f"{strategy}.num_replicas_in_sync"
    if y is not None:
        arrays = [given for given in (x, y, argument(call, 10, "sample_weight")) if given is not None]
        return _of_arrays(script, call, arrays, factor, options, width)
    if x is not None and Reader(script).kind(x) is Kind.DATASET:
        return _of_dataset(script, call, x, factor, options)
    return script.refused(x or call, "TMG289 no_dataset", code=script.of(x or call))


def _reaches(script: Script, call: ast.Call) -> bool:
    """Whether the name of the strategy is bound in the function of the call, or at top level."""
    where = [script.function(one) for one in compiles(script)]
    return all(one is None or one is script.function(call) for one in where)


def _of_arrays(
    script: Script, call: ast.Call, arrays: list[ast.expr], factor: str, options: Options, width: int
) -> list[Change]:
    arrays = [array for given in arrays for array in _single(given)]
    unnamed = next((array for array in arrays if not _is_array(array)), None)
    if unnamed is not None:
        return script.refused(unnamed, "TMG289 no_array", code=script.of(unnamed))
    for array in arrays:
        if isinstance(script.value(_held(array)), ast.List | ast.Tuple | ast.Dict | ast.ListComp | ast.DictComp):
            return script.refused(array, "TMG289 several_arrays", code=script.of(array))
    given, all_rows = argument(call, 2, "batch_size"), f"len({script.of(arrays[0])})"
    size = script.of(given) if given is not None else str(DEFAULT_BATCH)
    replicas, batch, rows = script.new("replicas"), script.new("global_batch"), script.new("rows")
    text = f"min({size}, {all_rows} // {replicas}) * {replicas}"
    if options.batch == "total":
        text = f"min({size}, {all_rows} // {replicas} * {replicas})"
        if given is not None:
            check_shares(script, given, options)
    lines = [
        f"{replicas} = {factor}",
        f"{batch} = {text}",
        f"{rows} = {all_rows} // {batch} * {batch}  # whole batches, the same for each GPU",
    ]
    changes = [lines_before(script, script.statement(call), lines, ROWS)]
    for array in arrays:
        place = script.span(array)[1]
        changes.append(Change(place, place, f"[:{rows}]", ROWS))
    if given is None:
        return [*changes, added_argument(script, call, f"batch_size={batch}", width, BATCH)]
    return [*changes, replaced(script, given, batch, BATCH)]


def _single(given: ast.expr) -> list[ast.expr]:
    """The arrays of several inputs or outputs that are written out in the call: `[words, tags]`, `{'x': words}`."""
    if isinstance(given, ast.List | ast.Tuple):
        return [array for one in given.elts for array in _single(one)]
    if isinstance(given, ast.Dict) and None not in given.keys:
        return [array for one in given.values for array in _single(one)]
    return [given]


def _is_array(given: ast.expr) -> bool:
    """Whether an expression is surely one array, of which some rows can be taken: a name, a part or a copy of one."""
    return isinstance(_held(given), ast.Name | ast.Attribute)


def _held(given: ast.expr) -> ast.expr:
    """The name behind a part of an array (`y[:, 1:]`) or a copy of another type (`x.astype('float32')`)."""
    while True:
        if isinstance(given, ast.Subscript):
            given = given.value
        elif isinstance(given, ast.Call) and isinstance(given.func, ast.Attribute) and given.func.attr == "astype":
            given = given.func.value
        else:
            return given


def _of_dataset(script: Script, call: ast.Call, data: ast.expr, factor: str, options: Options) -> list[Change]:
    """The dataset's own batch grows; a last batch that is smaller is left out."""
    found = _cut(script, data)
    if len(found) != 1 or argument(found[0], 0, "batch_size") is None:
        return script.refused(data, "TMG289 size_not_seen")
    size = argument(found[0], 0, "batch_size")
    assert size is not None
    changes = []
    if options.batch == "per-gpu":
        compiled = compiles(script)[0]
        block = script.block(script.statement(compiled))
        beside = any(one in block for one in script.above(found[0]))  # there the strategy is made before it
        if script.function(found[0]) is not script.function(call) or (found[0].lineno < compiled.lineno and not beside):
            return script.refused(found[0], "TMG289 made_before_strategy")
        for node in _behind(script, data):
            if has(method_name(node), Trait.COUNTS_BATCHES) and script.span(node)[1] > script.span(found[0])[1]:
                script.finding(node, "TMG289 counts_batches", name=method_name(node))
        changes.append(replaced(script, size, f"{script.operand(size)} * {factor}", BATCH))
    if argument(found[0], 1, "drop_remainder") is None:
        changes.append(added_argument(script, found[0], "drop_remainder=True", 10**6, ROWS))
    return changes


def _cut(script: Script, data: ast.expr) -> list[ast.Call]:
    """The calls that cut a dataset into batches."""
    return [call for call in _behind(script, data) if method_name(call) == "batch"]


def _growing(script: Script, fits: list[ast.Call]) -> Iterator[ast.Call]:
    """The calls that cut the datasets of fit() into batches."""
    for call in fits:
        data = argument(call, 0, "x")
        if data is not None and argument(call, 1, "y") is None and Reader(script).kind(data) is Kind.DATASET:
            yield from _cut(script, data)


def _behind(script: Script, node: ast.expr) -> Iterator[ast.Call]:
    """The calls that make a dataset, followed through names that are bound once or again to themselves."""
    return (inner for inner in script.behind(node) if isinstance(inner, ast.Call))
