"""Reasons are messages: each says something else, and names at most one thing."""

from __future__ import annotations

import pytest

from converter.analysis.effects import EffectKind
from converter.analysis.reasons import Why


@pytest.mark.parametrize("why", Why)
def test_a_reason_is_a_message(why: Why) -> None:
    assert why.value.count("{}") <= 1
    assert why.value.format("x").strip(".") == why.value.format("x")


@pytest.mark.parametrize("kinds", [Why, EffectKind])
def test_no_two_say_the_same(kinds: type[Why] | type[EffectKind]) -> None:
    assert len({kind.value for kind in kinds}) == len(kinds.__members__)
