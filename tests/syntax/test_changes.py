"""Changes of a text by place, and the lines that they end on."""

from __future__ import annotations

import ast

import pytest

from converter.syntax.changes import Change, applied
from converter.syntax.script import Script


def test_changes_are_made_in_the_order_of_the_text() -> None:
    changes = [Change(4, 5, "2", "TMG2"), Change(0, 0, "# head\n", "TMG1")]
    assert applied("a = 1\nb\n", changes) == ("# head\na = 2\nb\n", ((1, ("TMG1",)), (2, ("TMG2",))))


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_every_line_end_counts_once(end: str) -> None:
    text = f"a{end}b{end}c"
    place = text.index("c")
    assert applied(text, [Change(place, place + 1, "d", "TMG1")]) == (f"a{end}b{end}d", ((3, ("TMG1",)),))


def test_changes_do_not_overlap() -> None:
    with pytest.raises(ValueError, match="two changes at character 1"):
        applied("abc", [Change(0, 2, "x", "TMG1"), Change(1, 3, "y", "TMG2")])


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_places_are_counted_in_characters(end: str) -> None:
    text = f"name = 'é'{end}second = (name,{end}          1){end}"
    script = Script("train.py", text, ast.parse(text))
    second = ast.parse(text).body[1]
    assert script.of(second) == f"second = (name,{end}          1)"
    assert [script.line(number) for number in (1, 2)] == [0, len(f"name = 'é'{end}")]
