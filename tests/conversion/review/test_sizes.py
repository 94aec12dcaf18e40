"""The numbers behind two values: those of a batch's size, however much the data is made of."""

from __future__ import annotations

import ast
from types import SimpleNamespace
from typing import Any

import pytest

from converter.analysis.values import Host, Number, Origin, Sequence, Value
from converter.conversion.review.counts import _grew_alone, _Grown
from converter.conversion.review.sizes import pairs_of


def _cut(data: Value, size: Number) -> Value:
    """`shuffled(data)[size:min(size, len(data))]`"""
    return Host([Host([data]), Host([size, Host([data])])])


def _nested(rows: int) -> Value:
    return Host([Sequence([Sequence([Number(i), Number(j)]) for i in range(rows)]) for j in range(rows)])


@pytest.mark.parametrize(
    "data",
    [
        lambda: Host(),
        lambda: _nested(20),
        lambda: Sequence([Number(row) for row in range(600)]),
        lambda: Host([Host([Number(row)]) for row in range(40)]),
    ],
)
def test_a_size_is_found_beside_data_of_any_number_of_values(data: object) -> None:
    assert callable(data)
    one, two = Number(32), Number(64)
    assert (one, two) in pairs_of(_cut(data(), one), _cut(data(), two))


def test_values_that_are_made_in_another_way_have_no_pairs_behind_them() -> None:
    one, two = Number(32), Number(64)
    assert pairs_of(Host([one]), Host([two, Host()])) == []
    assert pairs_of(Sequence([one]), Sequence([two, Number(3)])) == []


def test_the_elements_of_a_shape_are_pairs() -> None:
    one, two = Number(32), Number(64)
    assert (one, two) in pairs_of(Sequence([one, Number(4)]), Sequence([two, Number(4)]))


def _read(name: str, *behind: Value) -> Number:
    origin = frozenset((Origin(ast.Constant(0), ("flag", name)),))
    return Number(None, origin, origin, behind)


@pytest.mark.parametrize(
    ("number", "power", "alone"),
    [
        (_read("batch_size"), 1, False),
        (_read("rows", Host([_read("batch_size"), Host()])), 1, False),  # min(len(data), begin + batch_size) - begin
        (_read("rows", Host([_read("test_size"), Host()])), 1, True),
        (_read("test_size"), 1, True),
        (_read("test_size"), 0, False),
    ],
)
def test_a_number_that_is_computed_of_the_size_of_training_batches_does_not_grow_alone(
    number: Number, power: int, alone: bool
) -> None:
    comparison: Any = SimpleNamespace(power=lambda _: power)
    grown = _Grown(frozenset((("flag", "batch_size"),)), frozenset())
    assert _grew_alone(comparison, grown, number, number) is alone
