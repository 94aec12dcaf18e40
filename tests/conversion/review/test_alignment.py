"""Which statement of the converted text is which of the original."""

from __future__ import annotations

import ast

import pytest

from converter.conversion.review.alignment import align


def _paired(before: str, after: str) -> dict[int, int]:
    """Lines of the converted text, each with the line of the original that it is paired with."""
    old, new = ast.parse(before), ast.parse(after)
    found = align(old, before, new, after)
    return {new.lineno: old.lineno for new, old in found.statements.items()}


BRANCHES = """\
if train:
    a = make(x)
    out = decode(a)
else:
    a = guess(y)
    out = decode(a)
"""
STRAIGHT = "a = make(x)\nout = decode(a)\na = guess(y)\nout = decode(a)\na = read(z)\nout = decode(a)\n"


@pytest.mark.parametrize("changed", [(3,), (6,)])
def test_an_edit_of_one_of_two_equal_statements(changed: tuple[int, ...]) -> None:
    lines = BRANCHES.splitlines()
    after = [
        line.replace("decode(a)", "padded(decode)(a)") if n in changed else line for n, line in enumerate(lines, 1)
    ]
    assert _paired(BRANCHES, "\n".join(after)) == {n: n for n in (1, 2, 3, 5, 6)}


@pytest.mark.parametrize("changed", [(2,), (4,), (6,), (2, 4), (4, 6), (2, 6)])
def test_edits_of_some_of_three_equal_statements(changed: tuple[int, ...]) -> None:
    lines = STRAIGHT.splitlines()
    after = [
        line.replace("decode(a)", "padded(decode)(a)") if n in changed else line for n, line in enumerate(lines, 1)
    ]
    assert _paired(STRAIGHT, "\n".join(after)) == {n: n for n in range(1, 7)}


def test_equal_statements_keep_their_order() -> None:
    assert _paired("a = 1\na = 1\n", "import os\na = 1\na = 1\n") == {2: 1, 3: 2}


def test_a_statement_that_the_towers_repeat_is_one_of_the_original() -> None:
    assert _paired("a = f(x)\n", "a = f(x)\na = f(x)\n") == {1: 1, 2: 1}
