"""Programs in the style of real training scripts are scaled, kept at total or told, and never wrong without a word."""

from __future__ import annotations

import pytest

from tests.host_oracle.judge import Outcome, judge
from tests.host_oracle.programs import programs

SCALED, KEPT, OTHERS = (programs(kind) for kind in ("scaled", "kept", "others"))


@pytest.mark.one_in(4)
@pytest.mark.parametrize("name", SCALED)
def test_a_program_is_scaled(name: str) -> None:
    verdict = judge(SCALED[name])
    assert verdict.outcome is Outcome.SCALED, verdict.why


@pytest.mark.one_in(4)
@pytest.mark.parametrize("name", KEPT)
def test_a_program_that_is_not_followed_is_kept_at_total(name: str) -> None:
    verdict = judge(KEPT[name])
    assert verdict.outcome is Outcome.KEPT, verdict.why


@pytest.mark.one_in(4)
@pytest.mark.parametrize("name", OTHERS)
def test_another_program_stays_or_is_told(name: str) -> None:
    verdict = judge(OTHERS[name])
    assert verdict.outcome in (Outcome.KEPT, Outcome.TOLD, Outcome.REFUSED), verdict.why
