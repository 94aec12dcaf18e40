"""Grids with a place for each example: `save_images(samples, [8, 8])`, or sides that are the root of the batch size."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Set
from collections.abc import Sequence as SequenceOf
from fractions import Fraction

from converter.analysis.arrays.rows import counted_by, rows_of
from converter.analysis.counts.degrees import degree_in
from converter.analysis.counts.reading import TermReader
from converter.analysis.facts import Facts
from converter.analysis.values import Function, Host, Number, Origin, Sequence, Tensor, Value, depends_on, needed, up_to
from converter.plan import Replace
from converter.planner.writing.helper_names import called
from converter.planner.writing.source_text import SourceText

HELPER = "rows_of_one_gpu"
ROOT = Fraction(1, 2)  # the degree of a side in the number of examples
SIDES = 2
COMPOUND = (ast.If, ast.For, ast.While, ast.With, ast.Try)


def grids(facts: Facts, sizes: Iterable[Origin]) -> Iterator[ast.AST]:
    """The calls that lay out a whole batch in a grid of as many places: by literal sides, or by the size's root.

    So do those that make an array of such sides, into which a loop over the whole batch puts its rows.

    N times a square is no square for most numbers of GPUs N: the grid would not take the rows of the larger batch.
    """
    origins = frozenset(sizes)
    size = frozenset([*origins][:1])

    def rows_shown(length: Value) -> Number | None:
        """The batch size, for what counts the rows of a run's result: `samples.shape[0]`."""
        counted = counted_by(length)
        grows = counted is not None and _grows(facts, counted, origins)
        return Number(None, size, size) if grows else None

    reading = TermReader(origins, rows_shown)
    met = defaultdict[ast.AST, dict[int, Value]](dict)  # by expression, what it was in any execution, each value once
    for node, value in (
        *((access.node, access.value) for access in facts.accesses if not access.write),
        *((node, value) for (_, node), value in facts.results.items()),
        *((n, facts.operands_of(n)[0]) for n in facts.operands if isinstance(n, ast.BinOp)),
    ):
        met[node][value.uid] = value
    values = {node: [*each.values()] for node, each in met.items()}
    yield from _literal_grids(facts, origins, values)

    def is_root(value: Value) -> bool:
        return isinstance(value, (Number, Host)) and degree_in(reading.of(value)) == ROOT

    for call in facts.nodes(ast.Call):
        given = [*call.args, *(keyword.value for keyword in call.keywords)]
        groups = [given, *(each.elts for each in given if isinstance(each, (ast.Tuple, ast.List)))]
        holder = [call.func.value] if isinstance(call.func, ast.Attribute) else []
        told = [node for group in groups for node in group]
        roots = {n for n in told if any(is_root(one) and not _is_rounded_up(one) for one in values.get(n, ()))}
        pairs = (list(one.parts()) for node in given for one in values.get(node, ()) if isinstance(one, Sequence))
        sides = (pair for pair in pairs if len(pair) == SIDES and all(map(is_root, pair)))
        square = any(_is_square(group, roots) for group in groups)
        if (square or any(not all(map(_is_rounded_up, pair)) for pair in sides)) and (
            any(_has_every_row(one) for n in (*holder, *given) for one in values.get(n, ()))
            or any(_takes_every_row(facts, made) for made in facts.results_of(call))
        ):
            yield call


def shown_in(facts: Facts, grid: ast.AST, sizes: Iterable[Origin]) -> list[ast.expr]:
    """The reads of what a run gives for each example of a batch, in the statement that lays it out in a grid.

    Cut to the rows of the script's own batch there, it fits. Where the grid is made in a function, the statement is the
    one that calls it with what was fetched; none where this is no single statement.
    """
    origins = frozenset(sizes)
    found: dict[ast.expr, None] = {}
    for site in {access.site for node in ast.walk(grid) for access in facts.accesses_at(node)}:
        reads: list[ast.expr] = []
        for around in site.chain():
            if not isinstance(around.stmt, COMPOUND):
                met = (access for node in ast.walk(around.stmt) for access in facts.accesses_at(node))
                here = (a for a in met if a.site.frame is around.frame and not a.write)
                own = [a.node for a in here if isinstance(a.node, ast.expr) and _grows(facts, a.value, origins)]
                reads = own or reads
        if not reads:
            return []
        found.update(dict.fromkeys(reads))
    return list(found)


def grid_edits(facts: Facts, sizes: Iterable[Origin], text: SourceText) -> list[Replace]:
    """Edits that lay out in a grid the rows of one GPU's batch alone, as many as it has places."""
    reads = dict.fromkeys(node for grid in grids(facts, sizes) for node in shown_in(facts, grid, sizes))
    return [Replace(text.start(n), text.end(n), f"{called(HELPER)}({text.of(n)})", "TMG168") for n in reads]


def _grows(facts: Facts, value: Value, sizes: Set[Origin]) -> bool:
    """Whether a value is what a run gives, with N times as many rows where the batch size is N times as large."""
    return isinstance(value, Host) and value.call != "[]" and _is_fed_more(facts, value, sizes)


def _is_fed_more(facts: Facts, shown: Value, sizes: Set[Origin]) -> bool:
    """Whether a value is the result of a run with N times as many rows, as far as the numbers of these are known."""
    run = _run_behind(shown)
    if run is None:
        return False
    calls = [one for one in facts.runs if one.call is run.node]
    for call in calls:
        fed = [value for key, value in call.feeds if isinstance(key, Tensor) and key.batch.kind == "example"]
        rows = [number for value in fed if (number := rows_of(facts, value, call.site)) is not None]
        if rows and len(rows) == len(fed):
            return any(number.factors() & sizes for number in rows)
    return depends_on([run, *(value for call in calls for _, value in call.feeds)], sizes)


def _literal_grids(facts: Facts, sizes: Set[Origin], values: Mapping[ast.AST, SequenceOf[Value]]) -> Iterator[ast.AST]:
    """The calls that lay out results of N times as many rows by two literal sides, whose product is the batch size."""
    every = (value for met in values.values() for value in met)
    numbers = [value for value in every if isinstance(value, Number) and not value.linear.isdisjoint(sizes)]
    rows = {number.value for number in numbers if not any(map(_is_number, number.inputs))}
    for call in facts.nodes(ast.Call) if rows else ():
        given = [*call.args, *(keyword.value for keyword in call.keywords)]
        groups = [given, *(each.elts for each in given if isinstance(each, (ast.Tuple, ast.List)))]
        own = isinstance(facts.read_or_written.get(call.func), Function)  # a library's may mean anything by its numbers
        places = [places for group in groups if group and (places := _places(call, group))]
        if any(one in rows or (own and any(n <= one < 2 * n for n in rows if n)) for one in places):
            holder = [call.func.value] if isinstance(call.func, ast.Attribute) else []
            shown = (value for node in (*holder, *given) for value in values.get(node, ()))
            if any(_is_fed_more(facts, value, sizes) for value in shown):
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


def _is_square(group: list[ast.expr], roots: set[ast.expr]) -> bool:
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
    seen = set[int]()  # what a loop computes from itself leads back to itself
    while isinstance(value, Host) and value.uid not in seen:
        if value.call.rpartition(".")[2] in ("run", "eval"):
            return value
        seen.add(value.uid)
        index = up_to(value.inputs[1:], lambda one: not isinstance(one, Sequence)) if value.call == "[]" else {}
        if any(isinstance(one, Host) and one.call == "slice" for one in index.values()):
            return None
        value = next((v for v in value.inputs if isinstance(v, (Host, Tensor))), None)
    return None
