"""Input functions of an Estimator's training: a strategy takes them only where they return a dataset."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TypeGuard

from converter.analysis.traits import Trait, has
from converter.options import Options
from converter.syntax.changes import Change, lines_before, replaced, without_statement
from converter.syntax.known import is_known
from converter.syntax.script import (
    Function,
    Script,
    argument,
    method_name,
    names_bound,
    names_read,
    nodes_of,
)
from converter.targets.mirrored.counts import is_batch_size, is_division, warn_of_count
from converter.targets.mirrored.datasets import Body, Kind, Reader, dataset_of, is_iterator_call
from converter.targets.mirrored.elsewhere import definition
from converter.targets.mirrored.numpy_input import HELPER, helper_lines
from converter.targets.mirrored.replicated import reachable
from converter.targets.mirrored.strategy import check_shares

RETURNED, BATCH, FROM_ARRAYS = "TMG151", "TMG154", "TMG152"


def training_input(script: Script, given: ast.expr, options: Options) -> list[Change]:
    """The changes to the input function that training takes; findings where it cannot become a dataset."""
    reader = Reader(script)
    changes: list[Change] = []
    found = list(_functions(script, given))
    if not found:
        script.finding(given, "TMG281 unseen")
    for where, function in found:
        if where is not script:
            assert isinstance(function, ast.FunctionDef)
            _of_other_file(script, given, reader, (reader.of_file(where), function), options)
            continue
        if isinstance(function, ast.Call):
            changes += _from_arrays(script, function)
        elif isinstance(function, ast.Lambda):
            if _is_unseen(script, function.body):
                script.finding(function, "TMG281 unseen")
            elif reader.kind(function.body) is not Kind.DATASET:
                script.finding(function, "TMG281 no_dataset")
        else:
            changes += _of_function(script, function, reader)
        if options.batch == "total":
            changes += _smaller(script, function, options)
    return changes


def _of_other_file(
    script: Script, given: ast.expr, reader: Reader, found: tuple[Reader, ast.FunctionDef], options: Options
) -> None:
    """An input function of another file, which stays as it is: it has to return a dataset already."""
    other, function = found
    before = len(other.script.findings)
    call = given.body if isinstance(given := _bound_before(script, given), ast.Lambda) else None
    passed = reader.passed(call, function) if isinstance(call, ast.Call) else {}
    returns = other.body(function, passed).returns
    if not returns:
        other.script.finding(function, "TMG281 returns_nothing")
    for stmt, kind in returns:
        if kind is Kind.ELEMENT:
            other.script.finding(stmt, "TMG281 tensors_of_other_file")
        elif kind is not Kind.DATASET:
            other.script.finding(stmt, "TMG281 no_dataset")
    for node in reachable(other.script, function) if options.batch == "per-gpu" else ():
        if is_division(node) and is_batch_size(node.right):
            warn_of_count(other.script, node)
    script.findings.extend(other.script.findings[before:])
    if options.batch == "total":
        script.finding(given, "TMG288 input_of_other_file")


def _functions(script: Script, given: ast.expr) -> Iterator[tuple[Script, Function | ast.Call]]:
    """The functions behind an input function, or the call of numpy_input_fn that makes it, each with its file."""
    given = _bound_before(script, given)
    if isinstance(given, ast.Lambda):
        inner = given.body
        found = definition(script, inner.func) if isinstance(inner, ast.Call) and _is_imported(script, inner) else None
        yield found or (script, given)
    elif isinstance(given, ast.Call):
        if is_known(script, given.func, Trait.NUMPY_INPUT):
            yield script, given
        elif script.name(given.func) == "functools.partial" and given.args:
            yield from _functions(script, given.args[0])
        elif factory := definition(script, given.func):
            yield from _made_by(*factory)
    elif function := definition(script, given):
        yield function


def _is_unseen(script: Script, node: ast.expr) -> bool:
    """True for the call of a function that some other module has, which is not found."""
    name = script.name(node.func) if isinstance(node, ast.Call) else ""
    return bool(name) and not name.startswith(("tf.", "tensorflow_datasets."))


def _is_imported(script: Script, call: ast.Call) -> bool:
    """True for a call by a plain name or by the name of a module: not of a method of some object."""
    return isinstance(call.func, ast.Name) or bool(script.name(call.func))


def _bound_before(script: Script, given: ast.expr) -> ast.expr:
    """The value of a name at its use: if it is assigned several times, by the nearest statement above in its block."""
    if not isinstance(given, ast.Name):
        return script.value(given)
    if any(isinstance(one, ast.For) and given.id in names_bound(one.target) for one in script.above(given)):
        return given
    if len(script.bindings.get(given.id, [])) < 2:
        return script.value(given)
    stmt = script.statement(given)
    block = script.block(stmt)
    for one in reversed(block[: block.index(stmt)]):
        if isinstance(one, ast.Assign) and [ast.unparse(target) for target in one.targets] == [given.id]:
            return script.value(one.value)
        if given.id in names_bound(one):
            return given
    return given


def _made_by(script: Script, factory: ast.FunctionDef) -> Iterator[tuple[Script, Function | ast.Call]]:
    """The functions that a maker of input functions can return."""
    inner = {node.name: node for node in nodes_of(ast.FunctionDef, factory) if node is not factory}
    for value in script.returned(factory):
        if isinstance(value, ast.Name) and value.id in inner:
            yield script, inner[value.id]
        else:
            yield from _functions(script, value)


def _of_function(script: Script, function: ast.FunctionDef, reader: Reader) -> list[Change]:
    body = reader.body(function)
    if not body.returns:
        script.finding(function, "TMG281 returns_nothing")
    changes: list[Change] = []
    for stmt, kind in body.returns:
        if kind is Kind.ELEMENT:
            changes += _returned(script, function, stmt, body)
        elif kind is not Kind.DATASET:
            script.finding(stmt, "TMG281 no_dataset")
    return changes


def _returned(script: Script, function: ast.FunctionDef, stmt: ast.Return, body: Body) -> list[Change]:
    """`return iterator.get_next()` becomes `return dataset`."""
    taken = [node for node in ast.walk(function) if _is_next(node)]
    if len(taken) != 1 or len(body.returns) != 1:
        return script.refused(stmt, "TMG281 several_ways")
    where = script.statement(taken[0])
    iterator = taken[0].func.value if isinstance(taken[0].func, ast.Attribute) else taken[0]
    made = body.made.get(iterator.id) if isinstance(iterator, ast.Name) else iterator
    if made is None or not is_iterator_call(made, script):
        return script.refused(taken[0], "TMG281 iterator_not_seen")
    gone = [where] if where is not stmt else []
    if isinstance(iterator, ast.Name):
        uses = [node for node in nodes_of(ast.Name, function) if node.id == iterator.id and node is not iterator]
        if len(uses) > 1:
            return script.refused(uses[1], "TMG281 iterator_used")
        gone.append(script.statement(made))
    names = names_read(dataset_of(made, script))
    stores = (node for node in nodes_of(ast.Name, function) if node.id in names and isinstance(node.ctx, ast.Store))
    late = next((node for node in stores if node.lineno > made.lineno), None)
    if late is not None:
        return script.refused(late, "TMG281 bound_again")
    dataset = script.of(dataset_of(made, script))
    text = _mapped(script, function, stmt, where, dataset)
    if text is None or any(not script.has_own_lines(one, one) for one in gone):
        return script.refused(stmt, "TMG281 works_on_tensors")
    assert stmt.value is not None
    return [replaced(script, stmt.value, text, RETURNED), *(without_statement(script, one, RETURNED) for one in gone)]


def _is_next(node: ast.AST) -> TypeGuard[ast.Call]:
    return has(method_name(node), Trait.NEXT_BATCH)


def _mapped(script: Script, function: ast.FunctionDef, stmt: ast.Return, where: ast.stmt, dataset: str) -> str | None:
    """The dataset that gives what the function returned; None where that cannot be told."""
    assert stmt.value is not None
    if where is stmt:
        return dataset if _is_next(stmt.value) else None
    target = where.targets[0] if isinstance(where, ast.Assign) and _is_next(where.value) else None
    if target is None or isinstance(target, ast.Tuple) and not all(isinstance(e, ast.Name) for e in target.elts):
        return None
    names = {node.id for node in nodes_of(ast.Name, target)}
    used = (node for node in nodes_of(ast.Name, function) if node.id in names)
    if any(script.statement(node) not in (where, stmt) for node in used):
        return None
    if ast.unparse(stmt.value).strip("()") == ast.unparse(target).strip("()"):
        return dataset
    text = " ".join(line.strip() for line in script.of(stmt.value).splitlines())
    text = f"({text})" if isinstance(stmt.value, ast.Tuple) and text[0] + text[-1] != "()" else text
    if isinstance(target, ast.Tuple):
        return f"{dataset}.map(lambda {', '.join(ast.unparse(e) for e in target.elts)}: {text})"
    parts = (one for one in nodes_of(ast.Subscript, stmt.value) if getattr(one.value, "id", "") in names)
    keys = {type(one.slice.value) for one in parts if isinstance(one.slice, ast.Constant)}
    star = "" if keys == {str} else "*" if keys == {int} else None
    return None if star is None else f"{dataset}.map(lambda {star}{ast.unparse(target)}: {text})"


def _from_arrays(script: Script, call: ast.Call) -> list[Change]:
    """numpy_input_fn gives queues; the helper beside it gives a dataset."""
    made = (one for one in script.calls if is_known(script, one.func, Trait.NUMPY_INPUT))
    around = {outer for one in made for outer in script.above(one)}
    first = next(stmt for stmt in script.tree.body if stmt in around)
    if HELPER in script.words:
        script.finding(call, "TMG281 own_helper", helper=HELPER)
    helper = lines_before(script, first, helper_lines(script), FROM_ARRAYS)
    return [replaced(script, call.func, HELPER, FROM_ARRAYS), helper]


def _smaller(script: Script, function: Function | ast.Call, options: Options) -> list[Change]:
    """`--batch total`: each GPU takes its share of the script's batch."""
    if options.num_gpus is None:
        return script.refused(function, "TMG288 number_of_gpus")
    calls = [] if isinstance(function, ast.Call) else list(nodes_of(ast.Call, function))
    sizes = [argument(call, 0, "batch_size") for call in calls if method_name(call) == "batch"]
    if isinstance(function, ast.Call):
        sizes = [argument(function, 2, "batch_size")]
    if len(sizes) != 1 or sizes[0] is None:
        return script.refused(function, "TMG288 input_size_not_seen")
    check_shares(script, sizes[0], options)
    for call in calls:
        if has(method_name(call), Trait.COUNTS_BATCHES) and sizes[0] in ast.walk(call.func):
            script.finding(call, "TMG288 input_counts_batches", name=method_name(call))
    return [replaced(script, sizes[0], f"{script.operand(sizes[0])} // {options.num_gpus}", BATCH)]
