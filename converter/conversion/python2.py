"""Gives a changed view out as Python 2."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from converter.parsing import parse_text
from converter.source.header import sealed
from converter.source.python2 import readable, restored

if TYPE_CHECKING:
    from converter.plan.decisions import Decision
    from converter.source import Source


def text_of(source: Source, text: str) -> str:
    """The converted text of a source; where that is the view of Python 2, the Python 2 text that says the same.

    Raises:
        AssertionError: the Python 2 text has another syntax tree than the view.
    """
    if not source.python2:
        return text
    given = sealed(restored(text))
    if ast.dump(parse_text(readable(given))) != ast.dump(parse_text(text)):
        raise AssertionError("the Python 2 text says something else than its view")
    return given


def source_of(source: Source) -> Source:
    """A source with its file's own text."""
    return replace(source, text=restored(source.text), python2=False) if source.python2 else source


def quoted(decision: Decision) -> Decision:
    """A decision whose quotes of the script are lines of Python 2, not those of the view."""
    return replace(decision, text=restored(decision.text), brief=restored(decision.brief))


def of_python_2(files: Iterable[Source]) -> Iterator[Decision]:
    """The decision that names Python 2, and the interpreter that `verify` needs then."""
    from converter.plan.decisions import Decision

    if any(file.python2 for file in files):
        yield Decision("language", "Python 2; `verify` needs an interpreter for it: --python python2.7")
