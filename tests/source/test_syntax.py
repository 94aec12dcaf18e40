"""What is neither Python 2 nor Python 3, and which of its lines is the reason."""

from __future__ import annotations

import warnings

import pytest

from converter.diagnostics import Diagnostic, Refusal
from converter.source import from_bytes, parse
from converter.source.viewed import viewed


def refusal(text: str) -> Diagnostic:
    with pytest.raises(Refusal) as caught:
        parse(viewed(from_bytes("train.py", text.encode())))
    return caught.value.diagnostic


PYTHON_2 = [
    ('print "x"', 1, 1, "print"),
    ("print x, y", 1, 1, "print"),
    ('print "%d" % step,', 1, 1, "print"),
    ('if x:\n\tprint "x"', 2, 2, "print"),
    ("for i in x: print i", 1, 13, "print"),
    ('print "a" % (1,\n  2)', 1, 1, "print"),
    ('x = 1\r\nprint "x"\r\n', 2, 1, "print"),
    ('x = 1\rprint "x"\r', 2, 1, "print"),
    ('\x0c\nprint "x"', 2, 1, "print"),
    ('größe = 1; print "x"', 1, 12, "print"),
    ("try:\n  pass\nexcept IOError, e:\n  pass", 3, 8, "except"),
    ("try:\n  pass\nexcept (IOError, OSError), e:\n  pass", 3, 8, "except"),
    ("try:\n  pass\nexcept socket.error, (code, text):\n  pass", 3, 8, "except"),
    ("try:\n  pass\nexcept A, self.e : pass", 3, 8, "except"),
    ('exec "x = 1"', 1, 1, "exec"),
    ("exec code in names", 1, 1, "exec"),
    ("x = `y`", 1, 5, "backticks"),
    ("print `y`", 1, 7, "backticks"),
    ("if x <> y: pass", 1, 6, "<>"),
    ('raise ValueError, "x"', 1, 17, "raise"),
    ("raise E(a), None, traceback", 1, 11, "raise"),
    ('if x: raise E, "a: b" % c', 1, 14, "raise"),
    ("x = 0777", 1, 5, "0o777"),
    ("os.chmod(path, 0644)", 1, 16, "0o644"),
    ("x = 0777L", 1, 5, "0o777)"),
    ("x = 10L", 1, 6, "10L"),
    ("x = [1, 2, 0xFFL]", 1, 15, "0xFFL"),
    ('x = ur"abc"', 1, 7, "ur"),
    ("x = f(UR'abc')", 1, 9, "ur"),
    ("def f((a, b)): pass", 1, 7, "tuple"),
    ("def f(a, (b, c)=(1, 2)): pass", 1, 10, "tuple"),
    ("x = map(lambda (k, v): k, y)", 1, 16, "tuple"),
    ("f = lambda self, (a, b): a", 1, 18, "tuple"),
]


@pytest.mark.parametrize(("text", "line", "column", "what"), PYTHON_2)
def test_python_2_is_recognised_beside_python_3(text: str, line: int, column: int, what: str) -> None:
    found = refusal(text.rstrip("\r\n") + "\nf''\n")
    assert (found.code, found.line, found.column) == ("TMG004", line, column)
    assert what in found.message
    assert "no Python runs both" in found.hint


NOT_PYTHON = [
    ("x = 5 if", 1, 9),
    ("f(", 1, 2),
    ('print("a" "b"', 1, 6),
    ('print("a"))', 1, 11),
    ("x = 'abc", 1, 5),
    ("x = 08", 1, 5),
    ("x = 0778", 1, 5),
    ("x = 12abc", 1, 6),
    ("x = 12Lx", 1, 6),
    ("x = 1__0", 1, 6),
    ("x = fur'abc'", 1, 8),
    ("try:\n  pass\nexcept A, B, C:\n  pass", 3, 8),
    ("try:\n  pass\nexcept A, B as e:\n  pass", 3, 8),
    ("raise E from x, y", 1, 15),
    ("raise_ E, x", 1, 8),
    ("f(raise E, x)", 1, 3),
    ("```python", 1, 1),
    ("def f()\n  pass", 1, 8),
    ("  x = 1", 1, 3),
    ("if x:\n\ty\n       z", 3, 9),
    ("if x = 3: pass", 1, 4),
    ("x = {'a': 1 'b': 2}", 1, 11),
    ("%matplotlib inline", 1, 1),
    ("x = 1\n!pip install tensorflow", 2, 1),
    ("<<<<<<< HEAD", 1, 1),
    ("x = 1\n\0", 2, 1),
    ("x = '\0'", 1, 6),
    ("return x y", 1, 10),
    ("None = 1", 1, 1),
]


@pytest.mark.parametrize(("text", "line", "column"), NOT_PYTHON)
def test_other_errors_are_not_blamed_on_python_2(text: str, line: int, column: int) -> None:
    found = refusal(text)
    assert (found.code, found.line) == ("TMG005", line)
    assert abs(found.column - column) <= 1
    assert found.message.startswith("syntax error: ")


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("if x:\n\ty\n        z\nf''", "expand"),
        ("%matplotlib inline", "nbconvert"),
        ("\tx = 1\n!pip", "Python stops at the same place"),
        ("x = (", "Python stops at the same place"),
    ],
)
def test_hints(text: str, hint: str) -> None:
    assert hint in refusal(text).hint


@pytest.mark.parametrize("text", ["print x", "if x:\n\ty\n        z", "async = 3", "x = 0777"])
def test_what_only_python_2_reads(text: str) -> None:
    assert parse(viewed(from_bytes("train.py", text.encode()))).body


@pytest.mark.parametrize("text", ["x = " + "(" * 5000 + ")" * 5000, "x = " + "-" * 100000 + "1"])
def test_what_is_nested_too_deeply(text: str) -> None:
    assert refusal(text).code == "TMG005"


@pytest.mark.parametrize(
    "text",
    [
        "print('x')",
        "print",
        "print >>sys.stderr, 'x'",
        "print('a'), 'b'",
        "print -1",
        "exec('x') in y",
        "raise 'x'",
        "x = 0o777 + 0 + 00 + 0xA1",
        "x = '0777 10L `y` <> ur'",
        "x = u'abc' + rb'd' + b'e'",
        "except_ = 1",
        "# -*- coding: latin-1 -*-\nx = 1",
        "x = 1  # print 'x'",
        '"""\nprint "x"\n"""',
        "größe = 'ä'",
        "if x:\r\n\ty = 1\r\n\x0c\r\nz = 2",
        "match x:\n  case 1: pass",
    ],
)
def test_what_is_python_3(text: str) -> None:
    assert parse(from_bytes("train.py", text.encode())).body


def test_doubtful_escapes_are_not_the_tools_business() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tree = parse(from_bytes("train.py", b"x = '\\d'\ny = 1 if 2 is 2 else 3\n"))
    assert len(tree.body) == 2
