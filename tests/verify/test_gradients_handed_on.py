"""Gradients of several optimizers in one step are averaged each by its own form, see strategy/gradients.py."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

CHILD = Path(__file__).resolve().parents[2] / "converter" / "verify" / "child"
sys.path.insert(0, str(CHILD))
try:
    from tmgprobe.strategy.gradients import GradientCalls
finally:
    sys.path.remove(str(CHILD))


class Part(np.ndarray):
    """An array that takes a static shape, as a tensor does."""

    def set_shape(self, shape: object) -> None:
        """Nothing is checked."""


def part(*numbers: float) -> Any:
    return np.array(numbers).view(Part)


def py_func(function: Callable[..., Sequence[Any]], inputs: Sequence[Any], _: object) -> list[Any]:
    return [np.asarray(one).view(Part) for one in function(*inputs)]


TF = SimpleNamespace(compat=SimpleNamespace(v1=SimpleNamespace(py_func=py_func)), IndexedSlices=SimpleNamespace)


def sparse(values: Any, indices: Any) -> Any:
    return SimpleNamespace(values=values, indices=indices, dense_shape=None)


def test_one_set_is_sparse_and_the_next_is_not(monkeypatch: Any) -> None:
    monkeypatch.setattr(TF, "IndexedSlices", lambda values, indices, _: sparse(values, indices))
    calls, passed = GradientCalls(), []
    for number in (1.0, 3.0):
        calls.begin()
        calls._gate(TF, [sparse(part(number), part(0)), part(number)])
        calls._gate(TF, [part(10 * number), part(20 * number)])
        passed.append(calls.taken)
    calls.begin(passed, [0.5, 0.5])
    table, dense = calls._gate(TF, [sparse(part(0.0), part(0)), part(0.0)])
    others = calls._gate(TF, [part(0.0), part(0.0)])
    assert np.sum(table.values) == 2.0 and np.asarray(dense).tolist() == [2.0]
    assert [np.asarray(one).tolist() for one in others] == [[20.0], [40.0]]
