"""The view of a Python 2 text: what Python 3 reads in its place, line for line, and the text itself again."""

from __future__ import annotations

import ast
import re
import subprocess
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from converter.parsing import parse_text
from converter.source.python2 import Unread, original_place, restored, view_or_why
from converter.source.python2.marks import ahead, behind, column_in
from converter.source.python2.only_3 import first_new
from converter.source.python2.tokens import tokens_of
from converter.source.python2.view import NoView, view_of

_MARK = re.compile("\f\t\f[ \t\f]+\f\t\f")

CONSTRUCTS = [
    # print
    ('print "x"', 'print( "x")'),
    ("print x, y,", "print( x, y,)"),
    ('print"x"', 'print("x")'),
    ("print (a), b", "print( (a), b)"),
    ("print (a) % b", "print( (a) % b)"),
    ("print >>f, x  # why", "print (f, x)  # why"),
    ("print>>sys.stderr", "print(sys.stderr)"),
    ("print -1", "print( -1)"),
    ("if x: print y; print z", "if x: print( y); print( z)"),
    ("for i in x: print i", "for i in x: print( i)"),
    ("else_ = lambda: 1; print x", "else_ = lambda: 1; print( x)"),
    ("while f(lambda x: x): print {1: 2}, d[1:2]", "while f(lambda x: x): print( {1: 2}, d[1:2])"),
    ('print "a" % (1,\n  2), \\\n  3', 'print( "a" % (1,\n  2), \\\n  3)'),
    ("try: print x\nfinally: print y", "try: print( x)\nfinally: print( y)"),
    # exec
    ('exec "x = 1"', 'exec( "x = 1")'),
    ("exec code in names, more", "exec( code , names, more)"),
    ('exec("x") in y', 'exec(("x") , y)'),
    # raise
    ('raise E, "x"', 'raise E( "x")'),
    ("raise m.E(a), None, traceback", "raise m.E(a)( None, traceback)"),
    ('if x: raise E, "a: b" % (c, d)', 'if x: raise E( "a: b" % (c, d))'),
    # except
    ("try:\n  pass\nexcept A, e:\n  pass", "try:\n  pass\nexcept A as e:\n  pass"),
    ("try: pass\nexcept(A, B),e: pass", "try: pass\nexcept(A, B) ase: pass"),
    ("try: pass\nexcept A, (b, c): f(b)", "try: pass\nexcept A as b_c_: (b, c) = b_c_; f(b)"),
    ("try: pass\nexcept A, self.e : pass", "try: pass\nexcept A as self_e_ : self.e = self_e_; pass"),
    # numbers
    ("x = 0777 + 00 + 0", "x = 0o777 + 00 + 0"),
    ("x = 0777L, 10l, 0xFFL, 01.5", "x = 0o777, 10, 0xFF, 01.5"),
    # operators and strings
    ("x = a <> b", "x = a != b"),
    ("x = `y` + `f(`z`, 1)`", "x =  repr(y) +  repr(f( repr(z), 1))"),
    ("`x`", "repr(x)"),
    ("x = ur'\\d' + UR\"b\"", "x = r'\\d' + R\"b\""),
    ('ur"""a\nb"""', '(r"""a\nb""")'),
    ("x = 'C:\\Users', '\\N', u'a'", "x = r'C:\\Users', r'\\N', u'a'"),
    ("x = b'\xe4', B'c'", "x = '\xe4', B'c'"),
    # parameters
    ("def f(a, (b, c)=(1, 2), d=3):\n  return b", "def f(a, b_c_=(1, 2), d=3):\n  (b, c) = b_c_; return b"),
    ("def f((a, (b, c))): return a", "def f(a_b_c_): (a, (b, c)) = a_b_c_; return a"),
    ("x = map(lambda (k, v): k + v, y)", "x = map(lambda k_v_:[ k + v for (k, v) in [k_v_]][0], y)"),
    ("x = (lambda (a, b): f(a)[b])", "x = (lambda a_b_:[ f(a)[b] for (a, b) in [a_b_]][0])"),
    ("f = lambda a, (b, c): lambda d: d", "f = lambda a, b_c_:[ lambda d: d for (b, c) in [b_c_]][0]"),
    ("k_v_ = {1: lambda (k, v): k, 2: 3}", "k_v_ = {1: lambda k_v__:[ k for (k, v) in [k_v__]][0], 2: 3}"),
    ("[x for x in a, b if x]", "[x for x in (a, b) if x]"),
    ("[x for x in f(a, b) for y in 1, 2,]", "[x for x in f(a, b) for y in (1, 2,)]"),
    # names that are words of Python 3
    ("f(async=True, await=x.nonlocal)", "f(async_=True, await_=x.nonlocal_)"),
    # blanks: a tab goes to the next of the stops, every eight columns
    ("if x:\n\tif y:\n            z\n\tw", "if x:\n        if y:\n            z\n        w"),
    ("if x:\n    if y:\n\tz", "if x:\n    if y:\n        z"),
    ('if x:\n  \t"""a\n\tb"""\n\tprint y', 'if x:\n        """a\n\tb"""\n        print( y)'),
    # line ends
    ('x = 1\r\nprint "x"\r\n', 'x = 1\r\nprint( "x")\r\n'),
    ('x = 1\rprint "x"\r', 'x = 1\rprint( "x")\r'),
]


def _plain(view: str) -> str:
    return _MARK.sub("", view)


@pytest.mark.parametrize(("text", "view"), CONSTRUCTS)
def test_a_construct_of_python_2(text: str, view: str) -> None:
    found = view_of(text)
    assert _plain(found) == view
    assert restored(found) == text
    assert view_or_why(text) in (found, text)  # of `print >>f` and the like, Python 3 reads something else


UNTOUCHED = [
    'print("a")',
    "print ('a', b)",
    "print",
    "exec(code, names)",
    "raise E(a, b)",
    "raise (E, a)",
    "x = '0777 10L `y` <> ur print x'",
    "x = 1  # print 'x', 0777",
    '"""\nprint "x"\n"""',
    "x.print_, y = f(1, 2)",
    "d.has_key(1)",
    "if x:\n\ty = 1\n\tz = 2",
    "x = {'a': lambda: (1, 2)}",
    "try: pass\nexcept (A, B) as e: pass",
    "x = [(a, b) for a, b in c]",
    "x = 0, 00, 0o7, 0.5, 1e5, 1j",
    "from __future__ import print_function\nprint (a), b\nprint(x, file=f)",
]


@pytest.mark.parametrize("text", UNTOUCHED)
def test_what_stays_as_it_is(text: str) -> None:
    assert view_of(text) == text


@pytest.mark.parametrize(
    ("text", "line", "column", "why"),
    [
        (
            "print x\ndef f((a, b)):\n  for c in a: pass",
            2,
            7,
            "a tuple that is unpacked in front of a compound statement",
        ),
        ("def f((a,\n  b)):\n  pass", 1, 7, "a tuple to unpack that goes over several lines"),
        ("print x\nx = f'{y}'", 1, 1, "the print statement; and an f-string, line 2, is Python 3's"),
        ("print x\ny: int = 3", 1, 1, "the print statement; and an annotated name, line 2, is Python 3's"),
        ("try: pass\nexcept A, e: raise B from e", 2, 8, "`raise … from`, line 2, is Python 3's"),
        ("print x\nprint(y, end='')", 1, 1, "a keyword for print(), line 2, is Python 3's"),
    ],
)
def test_python_2_that_has_no_view(text: str, line: int, column: int, why: str) -> None:
    found = view_or_why(text)
    assert isinstance(found, Unread)
    assert (found.line, found.column, bool(found.hint)) == (line, column, True)
    assert found.message.startswith("Python 2 syntax: ") and found.message.endswith(why)


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ("print x\ny = = 2", 2, 5),
        ("print x\nf(", 2, 2),
        ("print 10L, x y", 1, 12),
        ("try:\n  pass\nexcept A, B, C:\n  pass", 3, 8),
    ],
)
def test_a_slip_beside_python_2_is_told_at_its_own_place(text: str, line: int, column: int) -> None:
    found = view_or_why(text)
    assert isinstance(found, Unread)
    assert (found.line, found.column, found.hint) == (line, column, "")


@pytest.mark.parametrize(
    "text",
    [
        "async def f(): pass",
        "x = a @ b",
        "a, *b = c",
        "def f(*, a): pass",
        "class A(metaclass=B): pass",
        "def f() -> int: pass",
    ],
)
def test_what_only_python_3_has(text: str) -> None:
    assert first_new(parse_text(text)) is not None


@pytest.mark.parametrize(
    "text", ["x = f(*a, **b)", "def f(a, b=1, *c, **d): yield", "x = {1, 2}", "with a as b, c: pass"]
)
def test_what_python_2_has_too(text: str) -> None:
    assert first_new(parse_text(text)) is None


@pytest.mark.parametrize(
    ("view", "text"),
    [
        # an edit has put something else in the place of what a mark speaks of
        (f"x = {behind('10', '10L')}", "x = 10L"),
        (f"x = n * 2{behind('10', '10L').removeprefix('10')}", "x = n * 2"),
        (f"f({ahead(')', '').removesuffix(')')}]", "f(]"),
        (f"    print({behind('(').removeprefix('(')}x{ahead(')')}", "    print x".replace(" x", "x")),
    ],
)
def test_marks_after_an_edit(view: str, text: str) -> None:
    assert restored(view) == text


def test_moved_lines_are_indented_as_the_others() -> None:
    by_tabs = view_of("if x:\n\tif y:\n\t\ta\n\t\tb\n        c\n")
    moved = by_tabs.replace("                b", "                    b")
    assert restored(moved) == "if x:\n\tif y:\n\t\ta\n\t\t    b\n        c\n"
    by_blanks = view_of("if x:\n    if y:\n\ta\n    b\n    c\n")
    assert (
        restored(by_blanks.replace("        a", "            a")) == "if x:\n    if y:\n            a\n    b\n    c\n"
    )


@pytest.mark.parametrize(
    ("text", "part", "column"),
    [
        ("print x, y", "y", 10),
        ("x = 10L, 0777, y", "y", 16),
        ("if a <> `b`: print c", "c", 20),
        ("print x", "print", 1),
    ],
)
def test_columns_are_those_of_the_text(text: str, part: str, column: int) -> None:
    view = view_of(text)
    assert column_in(view, view.index(part) + 1) == column
    assert original_place(text, view, 1, view.index(part) + 1) == (1, column)


def test_form_feeds_of_the_text_stay() -> None:
    assert restored(view_of("\f\nprint x\n\fprint y\n")) == "\f\nprint x\n\fprint y\n"
    with pytest.raises(NoView):
        view_of("print\f\t\fx")


SIMPLE = [text for text, _ in CONSTRUCTS if "\n" not in text and "\r" not in text] + [
    "x = 1",
    "pass  # nothing",
    "f(x)",
]
BLOCKS = ["if x:", "for i in y:", "while `x`:", "def f(a, b=0777):", "try:", "with a <> b:", "class A:"]


@st.composite
def texts(draw: st.DrawFn) -> str:
    """Blocks of statements, indented by tabs and blanks as Python 2 takes them."""
    end = draw(st.sampled_from(["\n", "\r\n", "\r"]))
    lines: list[str] = []

    def block(columns: int, depth: int) -> None:
        lead = "\t" * (columns // 8) + " " * (columns % 8) if draw(st.booleans()) else " " * columns
        for _ in range(draw(st.integers(1, 3))):
            lines.append(lead + draw(st.sampled_from(SIMPLE)))
            if depth and draw(st.booleans()):
                head = draw(st.sampled_from(BLOCKS))
                lines.append(lead + head)
                inner = columns + draw(st.sampled_from([4, 8]))
                block(inner, depth - 1)
                if head == "try:":
                    lines.append(lead + "except A, e: print e")

    block(0, 3)
    return end.join(lines) + draw(st.sampled_from(["", end]))


@settings(max_examples=150, deadline=None)
@given(texts())
def test_any_text_has_a_view_line_for_line(text: str) -> None:
    view = view_or_why(text)
    assert isinstance(view, str)
    ast.parse(view)
    assert restored(view) == text
    assert len(re.split("\r\n|\n|\r", view)) == len(re.split("\r\n|\n|\r", text))
    assert "".join(token.text for token in tokens_of(view)) == view


@given(st.text("print`<>0L'\"ur#()[]:,\n\t \\lambdaexcept=f\f", max_size=40))
def test_what_is_no_python_does_no_harm(text: str) -> None:
    found = view_or_why(text)
    assert isinstance(found, Unread) or restored(found) == text


@pytest.mark.tf1(version="1.12")
def test_python_2_compiles_the_constructs(tensorflow_python: str) -> None:
    """What the tables call Python 2 is Python 2."""
    texts = [text.replace("\r\n", "\n").replace("\r", "\n") for text, _ in CONSTRUCTS if text.isascii()]
    texts += [f"{head}\n  {text}" for head, text in product(["if x:", "def f((a, b)):"], SIMPLE) if text.isascii()]
    program = "import sys\nfor text in eval(sys.stdin.read()): compile(text, text, 'exec')\n"
    command = [tensorflow_python, "-c", program]
    done = subprocess.run(command, input=repr(texts), capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
