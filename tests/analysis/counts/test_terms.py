"""Sums of monomials: the same number in any spelling, and its degree in the batch size."""

from __future__ import annotations

import ast
from fractions import Fraction

import pytest

from converter.analysis.counts.degrees import degree_in, follows
from converter.analysis.counts.reading import SIZE, combined
from converter.analysis.counts.terms import Terms, atom, degree, function, number

NAMES = {"add": ast.Add, "subtract": ast.Sub, "multiply": ast.Mult, "divide": (ast.Div, ast.FloorDiv), "pow": ast.Pow}


def terms(text: str) -> Terms:
    """The terms of an expression; b is the batch size."""
    return _read(ast.parse(text, mode="eval").body)


def _read(node: ast.expr) -> Terms:
    if isinstance(node, ast.Constant):
        return number(node.value)
    if isinstance(node, ast.Name):
        return atom(SIZE if node.id == "b" else node.id)
    if isinstance(node, ast.Call):
        given = [_read(arg) for arg in node.args]
        return combined(ast.unparse(node.func), given) or function(ast.unparse(node.func), *given)
    assert isinstance(node, ast.BinOp)
    name = next(name for name, kinds in NAMES.items() if isinstance(node.op, kinds))
    return combined(name, [_read(node.left), _read(node.right)]) or function(name)


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("(i + 1) * b - i * b", "b"),
        ("i * b + b - i * b", "b"),
        ("b * (1 + i) - b * i", "b"),
        ("b * b // b", "b"),
        ("b // 2 + b // 2", "b"),
        ("(n + b - 1) // b", "n / b"),
        ("(b + 1) ** 2", "b * b + 2 * b + 1"),
        ("sqrt(b) ** 2", "b"),
        ("int(floor(b))", "b"),
        ("sum(b, b)", "2 * b"),
        ("min(b, b)", "b"),
        ("max(3, 4)", "4"),
        ("b - b", "0"),
    ],
)
def test_two_spellings_of_one_number(one: str, two: str) -> None:
    assert terms(one) == terms(two)


@pytest.mark.parametrize("two", ["b - 1", "2 * b", "b * b", "n / b", "i * b", "log2(b)", "f(b)"])
def test_other_numbers(two: str) -> None:
    assert terms("b") != terms(two)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("b", 1),
        ("n", 0),
        ("0", 0),
        ("2 * b * n", 1),
        ("b ** 2 // 64", 2),
        ("n // b", -1),
        ("b ** 0.5", Fraction(1, 2)),
        ("(b / 256) ** 0.5", Fraction(1, 2)),
        ("(n * b / 7) ** 1.5", Fraction(3, 2)),
        ("n * b // b", 0),
        ("b - 1", None),
        ("b + 4 * n", None),
        ("f(b)", None),
        ("f(n)", 0),
        ("n // (b + 1)", None),
        ("2 ** b", None),
        ("(i + 2) * b - i * b", 1),
        ("min((i + 1) * b, n) - i * b", 1),
        ("min(b, 24)", None),
        ("max(b, 24)", None),
        ("max(b, 1)", 1),
        ("max(b - 1, 1)", None),
        ("max(b, n)", None),
        ("min(b, 2 * b)", 1),
    ],
)
def test_the_degree_in_the_batch_size(text: str, expected: Fraction | None) -> None:
    assert degree_in(terms(text)) == expected


@pytest.mark.parametrize(
    ("text", "larger", "smaller"),
    [
        ("b", True, False),
        ("n // b", False, True),
        ("n", False, False),
        ("min(b, n)", True, False),
        ("64 - b", False, False),
    ],
)
def test_what_is_larger_or_smaller_for_a_larger_batch(text: str, larger: bool, smaller: bool) -> None:
    assert (follows(terms(text), 1), follows(terms(text), -1)) == (larger, smaller)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("b - 1", "the batch size - 1"),
        ("n + 2 * b", "n + 2 * the batch size"),
        ("0", "0"),
        ("f(b)", "f(the batch size)"),
    ],
)
def test_numbers_are_shown_as_sums(text: str, shown: str) -> None:
    assert str(terms(text)) == shown


def test_atoms_are_replaced_inside_of_functions() -> None:
    made = terms("f(n) + n").replaced(lambda one: terms("b") if one == "n" else None)
    assert made == terms("f(b) + b") and degree(made, frozenset((SIZE,))) is None
