"""Places are the same by what they are of, whatever frame or object stands beside them."""

from __future__ import annotations

import pytest

from converter.analysis.frames import Place
from converter.analysis.values import Host
from tests.analysis.readings import facts_of


@pytest.mark.parametrize(
    ("other", "same"),
    [
        (Place("name", 1, "x"), True),
        (Place("name", 1, "x", holder=Host()), True),
        (Place("name", 2, "x"), False),
        (Place("attr", 1, "x"), False),
        (Place("name", 1, "y"), False),
    ],
)
def test_places(other: Place, same: bool) -> None:
    assert (Place("name", 1, "x") == other) is same
    assert (Place("name", 1, "x") != other) is not same
    assert (hash(Place("name", 1, "x")) == hash(other)) is same


def test_turns_of_a_comprehension_that_read_the_same_or_plain_values_are_noted_once() -> None:
    names = ", ".join(f"'layer{i}'" for i in range(30))
    facts = facts_of(f"prefix = 'conv'\nmatching = [name.startswith(prefix) for name in [{names}]]\n")
    for name in ("name", "prefix"):
        assert len([a for a in facts.accesses if a.place.key == name and not a.write]) == 1


def test_turns_of_a_comprehension_that_read_tensors_are_all_noted() -> None:
    facts = facts_of("given = [tf.ones([4, i]) for i in range(5)]\nsquares = [one * one for one in given]\n")
    read = [a.value.uid for a in facts.accesses if a.place.key == "one" and not a.write]
    assert len(read) == 10 and len(set(read)) == 5
