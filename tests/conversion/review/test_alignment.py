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


MOVED = """\
if flat:
    show(x)
with scope:
    if flat:
        y = read(a)
    else:
        y = read(b)
print(y)
"""


def test_a_block_that_goes_behind_another_which_begins_alike() -> None:
    after = "with scope:\n    if flat:\n        y = read(a)\n    else:\n        y = read(b)\n"
    after += "if flat:\n    show(x)\nprint(y)\n"
    assert _paired(MOVED, after) == {1: 3, 2: 4, 3: 5, 5: 7, 6: 1, 7: 2, 8: 8}


def test_blocks_that_begin_alike_and_hold_the_same_are_paired_in_their_order() -> None:
    text = "if flat:\n    show(x)\nelse:\n    show(y)\nif flat:\n    show(x)\n"
    assert _paired(text, text) == {n: n for n in (1, 2, 4, 5, 6)}


def test_blocks_inside_of_blocks_that_begin_alike() -> None:
    text = "for i in r:\n    if flat:\n        show(x)\nfor i in r:\n    if flat:\n        read(y)\n"
    first, second = text[: len(text) // 2 + 0], text[len(text) // 2 :]
    assert first.count("for") == second.count("for") == 1
    assert _paired(text, second + first) == {1: 4, 2: 5, 3: 6, 4: 1, 5: 2, 6: 3}
