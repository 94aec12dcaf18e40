"""Whether a function takes a number of examples under a name, or the examples themselves."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable

from converter.analysis.counts.size_names import named_batch, named_batch_size
from converter.analysis.library import naming

# Functions of Python and NumPy, by the last parts of their names; the library's own stand in its `Naming`.
SHAPED = frozenset(("normal", "uniform", "randint", "empty", "full"))  # take a shape, as a list or a tuple
COUNTS = frozenset(  # take a number of examples, by itself
    ("range", "xrange", "arange", "int", "next", "next_batch")
    + ("sample", "sample_batch", "random_batch", "generate_batch")
)
OPENED = frozenset(  # take examples
    ("len", "list", "tuple", "dict", "set", "zip", "enumerate", "iter", "map")
    + ("asarray", "array", "stack", "vstack", "hstack", "unzip")
)
SIZES = re.compile(r"shape|size|batch_size")  # arguments that take a number, or a shape
INTEGERS = (ast.FloorDiv, ast.Mod)


def counts_examples(name: str, function: ast.AST) -> bool:
    """True if a parameter of a function that nobody is seen to call means how many examples there are.

    A name that says "size" does, unless the function takes the value apart. "batch", "bs" or "mb" may be the
    examples themselves as well: they mean a number only where the function uses the value as an integer.
    """
    if not named_batch([name]):
        return False
    parents = {child: node for node in ast.walk(function) for child in ast.iter_child_nodes(node)}
    reads = [node for node in ast.walk(function) if _reads(node, name)]
    if any(_takes_apart(node, parents) for node in reads):
        return False
    return named_batch_size([name]) or any(_is_integer(node, parents) for node in reads)


def _reads(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load)


def _takes_apart(node: ast.AST, parents: dict[ast.AST, ast.AST]) -> bool:
    """Whether a value is read as a container, or counts batches: `batch["x"]`, `for x in batch`, `len(batch)`."""
    parent = parents.get(node)
    if isinstance(parent, (ast.Subscript, ast.Attribute, ast.Starred)):
        return parent.value is node
    if isinstance(parent, (ast.For, ast.AsyncFor, ast.comprehension)):
        return parent.iter is node
    if isinstance(parent, ast.Assign):
        return parent.value is node and any(isinstance(target, (ast.Tuple, ast.List)) for target in parent.targets)
    if isinstance(parent, ast.keyword):
        return parent.arg is None
    if isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.Mult):
        return named_batch_size(_words(other for other in (parent.left, parent.right) if other is not node))
    return isinstance(parent, ast.Call) and node in parent.args and _called(parent) in OPENED


def _words(nodes: Iterable[ast.AST]) -> list[str]:
    """The names that expressions consist of."""
    return [getattr(node, "id", getattr(node, "attr", "")) for node in nodes]


def _is_integer(node: ast.AST, parents: dict[ast.AST, ast.AST]) -> bool:
    """Whether a value is used where Python or a library takes nothing but an integer."""
    parent = parents.get(node)
    while isinstance(parent, (ast.BinOp, ast.UnaryOp)):
        if isinstance(getattr(parent, "op", None), INTEGERS):
            return True
        node, parent = parent, parents.get(parent)
    if isinstance(parent, ast.Slice):
        return True
    if isinstance(parent, ast.keyword):
        return bool(SIZES.fullmatch(parent.arg or ""))
    if isinstance(parent, (ast.List, ast.Tuple)):
        call = parents.get(parent)
        if isinstance(call, ast.keyword):
            return bool(SIZES.fullmatch(call.arg or ""))
        return isinstance(call, ast.Call) and _called(call) in SHAPED | naming().take_shapes
    return isinstance(parent, ast.Call) and node in parent.args and _called(parent) in COUNTS | naming().take_counts


def _called(call: ast.Call) -> str:
    """The last part of a function's name."""
    return str(getattr(call.func, "attr", getattr(call.func, "id", "")))
