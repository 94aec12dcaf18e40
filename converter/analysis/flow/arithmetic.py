"""The results of Python's operators on known numbers and texts, as long as the results are small.

A script may contain `10 ** 10 ** 10` or `'%1000000000d' % 3`. Computing these takes all memory, and no size, name or
condition that decides how a graph is built is as large: larger results count as unknown.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable
from typing import Any

from converter.analysis.values import LARGEST

MOST_CHARACTERS = 10_000  # of a text
MOST_ELEMENTS = 10_000  # of a list
_WIDE = re.compile(r"%[^%a-zA-Z]*(\*|\d{4})")  # a width that is an argument, or has four digits


def _power(base: float, exponent: float) -> float:
    whole = isinstance(base, int) and isinstance(exponent, int)
    if whole and exponent > 0 and exponent * int(base).bit_length() > 2 * LARGEST.bit_length():
        raise OverflowError
    result: float | complex = base**exponent
    if isinstance(result, complex):
        raise ValueError
    return result


def _of_integers(compute: Callable[[int, int], int]) -> Callable[[float, float], float]:
    """An operator on the bits of integers; ValueError for other numbers."""

    def computed(one: float, two: float) -> float:
        if not (isinstance(one, int) and isinstance(two, int)):
            raise ValueError
        return compute(one, two)

    return computed


def _shifted(number: int, places: int) -> int:
    if places > LARGEST.bit_length():
        raise OverflowError
    return number << places


class ClassicDiv(ast.operator):
    """Division without `from __future__ import division` in Python 2: of two integers, their floor."""


def _classic(one: float, two: float) -> float:
    return one // two if isinstance(one, int) and isinstance(two, int) else one / two


OPERATORS: dict[type[ast.operator], tuple[str, Callable[[float, float], float]]] = {
    ast.Add: ("add", operator.add),
    ast.Sub: ("subtract", operator.sub),
    ast.Mult: ("multiply", operator.mul),
    ast.Div: ("divide", operator.truediv),
    ast.FloorDiv: ("divide", operator.floordiv),
    ClassicDiv: ("divide", _classic),
    ast.Mod: ("mod", operator.mod),
    ast.Pow: ("pow", _power),
    ast.MatMult: ("matmul", operator.mul),
    ast.LShift: ("shift", _of_integers(_shifted)),
    ast.RShift: ("shift", _of_integers(operator.rshift)),
    ast.BitAnd: ("bitwise", _of_integers(operator.and_)),
    ast.BitOr: ("bitwise", _of_integers(operator.or_)),
    ast.BitXor: ("bitwise", _of_integers(operator.xor)),
}


def number(op: type[ast.operator], left: float | None, right: float | None) -> float | None:
    """The result for two numbers; None if one of them is unknown, or if Python would raise or give a complex number."""
    if left is None or right is None:
        return None
    try:
        return OPERATORS[op][1](left, right)
    except (ArithmeticError, TypeError, ValueError):
        return None


def text(op: type[ast.operator], left: str, values: tuple[Any, ...]) -> str | None:
    """The result of `left % values` or `left + values[0]`; None if it is long, or if Python would raise."""
    if len(left) > MOST_CHARACTERS or (op is ast.Mod and _WIDE.search(left)):
        return None
    try:
        made: str = left % values if op is ast.Mod else left + values[0]
    except (TypeError, ValueError, OverflowError):
        return None
    return made if len(made) <= MOST_CHARACTERS else None
