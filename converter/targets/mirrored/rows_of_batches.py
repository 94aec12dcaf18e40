"""Batches that a training loop makes by hand for `train_on_batch`: which number of the script says how many rows.

`index = np.random.randint(0, n, batch_size)`, `model.train_on_batch(x[index], np.ones((batch_size, 1)))`. Where all
rows of all such batches follow one number, the loop trains on larger batches if that number grows.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import replace

from converter.dataclass import dataclass
from converter.syntax.changes import Change, lines_before, replaced
from converter.syntax.script import (
    Script,
    all_arguments,
    argument,
    called_name,
    elements,
    is_spread,
    names_bound,
    nodes_of,
    parameters,
    plain_name,
)
from converter.targets.mirrored.counts import is_batch_size
from converter.targets.mirrored.program import Program
from converter.targets.mirrored.replicated import keras_code, reachable

_MOST_STEPS = 8
# NumPy's functions that give an array, with the place and the name of what says its shape.
_SHAPES = {
    **dict.fromkeys(("ones", "zeros", "empty", "full"), (0, "shape")),
    **dict.fromkeys(("normal", "uniform", "randint"), (2, "size")),
    "choice": (1, "size"),
    **dict.fromkeys(("random_sample", "random"), (0, "size")),
}
_BY_SIDES = ("rand", "randn")  # which take the sides of an array one by one
_JOINS = ("concatenate", "vstack")
_SAME_ROWS = ("array", "asarray", "copy", "clip", "abs", "ones_like", "zeros_like")


@dataclass(frozen=True)
class Rows:
    """A number of rows that training loops give to their batches.

    file: of the loops. function: the function around the loops, None for the file itself. name: of the number.
    value: what the name is bound to, None for a parameter of the function.
    """

    file: Script
    function: ast.FunctionDef | None
    name: str
    value: ast.expr | None
    joined: tuple[ast.expr, ...] = ()

    def uses_in(self, file: Script) -> Iterator[tuple[int, int]]:
        """Where the number is read in a file, also by names of its parts: it has grown there."""
        named: list[ast.expr] = [*file.nodes(ast.Name), *file.nodes(ast.Attribute)] if file is self.file else []
        return (file.span(node) for node in named if is_batch_size(node) and _root(file, node) == self.name)


def rows_of(program: Program, trained: list[tuple[Script, ast.Call]]) -> list[Rows] | None:
    """The numbers of rows of the batches of `train_on_batch()`; None where those of one are not seen."""
    found: dict[tuple[int, int], Rows] = {}
    for file, call in trained:
        assert isinstance(call.func, ast.Attribute)
        given = [one for place, name in enumerate(("x", "y")) if (one := argument(call, place, name)) is not None]
        names = {_rows(file, one) for one in given}
        if is_spread(call) or len(names) != 1 or not given:
            return None
        rows = _grown(file, call, names.pop())
        if rows is None or _builds_with(program, file, rows):
            return None
        before = found.setdefault((id(file), id(rows.function)), rows)
        if (before.name, before.value) != (rows.name, rows.value):
            return None
        if any(_is_joined(file, one) for one in given):
            joined = (*before.joined, call.func.value)
            found[id(file), id(rows.function)] = replace(before, joined=joined)
    return list(found.values())


def _builds_with(program: Program, file: Script, rows: Rows) -> bool:
    """Whether a number of rows is given to what makes layers: they have the batch of one GPU."""
    for call in nodes_of(ast.Call, rows.function or file.tree):
        if not any(_root(file, one) == rows.name for one in all_arguments(call)):
            continue
        where, function = program.definition(file, call.func) or (file, None)
        inner = reachable(where, function) if function is not None else [call]
        layers = any(isinstance(node, ast.Call) and ".layers." in where.name(node.func) for node in inner)
        if layers or any(program.classes(called_name(call))):
            return True
    return False


def _is_joined(file: Script, node: ast.expr, steps: int = _MOST_STEPS) -> bool:
    """Whether an array, or one of a list, has several parts one behind the other."""
    if isinstance(node, ast.Name | ast.Attribute) and steps:
        return any(_is_joined(file, value, steps - 1) for value in file.bound(node))
    if any(called_name(call) in _JOINS for call in nodes_of(ast.Call, node)):
        return True
    named = [*nodes_of(ast.Name, node), *nodes_of(ast.Attribute, node)] if steps else []
    made = (one for one in named if one is not node and {type(value) for value in file.bound(one)} == {ast.Call})
    return any(_is_joined(file, one, steps - 1) for one in made)


def grown_rows(rows: Iterable[Rows], times: str, rule: str) -> Iterator[tuple[Script, Change]]:
    """The numbers of rows, multiplied: where they are bound, or in the first line of the function that gets them."""
    for one in rows:
        file = one.file
        if one.value is not None:
            yield file, replaced(file, one.value, f"{file.operand(one.value)} * {times}", rule)
        elif one.function is not None:
            body = one.function.body
            text = isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant)
            first = body[1] if text and len(body) > 1 else body[0]
            yield file, lines_before(file, first, [f"{one.name} = {one.name} * {times}"], rule)


def _grown(file: Script, call: ast.Call, name: str) -> Rows | None:
    """Where a number of rows may grow: a parameter of the function around the training, or a name bound once."""
    function = file.function(call)
    if not name or any(ast.unparse(node) == name for node in keras_code(file) if isinstance(node, ast.expr)):
        return None
    if function is not None and name in parameters(function):
        return None if name in names_bound(function) else Rows(file, function, name, None)
    values = file.bindings.get(name, [])
    if len(values) != 1 or any(ast.unparse(node.target) == name for node in file.nodes(ast.AugAssign)):
        return None
    return Rows(file, None, name, values[0])


def _rows(file: Script, node: ast.expr, steps: int = _MOST_STEPS) -> str:
    """The name of the number that the rows of an array, or of all arrays of a list, are a multiple of; "" if unseen."""
    if not steps:
        return ""
    if isinstance(node, ast.Name | ast.Attribute):
        return _one_of(_rows(file, value, steps - 1) for value in file.bound(node))
    if isinstance(node, ast.List | ast.Tuple):
        return _one_of(_rows(file, one, steps - 1) for one in node.elts)
    if isinstance(node, ast.Subscript):
        return _of_part(file, node, steps)
    if isinstance(node, ast.UnaryOp):
        return _rows(file, node.operand, steps - 1)
    if isinstance(node, ast.BinOp):
        return _of_operation(file, node, steps)
    return _of_call(file, node, steps) if isinstance(node, ast.Call) else ""


def _one_of(names: Iterable[str]) -> str:
    found = set(names)
    return found.pop() if len(found) == 1 else ""


def _of_part(file: Script, node: ast.Subscript, steps: int) -> str:
    """Rows that are taken by a slice, or by an array of their places."""
    part = node.slice.elts[0] if isinstance(node.slice, ast.Tuple) else node.slice
    if not isinstance(part, ast.Slice):
        return _rows(file, part, steps - 1) if isinstance(part, ast.Name | ast.Call) else ""
    if part.step is not None:
        return ""
    if part.lower is None and part.upper is None:
        return _rows(file, node.value, steps - 1)
    if part.upper is None:
        return ""
    if part.lower is None:
        return _root(file, part.upper)
    upper = part.upper
    if not isinstance(upper, ast.BinOp):
        return ""
    begun = ast.unparse(part.lower)
    if isinstance(upper.op, ast.Add) and ast.unparse(upper.left) == begun:
        return _root(file, upper.right)  # x[i : i + n]
    next_of = f"({begun.partition(' * ')[0]} + 1) * {begun.partition(' * ')[2]}"
    return _root(file, upper.right) if ast.unparse(upper) == next_of else ""  # x[i * n : (i + 1) * n]


def _of_operation(file: Script, node: ast.BinOp, steps: int) -> str:
    """An array that is computed with numbers, or a list that is repeated: `[1] * n`."""
    if isinstance(node.op, ast.Mult) and isinstance(node.left, ast.List):
        return _root(file, node.right) if len(node.left.elts) == 1 else ""
    sides = [one for one in (node.left, node.right) if not _is_number(one)]
    return _one_of(_rows(file, one, steps - 1) for one in sides)


def _is_number(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) or (isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Constant))


def _of_call(file: Script, call: ast.Call, steps: int) -> str:
    name = file.name(call.func)
    called = name.rpartition(".")[2] or getattr(call.func, "attr", "")
    if name.startswith("numpy."):
        if called in _BY_SIDES and call.args:
            return _root(file, call.args[0])
        if called in _SHAPES:
            shape = argument(call, *_SHAPES[called])
            first = next(iter(elements(shape)), shape)
            return _root(file, first) if first is not None else ""
        joins = called in _JOINS and argument(call, 1, "axis") is None
        if call.args and (joins or called in _SAME_ROWS):
            return _rows(file, call.args[0], steps - 1)
    elif called in ("predict", "predict_on_batch"):
        given = argument(call, 0, "x")
        return _rows(file, given, steps - 1) if given is not None else ""
    elif called in ("astype", "copy") and isinstance(call.func, ast.Attribute):
        return _rows(file, call.func.value, steps - 1)
    return ""


def _root(file: Script, size: ast.expr, steps: int = _MOST_STEPS) -> str:
    """The name of a number of which another is a multiple or a part: `batch_size` of `int(batch_size / 2)`; else ""."""
    if isinstance(size, ast.Call) and plain_name(size) == "int" and len(size.args) == 1:
        return _root(file, size.args[0], steps)
    if isinstance(size, ast.BinOp) and isinstance(size.op, ast.Mult | ast.Div | ast.FloorDiv):
        if isinstance(size.right, ast.Constant):
            return _root(file, size.left, steps)
        scales = isinstance(size.op, ast.Mult) and isinstance(size.left, ast.Constant)
        return _root(file, size.right, steps) if scales else ""
    if not isinstance(size, ast.Name | ast.Attribute) or not steps:
        return ""
    values = file.bound(size)
    inner = _root(file, values[0], steps - 1) if len(values) == 1 else ""
    begins = isinstance(values[0], ast.Constant) and len(values) == 1 if values else isinstance(size, ast.Name)
    return inner or (ast.unparse(size) if begins else "")
