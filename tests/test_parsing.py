"""A text is read by Python's own parser, whatever other threads do."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from converter.parsing import TRIES, parse_expression, parse_text

ROOT = Path(__file__).resolve().parent.parent
Read = Callable[[str], ast.AST]

# Objects whose removal runs Python code make threads change places while trees are built.
THREADS = """\
import ast, sys, threading
from converter.parsing import parse_text

class Held:
    def __init__(self):
        self.me = self

    def __del__(self):
        for _ in range(50):
            pass

text = "\\n".join(f"x{i} = f(a[{i}], b.c.d(e + {i} * (1 + 2)))" for i in range(300))
whole = ast.dump(ast.parse(text))
read = []

def run():
    for _ in range(20):
        for _ in range(50):
            Held()
        read.append(ast.dump(parse_text(text)) == whole)

sys.setswitchinterval(1e-6)
threads = [threading.Thread(target=run) for _ in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(read.count(True))
"""


def test_threads_that_parse_at_the_same_time_disturb_nothing() -> None:
    """On Python 3.11 `ast.parse` itself fails here, more than once in ten times."""
    done = subprocess.run([sys.executable, "-c", THREADS], cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.stdout == "40\n", done.stderr


@pytest.mark.parametrize("read", [parse_text, parse_expression])
def test_a_disturbed_parser_is_asked_again(read: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted, own, calls = ast.dump(read("a + b")), ast.parse, []

    def disturbed(text: str, mode: str = "exec") -> ast.AST:
        calls.append(text)
        if len(calls) < 3:
            raise SystemError("AST constructor recursion depth mismatch")
        return own(text, mode=mode)

    monkeypatch.setattr(ast, "parse", disturbed)
    assert ast.dump(read("a + b")) == wanted and len(calls) == 3


@pytest.mark.parametrize("error", [SyntaxError, ValueError, RecursionError, MemoryError])
def test_other_errors_are_those_of_the_parser(error: type[Exception], monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    def failing(text: str) -> ast.AST:
        calls.append(text)
        raise error

    monkeypatch.setattr(ast, "parse", failing)
    with pytest.raises(error):
        parse_text("a")
    assert len(calls) == 1


def test_an_error_that_stays_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    def failing(text: str) -> ast.AST:
        calls.append(text)
        raise SystemError("broken")

    monkeypatch.setattr(ast, "parse", failing)
    with pytest.raises(SystemError, match="broken"):
        parse_text("a")
    assert len(calls) == TRIES
