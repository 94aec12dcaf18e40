"""The JSON text of a notebook: what is found in it, and that nothing but a changed source changes."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from converter.source.notebook.json_text import FormatError, scan, with_sources
from tests.source.notebook.books import PYTHON, book, sources

ANY = st.text(st.characters(codec="utf-8"), max_size=30)
LINES = st.lists(st.one_of(ANY, st.sampled_from(["a\n", "\n", "é\r\n", "\\", '"', "\u2028", "\x0c\n", "</script>"])))


@pytest.mark.parametrize(
    ("text", "message", "at"),
    [
        ("", "not a JSON object", 0),
        ("[]", "not a JSON object", 0),
        ("print(1)", "not a JSON object", 0),
        ('{"cells": [}', "cell 1 is not an object", 11),
        ('{"cells": [{"a": }]}', "not JSON", 17),
        ('{"cells": [], "nbformat": 4} x', "behind the end", 29),
        ('{"cells": {}, "nbformat": 4}', "cells are not a list", 10),
        ('{"cells": [1], "nbformat": 4}', "cell 1 is not an object", 11),
        ('{"cells": [], "nbformat": "4"}', "no number", -1),
        ('{"cells": [{"cell_type": "code"}], "nbformat": 4}', "cell 1 has no cell_type, or no source", 11),
        ('{"cells": [{"cell_type": "code", "source": [1]}], "nbformat": 4}', "cell 1 has no cell_type", 11),
        ('{"cells": [{"cell_type": "code", "source": "a", "source": "b"}]}', "'source' stands twice", 48),
        ('{"cells": [], "cells": [], "nbformat": 4}', "'cells' stands twice", 14),
        ('{"a": ' + "[" * 100_000 + "]" * 100_000 + ', "cells": [], "nbformat": 4}', "nested too deeply", -1),
    ],
)
def test_what_is_no_notebook(text: str, message: str, at: int) -> None:
    with pytest.raises(FormatError, match=message) as raised:
        scan(text)
    assert raised.value.at == at


def test_keys_that_do_not_matter_may_stand_twice() -> None:
    found = scan('{"a": 1, "a": NaN, "cells": [{"source": "x", "cell_type": "code"}], "nbformat": 4}')
    assert [(cell.kind, cell.source) for cell in found.cells] == [("code", "x")]


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.tuples(LINES, st.booleans()), min_size=1, max_size=5),
    st.lists(LINES, min_size=1, max_size=5),
    st.sampled_from([None, 1, 2, "\t"]),
    st.booleans(),
    st.booleans(),
)
def test_only_the_sources_that_change_change(
    cells: list[tuple[list[str], bool]], new: list[list[str]], indent: object, escaped: bool, crlf: bool
) -> None:
    whole = {
        "cells": [
            {"outputs": ["é\u2028", {"b": 1.50}], "source": lines if listed else "".join(lines), "cell_type": "code"}
            for lines, listed in cells
        ],
        "nbformat": 4,
        "metadata": PYTHON,
    }
    text = json.dumps(whole, indent=indent, ensure_ascii=escaped)  # type: ignore[arg-type]
    text = text.replace("\n", "\r\n") if crlf else text
    scanned = scan(text)
    changes = {number: "".join(lines) for number, lines in enumerate(new[: len(cells)], 1)}
    changed = with_sources(text, scanned, changes)

    wanted = [changes.get(number, "".join(lines)) for number, (lines, _) in enumerate(cells, 1)]
    assert sources(changed) == wanted
    again = scan(changed)
    between = [(0, *(cell.end for cell in found.cells)) for found in (scanned, again)]
    before = [(*(cell.begin for cell in found.cells), len(held)) for found, held in ((scanned, text), (again, changed))]
    for number in range(len(cells) + 1):
        one, other = (slice(between[side][number], before[side][number]) for side in (0, 1))
        assert text[one] == changed[other]
    for cell, other in zip(scanned.cells, again.cells, strict=True):
        assert (text[cell.begin] == "[") == (changed[other.begin] == "[")
        if cell.source == other.source:
            assert text[cell.begin : cell.end] == changed[other.begin : other.end]


def test_lines_that_stay_are_written_as_they_were() -> None:
    text = '{"cells":[{"cell_type":"code","source":["a\\u003cb\\n",  "\\/\\u00fc\\n" , "c"]}],"nbformat":4}'
    changed = with_sources(text, scan(text), {1: "a<b\nnew é\n/ü\nc"})
    assert changed == text.replace('"\\/', '"new \\u00e9\\n",  "\\/').replace('" , "c', '",  "c')


def test_a_line_in_a_string_is_written_as_it_was() -> None:
    text = '{"cells":[{"cell_type":"code","source":"a\\u003cb\\n\\/ü\\nc"}],"nbformat":4}'
    assert with_sources(text, scan(text), {1: "a<b\nnew é\n/ü\nc"}) == text.replace("\\/", "new é\\n\\/")


def test_an_empty_list_is_filled_as_others_are() -> None:
    text = book(["", "a\nb"])
    assert with_sources(text, scan(text), {1: "c\nd"}) == book(["c\nd", "a\nb"])
    alone = book([""])
    assert with_sources(alone, scan(alone), {1: "c\nd"}) == book(["c\nd"])


def test_a_list_is_emptied() -> None:
    text = book(["a\nb"])
    assert with_sources(text, scan(text), {1: ""}) == book([""])


def test_large_outputs_are_passed_over() -> None:
    picture = '"' + "A" * 5_000_000 + '"'
    text = '{"cells": [{"cell_type": "code", "outputs": [' + picture + '], "source": "a"}], "nbformat": 4}'
    assert with_sources(text, scan(text), {1: "b"}) == text.replace('"a"', '"b"')
