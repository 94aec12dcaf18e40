"""Whether what is fed to a placeholder is a single number."""

from __future__ import annotations

import ast

from converter.analysis.arrays.shapes import ARITHMETIC, shape_of
from converter.analysis.inputs.feeds import SIZED, picks_rows
from converter.analysis.values import Constant, Count, Host, Number, Tensor, Value

TYPES = ("float", "int")  # Python's, which give one number of whatever they are given
NUMBERS = ("min", "max", "abs", "float", "int", "round", "pow", "sum", "len", "mean", "item", "random")


def is_one_value(value: Value) -> bool:
    """Whether a fed value is seen to be a single number."""
    if isinstance(value, (Number, Count, Constant)) or shape_of(value) == ():
        return True
    if isinstance(value, Tensor) or not isinstance(value, Host):
        return False
    name = value.call.rpartition(".")[2]
    given = value.inputs
    if isinstance(value.node, ast.Call) and getattr(value.node.func, "id", "") in TYPES:
        return True
    if value.call in ARITHMETIC:
        return all(map(is_one_value, given))
    if value.call.startswith("math.") or name in NUMBERS and value.call.startswith(("builtins.", "numpy.", "random.")):
        return True
    if value.call in NUMBERS:
        return bool(given) and all(map(is_one_value, given))
    if value.call == "[]" and len(given) == 2:  # an entry that is picked at random; one of a loop may be a batch
        return isinstance(given[1], Host) and given[1].call.rpartition(".")[2] in SIZED and not picks_rows(given[1])
    fetched = [v for v in given if isinstance(v, Tensor)]
    return value.call == "run" and bool(fetched) and all(v.batch.kind in ("free", "reduced") for v in fetched)
