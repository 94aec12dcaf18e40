"""Two scripts side by side: which lines stand beside each other, and why an added one is there."""

from __future__ import annotations

from pathlib import Path

import pytest

from converter.options import Options
from converter.report.sides import Row, Stretch, side_by_side
from converter.source import read
from tests import goldens
from tests.conversions import conversion_of

ROOT = Path(__file__).resolve().parent.parent.parent
FIXTURES = sorted(goldens.FIXTURES.glob("*/single.py"))


def rows(before: str, after: str, trace: object = ()) -> list[Row]:
    return [row for stretch in side_by_side(before, after, trace) for row in stretch.rows]


def text(pieces: tuple[tuple[str, bool], ...]) -> str:
    return "".join(piece for piece, _ in pieces)


def shown(before: str, after: str, trace: object = ()) -> list[tuple[object, ...]]:
    return [(row.kind, row.left, row.right, *row.codes) for row in rows(before, after, trace)]


def test_equal_texts() -> None:
    assert shown("a\nb\n", "a\nb\n") == [("same", 1, 1), ("same", 2, 2)]


def test_an_indented_line_is_the_same_line() -> None:
    assert shown("a\nb\n", "    a\nb\n") == [("indented", 1, 1), ("same", 2, 2)]


def test_a_changed_line_shows_what_changed() -> None:
    (row,) = rows("batch_size = 64\n", "batch_size = 64 * num_gpus\n", [(1, ("TMG110",))])
    assert (row.kind, row.codes) == ("changed", ("TMG110",))
    assert row.before == (("batch_size = 64", False),)
    assert row.after == (("batch_size = 64", False), (" * num_gpus", True))


def test_a_changed_line_stands_beside_its_like() -> None:
    before = "train = opt.minimize(loss)\n"
    after = "towers = []\ntrain = opt.apply_gradients(average(towers))\nmore = 1\n"
    assert shown(before, after) == [("added", None, 1), ("changed", 1, 2), ("added", None, 3)]


def test_lines_that_have_nothing_in_common_do_not_stand_together() -> None:
    assert shown("import os\n", "zzz(9)\n") == [("removed", 1, None), ("added", None, 1)]


def test_a_line_that_stands_elsewhere_is_moved() -> None:
    before, after = "x = 1\nmodel()\nrate = 0.1\nstep()\n", "x = 1\nrate = 0.1\nmodel()\nstep()\n"
    found = shown(before, after, [(2, ("TMG115",))])
    assert [row for row in found if row[0] == "moved"] in (
        [("moved", None, 2, "TMG115"), ("moved", 3, None)],
        [("moved", 2, None), ("moved", None, 3, "TMG115")],
    )


def test_a_line_has_the_rules_of_the_edit_that_ends_below_it() -> None:
    trace = [(2, ("TMG103",)), (3, ("TMG104", "TMG101")), (5, ("TMG111",))]
    found = rows("a\n", "f(x,\n  y)\nb = []\na\nc\n", trace)
    assert [row.codes for row in found] == [("TMG103",), ("TMG103",), ("TMG104", "TMG101"), (), ("TMG111",)]
    assert [row.span for row in found] == [2, 0, 1, 1, 1]


def test_without_a_trace_there_are_no_rules() -> None:
    assert all(row.codes == () for row in rows("a\nb\nc\n", "c\nb\na\nd\n"))


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_are_counted_as_python_counts_them(end: str) -> None:
    found = rows(f"a{end}\x0c{end}b\u2028{end}c", f"a{end}\x0c{end}b\u2028{end}x{end}c")
    assert [(row.left, row.right) for row in found] == [(1, 1), (2, 2), (3, 3), (None, 4), (4, 5)]


def test_long_runs_are_folded() -> None:
    before = "".join(f"line {number}\n" for number in range(40))
    helpers = "def first():\n" + "    pass\n" * 30 + "class Second:\n"
    after = before.replace("line 20\n", "line 20\n" + helpers)
    stretches = side_by_side(before, after, [])
    assert [(s.folded, s.label) for s in stretches] == [
        (True, "18 lines as they were"),
        (False, ""),
        (True, "32 added lines: first, Second"),
        (False, ""),
        (True, "16 lines as they were"),
    ]


def test_few_lines_are_not_worth_folding() -> None:
    before = "".join(f"line {number}\n" for number in range(9))
    assert [s.folded for s in side_by_side(before, before + "more\n", [])] == [False]


def test_empty_texts() -> None:
    assert side_by_side("", "", []) == ()
    assert shown("", "a\n") == [("added", None, 1)]


@pytest.mark.one_in(8)
@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: path.parent.name)
def test_nothing_is_lost_and_every_new_line_of_a_fixture_has_a_rule(path: Path) -> None:
    source = read(str(path))
    conversion = conversion_of(source, Options(num_gpus=2))
    assert conversion.text is not None
    stretches: tuple[Stretch, ...] = side_by_side(source.text, conversion.text, conversion.trace)
    found = [row for stretch in stretches for row in stretch.rows]
    assert [text(row.before) for row in found if row.left] == source.text.splitlines()
    assert [text(row.after) for row in found if row.right] == conversion.text.splitlines()
    new = [row for row in found if row.kind in ("added", "changed", "moved") and row.right]
    assert new and all(row.codes for row in new)
    assert all(row.codes == () for row in found if row.kind in ("same", "indented"))
