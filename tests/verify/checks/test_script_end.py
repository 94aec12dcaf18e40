"""A script that ends with an error: verdicts, without running anything."""

from __future__ import annotations

import pytest

from converter.verify.checks.beyond_steps import check_end


def ends(error: str | None, own_error: str | None, own: int = 3, further: int = 0) -> list[tuple[str, str]]:
    recorded = {"steps": 3, "skipped": 0, "error": error}
    replayed = {"steps": [{}] * own, "error": own_error, "further": further}
    return [(check.status, check.detail) for check in check_end(recorded, replayed)]


def test_a_script_that_does_not_fail_has_no_check() -> None:
    assert ends(None, None) == []


@pytest.mark.parametrize("further", [0, 1])
def test_a_conversion_that_fails_alone(further: int) -> None:
    ((status, detail),) = ends("ValueError: x", None, further=further)
    assert status == "failed" and detail.startswith("the conversion fails after step 3: ValueError: x"), detail


@pytest.mark.parametrize(("error", "own"), [("ValueError: x", 3), (None, 2)])
def test_an_original_that_fails_is_said(error: str | None, own: int) -> None:
    ((status, detail),) = ends(error, "OSError: y", own)
    assert status == "skipped" and "OSError: y" in detail
