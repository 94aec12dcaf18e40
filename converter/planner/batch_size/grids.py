"""Grids with a place for each example: `save_images(samples, [8, 8])`, or sides that are the root of the batch size."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Set
from fractions import Fraction

from converter.analysis.counts.degrees import degree_in
from converter.analysis.counts.reading import TermReader
from converter.analysis.facts import Facts
from converter.analysis.values import Host, Number, Origin, Tensor, Value, depends_on, needed, up_to

ROOT = Fraction(1, 2)  # the degree of a side in the number of examples


def grids(facts: Facts, sizes: Iterable[Origin]) -> Iterator[ast.AST]:
    """The calls that lay out a whole batch in a grid of as many places: by literal sides, or by the size's root.

    So do those that make an array of such sides, into which a loop over the whole batch puts its rows.

    N times a square is no square for most numbers of GPUs N: the grid would not take the rows of the larger batch.
    """
    origins = frozenset(sizes)
    reading = TermReader(origins, lambda _: None)
    values: dict[ast.AST, Value] = {access.node: access.value for access in facts.accesses if not access.write}
    values.update({node: value for (_, node), value in facts.results.items()})
    values.update({node: facts.operands_of(node)[0] for node in facts.operands if isinstance(node, ast.BinOp)})
    yield from _literal_grids(facts, origins, values)
    numbers = {node: value for node, value in values.items() if isinstance(value, (Number, Host))}
    roots = {n for n, v in numbers.items() if degree_in(reading.of(v)) == ROOT and not _is_rounded_up(v)}
    for call in facts.nodes(ast.Call) if roots else ():
        given = [*call.args, *(keyword.value for keyword in call.keywords)]
        groups = [given, *(each.elts for each in given if isinstance(each, (ast.Tuple, ast.List)))]
        holder = [call.func.value] if isinstance(call.func, ast.Attribute) else []
        if any(_is_square(group, roots) for group in groups) and (
            any(_has_every_row(values.get(n)) for n in (*holder, *given))
            or any(_takes_every_row(facts, made) for made in facts.results_of(call))
        ):
            yield call


def _literal_grids(facts: Facts, sizes: Set[Origin], values: Mapping[ast.AST, Value]) -> Iterator[ast.AST]:
    """The calls that lay out results of N times as many rows by two literal sides, whose product is the batch size."""
    numbers = [value for value in values.values() if isinstance(value, Number) and not value.linear.isdisjoint(sizes)]
    rows = {number.value for number in numbers if not any(map(_is_number, number.inputs))}
    fed: dict[ast.AST | None, list[Value]] = {run.call: [value for _, value in run.feeds] for run in facts.runs}
    for call in facts.nodes(ast.Call) if rows else ():
        given = [*call.args, *(keyword.value for keyword in call.keywords)]
        groups = [given, *(each.elts for each in given if isinstance(each, (ast.Tuple, ast.List)))]
        if any(_places(call, group) in rows for group in groups if group):
            holder = [call.func.value] if isinstance(call.func, ast.Attribute) else []
            shown = [_run_behind(values.get(node)) for node in (*holder, *given)]
            made = [one for run in shown if run is not None for one in (run, *fed.get(run.node, ()))]
            if depends_on(made, sizes):
                yield call


def _is_number(value: Value) -> bool:
    return isinstance(value, Number)


def _places(call: ast.Call, group: list[ast.expr]) -> int:
    """The product of two literal sides; of a new shape the first two, where all of it is literal; else 0."""
    sides = [n.value for n in group if isinstance(n, ast.Constant) and type(n.value) is int and n.value > 1]
    name = getattr(call.func, "attr", getattr(call.func, "id", ""))
    is_grid = len(sides) == len(group) and (len(sides) == 2 or (len(sides) > 2 and name == "reshape"))
    return sides[0] * sides[1] if is_grid else 0


def _is_rounded_up(number: Value) -> bool:
    """Whether a number may be larger than the root: a grid with free places has room."""
    return any(isinstance(v, Host) and v.call.rpartition(".")[2] == "ceil" for v in needed([number]).values())


def _is_square(group: list[ast.expr], roots: set[ast.AST]) -> bool:
    """Whether two of several numbers are roots of the batch size, or one is, and another is what remains."""
    sides = sum(node in roots for node in group)
    rest = any(isinstance(n, ast.UnaryOp) and getattr(n.operand, "value", None) == 1 for n in group)
    return sides > 1 or (sides == 1 and rest)


def _takes_every_row(facts: Facts, array: Value) -> bool:
    """Whether a loop over results for each example writes into an array."""
    sites = (site for write in facts.item_writes(array) for site in write.site.chain() if site in facts.turned)
    over = up_to([facts.turned[site] for site in sites], lambda one: isinstance(one, Host) and one.call != "item")
    return any(map(_has_every_row, over.values()))


def _has_every_row(value: Value | None) -> bool:
    """Whether a value is a result for each example of a batch, of which none are left out."""
    return value.batch.kind == "example" if isinstance(value, Tensor) else _run_behind(value) is not None


def _run_behind(value: Value | None) -> Host | None:
    """The run that a value is a result of, with all of its rows."""
    while isinstance(value, Host):
        if value.call.rpartition(".")[2] in ("run", "eval"):
            return value
        index = needed(value.inputs[1:]).values() if value.call == "[]" else ()
        if any(isinstance(v, Host) and v.call == "slice" for v in index):
            return None
        value = next((v for v in value.inputs if isinstance(v, (Host, Tensor))), None)
    return None
