"""What is left of a script for LibCST: nothing is lost, and it stands where it stood."""

from __future__ import annotations

import ast

import libcst as cst
import pytest
from libcst.metadata import MetadataWrapper, PositionProvider

from converter.rewrite.outline import LINE, LossError, Outline, outline
from tests.goldens import FIXTURES

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
EDGES = {
    "no end of line": "def f(): pass",
    "other ends of lines": "def f():\r\n\tpass\r\n\r\nx = 1\r\n",
    "one statement of old ends": "a = 1\rdef f():\r  pass\rb = 2\r",
    "comments of a block": "def f():\n    pass\n    # of f\n\n    # too\n# of x\nx = 1\n    # of x, too\n",
    "a line goes on": "x = 1 \\\n\ny = 2\n",
    "indented blank lines at the end": "if a:\n    pass\nf()\n\n\n\n    \n\n\n",
    "an indented comment at the end": "def f():\n    pass\nx = 1\n\n\n    # of x\n",
    "indented blanks and no end of line": "def f():\n    pass\nx = 1\n\n\t\n\n    ",
    "indented blanks in a block": "x = 1\r\ndef f():\r\n    pass\r\n\r\n  \r\n",
    "blank lines at the end": "def f():\n    pass\nx = 1\n\n\n# of x\n\n",
    "the name is taken": 'held(0, """""")\nheld_ = 2\nx = 1\n',
    "a parenthesis above the decorator": "x = 1\n@(\n    f)\ndef g():\n    pass\n",
    "several on a line": "x = 1; y = (2,\n3); z = 4\nw = 5\n",
    "form feeds": "x = 1\n\f\ndef f():\n    pass\n\f\ny = 2\n",
    "only a docstring": '"""What\nit does."""\n',
    "nothing": "",
    "other blanks": "if a:\n\tpass\ndef f():\n  pass\n",
    "a string like an outline": "def f():\n    return '''held(0, \"\"\"\"\"\")'''\nx = 1\n",
}


WITHIN = '''\
def train():
    """Trains."""
    import a
    x = f("ä")  # of x
    if x: y = 1
    z = 1; w = 2
    u = (1,
         2)
    for i in x:
        print(i)   \t
        "text"
    else:
        return \\
            x
    ä = 3
'''


def left(text: str, *lines: int) -> Outline:
    """The outline where edits are on some lines."""
    return outline(text, ast.parse(text), lambda first, last: any(first <= line <= last for line in lines))


def moved(text: str, *lines: int) -> Outline:
    """The outline where all lines may move and edits are on some."""
    return outline(text, ast.parse(text), lambda *_: True, lambda first, last: any(first <= n <= last for n in lines))


def places(module: cst.Module) -> set[tuple[str, int, int]]:
    """Which names a module has, and where."""
    found = MetadataWrapper(module, unsafe_skip_copy=True).resolve(PositionProvider)
    return {(n.value, w.start.line, w.start.column) for n, w in found.items() if isinstance(n, cst.Name)}


@pytest.mark.one_in(8)
@pytest.mark.parametrize("name", sorted(TEXTS | EDGES))
def test_nothing_is_lost_and_nothing_moves(name: str) -> None:
    text = (TEXTS | EDGES)[name]
    whole = cst.parse_module(text)
    every = places(whole)
    for line in range(1, text.count("\n") + 2, 21 if name in TEXTS and name != "odd" else 1):
        found = left(text, line, line + 20)
        assert found.filled(found.module.code) == text
        assert found.module.default_indent == whole.default_indent
        assert found.module.default_newline == whole.default_newline
        new = places(found.module) - every
        assert {name for name, _, _ in new} <= {found.name} and len(new) == len(found.held)


def test_statements_with_edits_and_imports_are_there_and_others_are_not() -> None:
    found = left(ODD, 11)
    names = {n for n, _, _ in places(found.module)}
    assert {"Net", "x", "y", "a", "b"} <= names and not {"c", "print", "i", "f"} & names
    assert len(found.held) == 1 and found.held[0].startswith("if a:") and found.held[0].endswith("])")


def test_names_stand_for_statements_on_lines_of_their_own() -> None:
    found = moved(WITHIN)
    held = ("ä = 3", "print(i)   \t", 'x = f("ä")  # of x')
    assert found.held == held
    left = WITHIN
    for number, line in enumerate(held):
        left = left.replace(line, f"held_{number}_")
    assert found.module.code == left
    assert found.filled(found.module.code) == WITHIN


def test_statements_that_an_edit_changes_have_no_names() -> None:
    found = moved(WITHIN, 4, 10)
    assert found.held == ("ä = 3",) and found.filled(found.module.code) == WITHIN


@pytest.mark.parametrize("name", sorted(TEXTS | EDGES))
def test_names_take_the_places_of_their_statements(name: str) -> None:
    text = (TEXTS | EDGES)[name]
    found = moved(text)
    assert found.filled(found.module.code) == text
    lines = LINE.findall(text)
    names = [place for place in places(found.module) if place[0].startswith(f"{found.name}_")]
    assert sorted(found.held) == sorted(lines[line - 1][column:].rstrip("\r\n") for _, line, column in names)


def test_a_name_of_the_script_is_left_alone() -> None:
    text = "if a:\n    held_0_ = held(held_1_)\n    b = 1\n"
    found = moved(text)
    assert found.name == "held__" and found.filled(found.module.code) == text


def test_further_names_stand_for_further_texts() -> None:
    found, more = moved("if a:\n    b = 1\n"), []
    assert [found.stand_in(text, more) for text in ("c = 2", "held_0_")] == ["held_1_", "held_2_"]
    assert found.filled("held_1_\nheld_0_\nheld_2_\n", more) == "c = 2\nb = 1\nheld_0_\n"


def test_comments_of_a_block_stay_with_it() -> None:
    found = left(EDGES["comments of a block"], 7)
    assert found.held == ("def f():\n    pass\n    # of f\n\n    # too",)


def test_what_is_above_an_edited_statement_stays_with_it() -> None:
    found = left("def f():\n    pass\n\n# why\nx = 1\n", 5)
    last = found.module.body[-1]
    assert isinstance(last, cst.SimpleStatementLine)
    assert [line.comment and line.comment.value for line in last.leading_lines] == [None, "# why"]


@pytest.mark.parametrize("name", ["other blanks", "a parenthesis above the decorator"])
def test_what_cannot_be_left_out_safely_is_parsed_as_a_whole(name: str) -> None:
    found = left(EDGES[name], 5 if name == "other blanks" else 1)
    assert found.held == () and found.module.code == EDGES[name]


def test_where_the_trees_do_not_agree_nothing_is_left_out() -> None:
    text = "x = 1\n\ny = 2\n\n\n"
    found = outline(text, ast.increment_lineno(ast.parse(text), 1), lambda first, last: first == 2)
    assert found.held == () and found.module.code == text


def test_what_would_be_lost_is_named_by_its_line() -> None:
    text = "def f():\n    pass\n\fx = 1\n"
    with pytest.raises(LossError, match="line 3"):
        left(text, 3)
    assert left(text, 1).held == ("\fx = 1",)
