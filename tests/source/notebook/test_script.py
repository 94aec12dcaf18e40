"""Cells as one script and back: magics, places, cells that become one."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from converter.diagnostics import Refusal
from converter.source.notebook import Notebook, read_notebook
from converter.source.notebook.magics import hidden, idle, masked, unmasked
from tests.source.notebook.books import book

# What IPython 7 and 8 take, and how many lines of it are no Python.
MAGICS = [
    ("%matplotlib inline", 1),
    ("!pip install a 'b", 1),
    ("?np", 1),
    ("np.zeros??", 1),
    ("x = !ls -l | grep 'a", 1),
    ("x = %env HOME", 1),
    ("a[0], b.c = !ls", 1),
    ("if x:\n    !ls\n    %cd a\n    y = 1", 2),
    ("!ls \\\n  -l\nx = 1", 1),
    ("%config a = \\\n  'b'\nx = 1", 1),
    ("for i in y:\n\t%time f(i)\n\tg()", 1),
    ("\n\n%load_ext a\n", 1),
    ("x = 1;\n!ls;", 1),
    ("def f():\n    %timeit g()\r\n    return 1", 1),
    ("# !no\n!yes", 1),
    ("\x0c%cd a", 1),
]
# What looks like it and is Python.
PLAIN = [
    "x = (a\n% b)",
    'print("""\n!ls\n%cd x\n""")',
    "x = '%d' \\\n% y",
    "x != y",
    "x %= y",
    "# %matplotlib inline",
    "x = 'a?'",
    "y = [\n'!', # ?\n]",
    "f(x=1)\nz = 3 % 2",
    r"print(r'\\\\', '%s' % x)",
    "x = y\n\n\n",
    "f'{x!r:>3} {y % 2}'",
]


def notebook(*cells: str | tuple[str, str]) -> Notebook:
    return read_notebook("a.ipynb", book(cells))


@pytest.mark.parametrize(("source", "number"), MAGICS)
def test_magics_are_masked_and_come_back(source: str, number: int) -> None:
    text = masked(source)
    ast.parse(text)
    assert text.count("\n") == source.count("\n")
    assert text.count("_tf_multigpu_line(") + text.count("# tf-multigpu-timed") == number
    assert unmasked(text) == source


@pytest.mark.parametrize("source", PLAIN)
def test_python_stays_as_it_is(source: str) -> None:
    assert masked(source) == source


def test_masked_lines_come_back_wherever_they_stand() -> None:
    text = masked("x = 1\n!ls 'a' \\\n  -l")
    moved = "".join(f"    {line}\n" for line in text.split("\n"))
    assert unmasked(moved).rstrip() == "    x = 1\n    !ls 'a' \\\n  -l"


def test_a_timed_statement_is_read() -> None:
    text = masked("    %time _, l = sess.run([a, b])")
    assert text.startswith("    _, l = sess.run([a, b])  # ")
    assert unmasked(text.replace("[a, b]", "[a, b, c]")) == "    %time _, l = sess.run([a, b, c])"
    with pytest.raises(ValueError, match="changed its form"):
        unmasked(text.replace("[a, b]", "[a,\n b]"))


def test_magics_that_run_python_are_known() -> None:
    assert list(hidden("x = 1\n%run other.py\n%matplotlib inline\n%time f()")) == [(2, "%run")]
    assert list(hidden("%%timeit\ntrain()")) == [(1, "%%timeit")]
    assert list(hidden("%%bash\nls")) == []
    assert list(hidden("%%time\n%prun f()")) == [(2, "%prun")]


def test_only_python_is_in_the_script() -> None:
    others = [("raw", "b"), "", "  \n"]
    made = notebook(("markdown", "# A"), "a = 1", "%%bash\nls", *others, "%%time\nc = 2", "%%writefile x\n1")
    assert made.script.text == ("a = 1\n# tf-multigpu-cell 7\n# tf-multigpu-cell-magic '%%time\\n'\n\nc = 2\n")
    assert [made.place(line) for line in range(7)] == [(0, 0), (2, 1), (7, 1), (7, 1), (7, 1), (7, 2), (0, 0)]
    assert made.script_line(7, 2) == 5


def test_lines_are_found_in_the_file() -> None:
    made = notebook("a = 1\nb = 2", "c = 3")
    lines = made.json.split("\n")
    assert [lines[made.file_line(*place) - 1].strip(' ,') for place in ((1, 1), (1, 2), (2, 1))] == [
        '"a = 1\\n"', '"b = 2"', '"c = 3"',
    ]  # fmt: skip


CELLS = st.lists(
    st.one_of(
        st.sampled_from([source for source, _ in MAGICS] + PLAIN),
        st.sampled_from(["", "%%time\nx = 1", "%%bash\nls", "\n%%capture out\n\nx = 1\n", "def f():\n    pass\n# end"]),
        st.lists(st.sampled_from(["a = 1", "", "# b", "if a:\n    b = 2", "!ls", "c"]), min_size=1).map("\n".join),
    ),
    max_size=8,
)


@settings(max_examples=300, deadline=None)
@given(CELLS, st.booleans())
def test_a_script_that_has_not_changed_gives_its_cells(cells: list[str], crlf: bool) -> None:
    cells = [cell.replace("\r\n", "\n").replace("\n", "\r\n" if crlf else "\n") for cell in cells]
    made = notebook(*cells)
    found = made.settled(made.script.text)
    assert found.script == made.script
    assert found.joined == ()
    assert all(cells[number - 1] == source for number, source in found.sources.items())
    assert made.with_script(made.script.text) == made.json


def cells_after(made: Notebook, *changes: tuple[str, str]) -> dict[int, str]:
    text = made.script.text
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return dict(made.settled(text).sources)


def test_lines_between_cells_belong_where_they_were_put() -> None:
    made = notebook("a = 1", "b = 2")
    assert cells_after(made, ("a = 1\n", "a = 1\nnew = 3\n")) == {1: "a = 1\nnew = 3", 2: "b = 2"}
    assert cells_after(made, ("b = 2", "new = 3\nb = 2")) == {1: "a = 1", 2: "new = 3\nb = 2"}


def test_cells_in_one_block_become_one() -> None:
    made = notebook("a = 1", "b = 2", ("markdown", "text"), "c = 3", "d = 4")
    text = "a = 1\nfor gpu in x:\n    b = 2\n    # tf-multigpu-cell 4\n\n    c = 3\n# tf-multigpu-cell 5\n\nd = 4\n"
    text = text.replace("for", "# tf-multigpu-cell 2\n\nfor")
    found = made.settled(text)
    assert found.joined == ((2, 4),)
    assert found.sources == {
        1: "a = 1",
        2: "for gpu in x:\n    b = 2\n\n    c = 3",
        4: "# tf-multigpu: what stood here is in cell 2 now",
        5: "d = 4",
    }
    assert list(found.told()) == ["what stood in cell 4 is in cell 2 now: a loop cannot span cells"]
    numbers = [index for index, line in enumerate(text.split("\n"), 1) if line.strip() in ("a = 1", "b = 2", "c = 3")]
    lines = found.script.text.split("\n")
    assert [lines[found.moved[number - 1] - 1].strip() for number in numbers] == ["a = 1", "b = 2", "c = 3"]


@pytest.mark.parametrize("behind", [None, "d = 4"], ids=["the last cell joined", "a cell behind"])
def test_a_statement_that_moved_up_stays_in_its_cells(behind: str | None) -> None:
    made = notebook("a = 1", "b = 2\n!ls", "c = 3", *([behind] if behind else []))
    ls = "get_ipython()._tf_multigpu_line('!ls')\n"
    text = f"a = 1\n{ls}# tf-multigpu-cell 2\n\nfor gpu in x:\n    b = 2\n    # tf-multigpu-cell 3\n\n    c = 3\n"
    text += f"# tf-multigpu-cell 4\n\n{behind}\n" if behind else ""
    assert made.settled(text).sources == {
        1: "a = 1",
        2: "!ls\n\nfor gpu in x:\n    b = 2\n\n    c = 3",
        3: "# tf-multigpu: what stood here is in cell 2 now",
        **({4: behind} if behind else {}),
    }


def test_a_cell_in_front_of_cells_that_changed_their_order_keeps_its_own() -> None:
    made = notebook("a = 1", "b = 2", "c = 3")
    text = "a = 1\n# tf-multigpu-cell 3\n\nc = 3\n# tf-multigpu-cell 2\n\nb = 2\n"
    assert made.settled(text).sources == {
        1: "a = 1", 2: "c = 3\n\nb = 2", 3: "# tf-multigpu: what stood here is in cell 2 now",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("between", "message"),
    [
        ("%%bash\nls", "the cell runs %%bash between cells 1 and 3"),
        ("%%time\nb = 2", "the cell begins with %%time, and becomes one with cell 1"),
        ("%%timeit\nb = 2", "the cell runs %%timeit between"),
    ],
)
def test_cells_that_cannot_become_one(between: str, message: str) -> None:
    made = notebook("a = 1", between, "c = 3")
    marked = "    # tf-multigpu-cell 2\n    # tf-multigpu-cell-magic '%%time\\n'\n\n    b = 2\n"
    marked = marked if "time\n" in between else ""
    with pytest.raises(Refusal) as raised:
        made.settled(f"for x in y:\n    a = 1\n{marked}    # tf-multigpu-cell 3\n\n    c = 3\n")
    found = raised.value.diagnostic
    assert (found.code, found.cell) == ("TMG044", 2)
    assert message in found.message


def test_cells_that_only_show_something_may_stand_between() -> None:
    made = notebook("a = 1", "%%html\n<b>", "c = 3")
    assert made.settled("for x in y:\n    a = 1\n    # tf-multigpu-cell 3\n\n    c = 3\n").joined == ((1, 3),)


def test_places_in_what_the_tool_says() -> None:
    made = notebook("a = 1\nb = 2", ("markdown", "x"), "c = 3")
    assert made.told("lines 1 to 5, line 2; a.ipynb:5 and b.py:5, b.py, line 5") == (
        "cell 1, line 1 to cell 3, line 1, cell 1, line 2; a.ipynb, cell 3, line 1 and b.py:5, b.py, line 5"
    )


def test_a_script_that_runs_alone() -> None:
    made = notebook("from __future__ import division\n!ls", "%matplotlib inline\nx = 1\ndisplay(x)")
    text, used = idle(made.script.text)
    assert used == 0
    names: dict[str, object] = {}
    exec(compile(text, "a", "exec"), names)
    assert names["x"] == 1
    assert idle(notebook("a = 1\nx = !ls").script.text) == ("", 2)
