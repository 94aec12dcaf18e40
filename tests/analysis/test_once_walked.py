"""What `Facts` look up once is looked up when the walk is over: before, it would leave out all that comes later."""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import cached_property
from typing import Any

import pytest

from converter.analysis import read_facts
from converter.analysis.facts import Facts
from converter.analysis.python import run
from converter.options import Options
from converter.rule import all_rules

JOINED = """
import tensorflow as tf

rows = []
x = tf.placeholder(tf.float32, [None, 4])
y = tf.concat([tf.layers.dense(x, 1) for _ in range(len(rows))], 1)
z = tf.concat(tf.split(x, len(rows), 1), 1)
"""


class _Early(AssertionError):
    """Something is looked up while the script is still walked."""


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch) -> None:
    going: list[bool] = []
    walk = run.run

    def walking(*given: Any) -> Facts:
        going.append(True)
        try:
            return walk(*given)
        finally:
            going.pop()

    def late(name: str, compute: Callable[[Facts], Any]) -> cached_property[Any]:
        def get(facts: Facts) -> Any:
            if going:
                raise _Early(name)
            return compute(facts)

        found = cached_property(get)
        found.__set_name__(Facts, name)
        return found

    monkeypatch.setattr(run, "run", walking)
    for name, value in list(vars(Facts).items()):
        if isinstance(value, cached_property):
            monkeypatch.setattr(Facts, name, late(name, value.func))


@pytest.mark.usefixtures("watched")
def test_nothing_is_looked_up_too_early() -> None:
    scripts = [JOINED]
    for rule in all_rules():
        try:
            ast.parse(rule.before)
        except SyntaxError:
            continue  # Python 2, a notebook or another kind of file
        scripts.append(rule.before)
    assert len(scripts) > 100
    for script in scripts:
        read_facts("script.py", ast.parse(script), Options())
