"""What conditions say of a count, in any spelling."""

from __future__ import annotations

import ast

import pytest

from converter.analysis.counts.conditions import reached


def said(text: str, holds: bool = True) -> set[str]:
    """The counts that have come to a limit: `count, limit`, what is beyond it, and `*` for a multiple of it."""
    return {
        f"{ast.unparse(one.count)}, {ast.unparse(one.limit)}{one.more or ''}{'*' * one.multiple}"
        for one in reached(ast.parse(text, mode="eval").body, holds)
    }


@pytest.mark.parametrize(
    ("text", "holds", "expected"),
    [
        ("len(x) == n", True, "len(x), n"),
        ("n == len(x)", True, "len(x), n"),
        ("len(x) >= n", True, "len(x), n"),
        ("n <= len(x)", True, "len(x), n"),
        ("not len(x) < n", True, "len(x), n"),
        ("not len(x) != n", True, "len(x), n"),
        ("len(x) < n", False, "len(x), n"),
        ("n > len(x)", False, "len(x), n"),
        ("len(x) != n", False, "len(x), n"),
        ("len(x) > n - 1", True, "len(x), n - 11"),
        ("len(x) % n == 0", True, "len(x), n*"),
        ("not len(x) % n", True, "len(x), n*"),
        ("i % n == n - 1", True, "i, n-1*"),
        ("i > 0 and i % n == 0", True, "i, n*"),
        ("not k", True, "k, 0"),
        ("k <= 0", True, "k, 0"),
    ],
)
def test_a_count_has_come_to_a_limit(text: str, holds: bool, expected: str) -> None:
    assert expected in said(text, holds)


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("len(x) < n", True),
        ("len(x) != n", True),
        ("len(x) == n", False),
        ("len(x) == n or done", True),
        ("len(x) == n and row[0] > 0", True),
        ("i % n == 1", True),
        ("i % n == n - 2", True),
        ("i % n", True),
        ("j > 0 and i % n == 0", True),
        ("0 < len(x) < n", False),
        ("len(x) in (n,)", True),
    ],
)
def test_other_conditions_say_nothing(text: str, holds: bool) -> None:
    assert not {one for one in said(text, holds) if one.startswith(("len", "i,", "j,"))}
