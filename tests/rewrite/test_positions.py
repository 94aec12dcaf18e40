"""Where nodes stand: the same as LibCST says, wherever an edit may ask."""

from __future__ import annotations

import ast
from pathlib import Path

import libcst as cst
import pytest
from libcst.metadata import MetadataWrapper, PositionProvider

from converter.rewrite import positions as room
from converter.rewrite.positions import Positions, positions

FIXTURES = Path(__file__).resolve().parent.parent.parent / "fixtures"
ODD = '''# a header

import a; import b


@decorated(
    1)
# between
@twice
class Net(object):
    """Text."""
    x = 1; y = 2

    # at the end of the block
# and of what follows
if a:
    pass
elif b:
    pass
    # behind
    # the last

(a).b, \\
    c = (1,
         2); d = 3
"""A string
of lines."""
for i in range(3): print(i)
f(ä="ö", b=[
    1,
])
# at the end
'''
TEXTS = {"odd": ODD} | {path.parent.name: path.read_text(encoding="utf-8") for path in FIXTURES.glob("*/single.py")}


def asked(text: str, lines: set[int]) -> tuple[Positions, Positions]:
    """The positions where edits are on some lines, and LibCST's own."""
    module = cst.parse_module(text)
    found = positions(module, ast.parse(text), lambda first, last: any(first <= line <= last for line in lines))
    return found, MetadataWrapper(module, unsafe_skip_copy=True).resolve(PositionProvider)


@pytest.mark.parametrize("name", sorted(TEXTS))
def test_they_are_those_of_the_whole_module(name: str) -> None:
    text = TEXTS[name]
    for line in range(1, text.count("\n") + 1, 1 if name == "odd" else 9):
        found, whole = asked(text, {line, line + 20})
        known = [n for n in found if isinstance(n, (cst.BaseStatement, cst.BaseExpression)) and n in whole]
        assert len(known) >= len(ast.parse(text).body) // 2
        for node in known:
            assert (found[node].start, found[node].end.line) == (whole[node].start, whole[node].end.line)


def test_statements_with_edits_are_looked_into() -> None:
    found, _ = asked(ODD, {11})
    inside = {n.value for n in found if isinstance(n, cst.Name)}
    assert {"Net", "x", "y"} <= inside and "range" not in inside


def test_where_the_trees_do_not_agree_libcst_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    module = cst.parse_module(ODD)
    calls = []
    ask = room._resolved
    monkeypatch.setattr(room, "_resolved", lambda one: calls.append(one) or ask(one))
    later = ast.increment_lineno(ast.parse(ODD), 2)
    found = positions(module, later, lambda first, last: first <= 13 <= last)
    assert len(calls) == 2 and calls[1] is module
    assert found[module.body[1]].start.line == 10
