"""The shapes of Python and NumPy data, as far as a script shows them."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from itertools import zip_longest

from converter.analysis.values import Constant, Count, Host, Number, Symbol, Tensor, Value, is_none, told_by
from converter.analysis.values import Sequence as List

Shape = tuple[int | None, ...] | None  # None inside for a length that is not known

DEEP = 60  # operations behind one another that are followed

ARITHMETIC = ("add", "subtract", "multiply", "divide", "pow", "mod")
SINGLE = [f"{library}.{name}" for library in ("math", "numpy") for name in ("pi", "e", "inf", "nan")]  # numbers
PAIRS = ("math.frexp", "math.modf")  # functions that give two numbers
BINARY = ("add", "subtract", "multiply", "divide", "true_divide", "power", "maximum", "minimum")
LIKE = (  # as large as their first argument
    ("array", "asarray", "ascontiguousarray", "copy", "float32", "float64", "int32", "int64", "abs", "absolute")
    + ("negative", "square", "sqrt", "exp", "log", "log1p", "sin", "cos", "tan", "tanh", "arctan", "sign", "round")
    + ("around", "floor", "zeros_like", "ones_like", "empty_like")
)
MOVES = ("flip", "fliplr", "flipud", "roll")  # give each entry another place in an array of the same shape
SIZED = {  # of the size that stands at a position, else as large as what stands in front of it
    "random.normal": 2,
    "random.uniform": 2,
    "random.randint": 2,
    "random.binomial": 2,
    "random.exponential": 1,
    "random.standard_normal": 0,
    "random.random": 0,
    "random.random_sample": 0,
    "random.sample": 0,
    "random.ranf": 0,
}
SHAPED = ("zeros", "ones", "empty", "full")
ROWS = {  # where the number of rows of what is made stands, or its shape
    **{f"numpy.{name}": at for name, at in SIZED.items()},
    **dict.fromkeys([f"numpy.{name}" for name in (*SHAPED, "eye", "identity", "arange", "random.permutation")], 0),
    **dict.fromkeys(("numpy.random.rand", "numpy.random.randn"), 0),
    **dict.fromkeys(
        ("numpy.random.choice", "numpy.broadcast_to", "numpy.resize", "random.sample", "random.choices"), 1
    ),
    **dict.fromkeys(("itertools.repeat", "itertools.islice"), 1),
}
ROWS_NAMED = ("size", "shape", "new_shape", "k", "times")
GENERATORS = {
    "random.Random": "random",
    "numpy.random.RandomState": "numpy.random",
    "numpy.random.default_rng": "numpy.random",
}
FILLED = ("numpy.ones", "numpy.zeros", "numpy.full", "numpy.empty")  # whose rows are all the same
TAKES_SHAPE = (*SHAPED, "reshape", "resize", "tile", "broadcast_to")  # are told how long and how wide the result is
LARGEST = ("max", "amax")
COMPUTES = (*ARITHMETIC, *LARGEST, "min", "minimum", "maximum", "slice", "int", "ceil", "floor")  # numbers of numbers
RESHAPES = ("reshape", "numpy.reshape")
SQUARE = ("eye", "identity")
LOADED = {  # the data sets that scikit-learn brings along: examples, and numbers of each (sklearn.datasets, 1.0)
    "load_iris": (150, 4),
    "load_digits": (1797, 64),
    "load_wine": (178, 13),
    "load_breast_cancer": (569, 30),
    "load_diabetes": (442, 10),
    "load_boston": (506, 13),
}
# Without an axis to one number; with one, along it.
TO_ONE = ("mean", "median", "sum", "prod", "max", "min", "std", "var", "argmax", "argmin")
SAME = ("astype", "copy", "clip", "round")  # methods that keep the shape


def shape_of(value: Value | None, deep: int = DEEP) -> Shape:
    """The shape that NumPy would give to a value; None where it is not known."""
    if isinstance(value, (Number, Count)):
        return ()
    if isinstance(value, Constant):
        return () if isinstance(value.value, (bool, complex)) else None
    if isinstance(value, Symbol):
        return () if f"{value.library}.{value.name}" in SINGLE else None
    if deep == 0:
        return None
    if isinstance(value, List):
        return _of_list(value, deep - 1)
    return _of_host(value, deep - 1) if isinstance(value, Host) else None


def _of_row(value: List, deep: int) -> Shape:
    """The shape of a list inside another one."""
    shapes = {_of_row(e, deep - 1) if isinstance(e, List) else shape_of(e, deep) for e in value.elements if deep}
    inner = shapes.pop() if len(shapes) == 1 else None
    return None if inner is None else (None if value.many else len(value.elements), *inner)


def _of_list(value: List, deep: int) -> Shape:
    shapes = {_of_row(e, deep) if isinstance(e, List) else shape_of(e, deep) for e in value.elements[:1000]}
    if len(shapes) != 1 or None in shapes:
        return None
    (inner,) = shapes
    # A list that a script fills as it runs holds any number of what was seen in it; its rows are as they were made.
    filled = value.many or (value.mutable and not all(map(_is_fixed, value.elements)))
    return (None if filled else told_by(len(value.elements), value), *(inner or ()))


def _is_fixed(value: Value) -> bool:
    """Whether a list of this stands as it is in the script."""
    if isinstance(value, List):
        return not value.many and all(map(_is_fixed, value.elements))
    if isinstance(value, Constant):
        return isinstance(value.value, bool)
    return isinstance(value, Number) and value.value is not None


def _of_host(value: Host, deep: int) -> Shape:
    node = value.node
    if value.call.startswith("math.") and value.call not in PAIRS:
        return ()
    if value.call == "compare":
        return broadcast([shape_of(v, deep) for v in value.inputs])
    if isinstance(node, (ast.BinOp, ast.AugAssign)) and value.call in ARITHMETIC and len(value.operands) == 2:
        return broadcast([shape_of(v, deep) for v in value.operands])
    if isinstance(node, ast.UnaryOp) and len(value.operands) == 1:  # `-np.inf`, `~rows`
        return shape_of(value.inputs[0], deep)
    if loaded := _loaded(value):
        return loaded
    if value.call == "[]" and isinstance(node, ast.Subscript):
        whole = shape_of(value.inputs[0], deep)
        picked = shape_of(value.inputs[1], deep) if len(value.operands) == 2 else None
        if picked == () and whole and isinstance(value.inputs[1], Number):  # `xs[i]`
            return whole[1:]
        return (*picked, *whole[1:]) if picked and whole else _indexed(whole, node.slice)
    if isinstance(node, ast.Attribute) and value.call in ("shape", "size", "ndim"):
        return (None,) if value.call == "shape" else ()
    if value.call == "T" and isinstance(node, ast.Attribute):
        shape = shape_of(value.inputs[0], deep)
        return None if shape is None else shape[::-1]
    if value.call == "item" and len(value.operands) == 1:
        shape = shape_of(value.inputs[0], deep)
        return shape[1:] if shape else None
    if value.call == "run":
        return _of_run(value)
    return _called(value, node, deep) if isinstance(node, ast.Call) else None


def _of_run(value: Host) -> Shape:
    """The shape of what a session gives for one tensor: that of a single number is known."""
    fetched = [v for v in value.inputs if isinstance(v, Tensor)]
    single = len(fetched) == 1 and fetched[0].dims == () and fetched[0].batch.kind != "example"
    return () if single else None


def _loaded(value: Host) -> Shape:
    """The shape of a part of a data set of scikit-learn: `load_iris().data`, `iris["target"]`."""
    node, holder = value.node, value.inputs[0] if value.inputs else None
    if isinstance(node, ast.Subscript):
        name = node.slice.value if isinstance(node.slice, ast.Constant) else ""
    else:
        name = node.attr if isinstance(node, ast.Attribute) else ""
    made = holder.node if isinstance(holder, Host) else None
    if not isinstance(holder, Host) or not isinstance(made, ast.Call) or made.args or made.keywords:
        return None
    call = holder.call
    size = LOADED.get(call.removeprefix("sklearn.datasets.")) if call.startswith("sklearn.") else None
    if size is None:
        return None
    if name == "images" and call.endswith("digits"):
        return (size[0], 8, 8)
    return {"data": size, "target": size[:1]}.get(str(name))


def rows_from(value: Host) -> list[Value]:
    """The arrays whose row i alone decides row i of this array; nothing if that is not certain.

    Arithmetic broadcasts: where it does along the rows, the operands have other lengths than the result.
    """
    node = value.node
    if isinstance(node, ast.BinOp) and value.call in ARITHMETIC:
        shapes = {shape_of(v) for v in value.inputs} - {()}
        return list(value.inputs) if len(shapes) == 1 else []
    if value.call == "[]" and isinstance(node, ast.Subscript):
        first = node.slice.elts[0] if isinstance(node.slice, ast.Tuple) and node.slice.elts else node.slice
        return [value.inputs[0]] if isinstance(first, ast.Slice) and ast.unparse(first) == ":" else []
    if not isinstance(node, ast.Call) or not value.inputs:
        return []
    arguments = Arguments(value, node)
    if value.call.startswith("numpy.") and value.call.removeprefix("numpy.") in LIKE and arguments.known:
        return list(arguments.positions[:1])
    holder = value.inputs[0]
    method = isinstance(holder, Host) and isinstance(holder.node, ast.Attribute) and holder.call == value.call
    return [holder.inputs[0]] if method and value.call in SAME else []


class Arguments:
    """The arguments of a call that is not followed."""

    def __init__(self, value: Host, node: ast.Call) -> None:
        given = value.inputs[1:]
        self.known = not any(isinstance(a, ast.Starred) for a in node.args) and all(k.arg for k in node.keywords)
        self.positions = list(given[: len(node.args)])
        self.names = {k.arg: v for k, v in zip(node.keywords, given[len(node.args) :], strict=False)}

    def get(self, position: int, *names: str) -> Value | None:
        """The argument at a position or under one of its names."""
        found = next((self.names[name] for name in names if name in self.names), None)
        if found is None and position < len(self.positions):
            return self.positions[position]
        return found


def arguments_of(value: Host, node: ast.Call) -> Arguments | None:
    """The arguments of a call that is not followed; None where a list or a dict stands for several."""
    given = Arguments(value, node)
    return given if given.known and value.inputs else None


def name_of(value: Host) -> str:
    """What is called: `random.sample`, also as a method of a generator that the script makes."""
    method = value.inputs[0] if value.inputs else None
    owner = method.inputs[0] if isinstance(method, Host) and method.inputs else None
    module = GENERATORS.get(owner.call, "") if isinstance(owner, Host) else ""
    return f"{module}.{value.call}" if module else value.call


def told_shape(value: Value) -> list[Value]:
    """The entries of the shape that a call is told for what it makes: `np.zeros([n, 4])`; nothing for any other."""
    given = arguments_of(value, value.node) if isinstance(value, Host) and isinstance(value.node, ast.Call) else None
    place = ROWS.get(name_of(value)) if isinstance(value, Host) else None
    shape = given.get(place, *ROWS_NAMED) if given is not None and place is not None else None
    return [] if shape is None else [shape] if not isinstance(shape, List) else [] if shape.many else [*shape.elements]


def filled_shape(value: Value | None) -> list[Value] | None:
    """The entries of the shape of an array that holds one number: `np.zeros([n, 4])`; None for any other.

    So does what is computed of one and a number: `np.ones([n, 4]) * 1e-6`.
    """
    if isinstance(value, Host) and isinstance(value.node, ast.BinOp) and len(value.operands) == 2:
        filled = [shape for one in value.operands if (shape := filled_shape(one)) is not None]
        return filled[0] if len(filled) == 1 and any(isinstance(one, Number) for one in value.operands) else None
    if not isinstance(value, Host) or value.call not in FILLED or not isinstance(value.node, ast.Call):
        return None
    filling = Arguments(value, value.node).get(1, "fill_value") if value.call == "numpy.full" else None
    return told_shape(value) or None if filling is None or shape_of(filling) == () else None


def reshaping(value: Value) -> tuple[Value | None, list[Value]]:
    """What a call gives another shape, and the entries of that: of `x.reshape(-1, n, 4)`, `np.reshape(x, [-1, n, 4])`.

    None and nothing for any other value, or where they are not seen.
    """
    if not isinstance(value, Host) or not isinstance(value.node, ast.Call) or value.call not in RESHAPES:
        return None, []
    if (given := arguments_of(value, value.node)) is None:
        return None, []
    source, entries = given.get(0, "a"), [given.get(1, "newshape", "shape")]
    if value.call == "reshape":
        source, entries = next(iter(value.inputs[0].inputs), None), [*given.positions]
    whole = entries[0] if len(entries) == 1 else None
    if isinstance(whole, List):
        entries = [] if whole.many else [*whole.elements]
    return source, [entry for entry in entries if entry is not None]


def _called(value: Host, node: ast.Call, deep: int) -> Shape:
    arguments = arguments_of(value, node)
    if arguments is None:
        return None
    if (name := name_of(value)).startswith("numpy."):
        return _numpy(name.removeprefix("numpy."), arguments, deep)
    holder = value.inputs[0]
    if isinstance(holder, Host) and isinstance(holder.node, ast.Attribute) and holder.call == value.call:
        return _method(value.call, holder.inputs[0], arguments, deep)
    chosen = value.call in ("min", "max") and isinstance(node.func, ast.Name) and len(node.args) > 1
    return () if chosen and not any(isinstance(v, List) for v in value.inputs) else None  # one of several numbers


def _method(name: str, receiver: Value, arguments: Arguments, deep: int) -> Shape:
    shape = shape_of(receiver, deep)
    if name in TO_ONE:
        return _along(shape, arguments, 0)
    if name in SAME:
        return shape
    if name == "reshape":
        entries = arguments.positions
        return _sizes(entries[0] if len(entries) == 1 else List(entries), deep)
    if name in ("ravel", "flatten") and shape is not None:
        return (None,)
    return None


def _numpy(name: str, arguments: Arguments, deep: int) -> Shape:
    first = arguments.get(0, "a", "x", "x1", "object", "shape")
    if name in ("random.rand", "random.randn"):
        return tuple(_number(v) for v in arguments.positions)
    if name in SIZED:
        size = arguments.get(SIZED[name], "size")
        if size is not None and not is_none(size):
            return _sizes(size, deep)
        return broadcast([shape_of(v, deep) for v in arguments.positions])
    if name == "linspace":
        several = [shape_of(arguments.get(at, key), deep) for at, key in ((0, "start"), (1, "stop"))]
        number = arguments.get(2, "num")
        return (50 if number is None else _number(number),) if several == [(), ()] else None
    if name == "arange":
        return (_number(first) if len(arguments.positions) == 1 and first is not None else None,)
    if name in SHAPED:
        return _sizes(first, deep)
    if name in SQUARE and first is not None and len(arguments.positions) == 1 and arguments.names.keys() <= {"dtype"}:
        return (_number(first), _number(first))
    if name == "reshape":
        return _sizes(arguments.get(1, "newshape", "shape"), deep)
    if name in BINARY:
        return broadcast([shape_of(arguments.get(at, f"x{at + 1}"), deep) for at in (0, 1)])
    if name == "clip":
        limits = (arguments.get(1, "a_min"), arguments.get(2, "a_max"))
        return broadcast([shape_of(v, deep) for v in (first, *limits) if not is_none(v)])
    if name in TO_ONE:
        return _along(shape_of(first, deep), arguments, 1)
    if name in ("dot", "matmul"):
        return _product(shape_of(first, deep), shape_of(arguments.get(1, "b", "x2"), deep))
    return shape_of(first or arguments.get(0, "m"), deep) if name in (*LIKE, *MOVES) else None


def _along(shape: Shape, arguments: Arguments, position: int) -> Shape:
    """The shape of what is reduced, along an axis that stands at a position, or to one number."""
    axis = arguments.get(position, "axis")
    others = arguments.positions[position + 1 :] or arguments.names.keys() - {"axis", "a", "dtype"}
    if is_none(axis):
        return None if others else ()
    number = getattr(axis, "value", None)
    if others or shape is None or not isinstance(number, int) or not -len(shape) <= number < len(shape):
        return None
    number %= len(shape)
    return (*shape[:number], *shape[number + 1 :])


def _product(one: Shape, two: Shape) -> Shape:
    """The shape of a product of vectors and matrices."""
    if one is None or two is None or not 1 <= len(one) <= 2 or not 1 <= len(two) <= 2:
        return None
    return (*one[:-1], *two[1:])


def _number(value: Value) -> int | None:
    known = getattr(value, "value", None)
    return told_by(known, value) if isinstance(known, int) and not isinstance(known, bool) and known >= 0 else None


def _sizes(value: Value | None, deep: int) -> Shape:
    """The shape that an argument spells out."""
    if isinstance(value, List) and not value.many:
        return tuple(_number(v) for v in value.elements)
    if isinstance(value, Number):
        return (_number(value),)
    if isinstance(value, Host) and value.call == "shape" and isinstance(value.node, ast.Attribute):
        return shape_of(value.inputs[0], deep)
    return None


def broadcast(shapes: Sequence[Shape]) -> Shape:
    """The shape of an element by element result."""
    if not shapes or any(shape is None for shape in shapes):
        return None
    columns = zip_longest(*(shape[::-1] for shape in shapes if shape is not None), fillvalue=1)
    return tuple(map(_widest, columns))[::-1]


def _widest(column: tuple[int | None, ...]) -> int | None:
    wide = {length for length in column if length != 1}
    return 1 if not wide else wide.pop() if len(wide) == 1 else None


def _indexed(shape: Shape, index: ast.expr) -> Shape:
    """The shape of an indexed array."""
    if shape is None:
        return None
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    rest = list(shape)
    found: list[int | None] = []
    for part in parts:
        kind = next((kind for test, kind in _KINDS if test(part)), "")
        if kind == "new":
            found.append(1)
            continue
        if not kind or not rest:
            return None
        length = rest.pop(0)
        if kind == "slice":
            found.append(length if ast.unparse(part) == ":" else None)
    return (*found, *rest)


def is_new_axis(node: ast.expr) -> bool:
    """Whether an entry of an index adds an axis of one: `None`, `np.newaxis`."""
    named = isinstance(node, ast.Attribute) and node.attr == "newaxis"
    return named or (isinstance(node, ast.Constant) and node.value is None)


def _is_number(node: ast.expr) -> bool:
    node = node.operand if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) else node
    return isinstance(node, ast.Constant) and isinstance(node.value, int)


_KINDS: tuple[tuple[Callable[[ast.expr], bool], str], ...] = (
    (is_new_axis, "new"),
    (_is_number, "one"),
    (lambda node: isinstance(node, ast.Slice), "slice"),
)
