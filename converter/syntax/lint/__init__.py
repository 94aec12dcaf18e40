"""Findings in scripts that somebody wrote for several GPUs by hand: mistakes that run without an error.

Each finding is a file of `rules.lint` with its page. Nothing is converted, and nothing is run. The checks look at tower
loops, and are silent where they cannot see that something is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from converter.diagnostics import Diagnostic
from converter.rule import rule_modules
from converter.source import Source, parse, with_lines
from converter.source.viewed import viewed
from converter.syntax.lint.towers import TowerLoops
from converter.syntax.script import Script

Find = Callable[[TowerLoops], Iterator[Diagnostic]]


def lint(source: Source) -> tuple[Diagnostic, ...]:
    """The mistakes in a script's towers, in the order of its lines.

    Raises:
        Refusal: the text is not Python.
    """
    read = viewed(source)
    towers = TowerLoops(Script(read.path, read.text, parse(read)))
    found = [finding for find in _finds() for finding in find(towers)] if towers.loops else []
    unique = dict.fromkeys(sorted(found, key=lambda one: (one.line, one.column, one.code)))
    return with_lines(tuple(unique), source, {})


def _finds() -> Iterator[Find]:
    """The function `find` of each file in `rules.lint`."""
    return (module.find for module in rule_modules("lint"))
