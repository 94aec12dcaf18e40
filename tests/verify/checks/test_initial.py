"""What variables start from: the verdict on figures of the runs, without any run."""

from __future__ import annotations

from typing import Any

import pytest

from converter.verify.checks.initial import check_initial

DRAWN = ["RandomUniform"]
ZEROS: list[Any] = [4, 1, 0.0, 0.0, 0.0, 0.0]
ONES: list[Any] = [4, 1, 1.0, 0.0, 1.0, 1.0]
SPREAD: list[Any] = [4000, 4000, 0.0, 0.1, -0.3, 0.3]


def row(held: Any, start: Any, random: Any = (), seeds: Any = (), reads: Any = ()) -> dict[str, Any]:
    return {"random": list(random), "seeds": list(seeds), "reads": list(reads), "held": held, "start": start}


@pytest.mark.parametrize(
    ("own", "other", "words"),
    [
        (row(ZEROS, ZEROS), row(ONES, ONES), "w:0 is initialised with another value: mean 1 instead of 0"),
        (row(ZEROS, ZEROS), row(SPREAD, SPREAD, DRAWN), "with RandomUniform drawn instead of nothing"),
        (row(SPREAD, SPREAD, DRAWN, [7]), row(SPREAD, SPREAD, DRAWN, [8]), "with the seeds [8] instead of [7]"),
        (row(ONES, SPREAD, DRAWN), row(ZEROS, SPREAD, DRAWN), "is drawn from another distribution"),
        (row(None, ZEROS, reads=["v"]), row(None, ZEROS, reads=["u"]), "is initialised from u instead of v"),
        (row(ZEROS, ZEROS), row(ZEROS, None), "w:0 has no value when training starts"),
        (row(ZEROS, ZEROS), row(ZEROS, ONES), "has another value when training starts: mean 1 instead of 0"),
        (
            row(None, SPREAD, DRAWN),
            row(None, [4000, 4000, 0.0, 3.0, -9.0, 9.0], DRAWN),
            "other values when training starts: deviation 3 instead of 0.1",
        ),
        (row(ZEROS, ZEROS), row(["nan"] * 6, ["nan"] * 6), "another value: size nan instead of 4"),
    ],
)
def test_other_values_fail(own: Any, other: Any, words: str) -> None:
    (check,) = check_initial({"w:0": own}, {"w:0": other})
    assert (check.status, words in check.detail) == ("failed", True), check.detail


@pytest.mark.parametrize(
    ("own", "other"),
    [
        (row(ZEROS, ZEROS), row(ZEROS, ZEROS)),
        (row(SPREAD, SPREAD, DRAWN), row(SPREAD, [4000, 4000, 0.004, 0.101, -0.31, 0.29], DRAWN)),
        (row(ONES, [9, 9, 5.0, 1.0, 1.0, 9.0], DRAWN), row(ONES, [9, 9, 2.0, 1.0, 1.0, 9.0], DRAWN)),  # too few to tell
        (row(None, SPREAD, reads=["v"]), row(None, ZEROS, reads=["v"])),
        (row(["nan"] * 6, ZEROS), row(["nan"] * 6, ZEROS)),
        (row([4, 1, 1e-7, 0.0, 1e-7, 1e-7], None), row([4, 1, 1e-7, 0.0, 1e-7, 1e-7], None)),
    ],
)
def test_the_same_passes(own: Any, other: Any) -> None:
    (check,) = check_initial({"w:0": own}, {"w:0": other})
    assert (check.status, check.detail) == ("passed", "1 variable starts from the same")


def test_what_the_script_sets_itself_and_otherwise_is_not_compared() -> None:
    passed, skipped = check_initial(
        {"v:0": row(ZEROS, ZEROS), "w:0": row(ZEROS, ONES)},
        {"v:0": row(ZEROS, ZEROS), "w:0": row(ZEROS, SPREAD)},
    )
    assert (passed.status, passed.detail) == ("passed", "1 variable starts from the same")
    assert skipped.status == "skipped"
    assert skipped.detail.startswith("w:0: set before the first step")


def test_no_variable_to_compare_is_no_pass() -> None:
    assert check_initial({"w:0": row(None, ZEROS)}, {"v:0": row(None, ZEROS)}) == []
