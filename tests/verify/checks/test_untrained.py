"""What two runs in which nothing trains print and fetch."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from converter.verify import CheckResult
from converter.verify.checks.untrained import ENDS, FETCHED, PRINTED, Said, check_untrained

OWN = Said("restored\nbatch 1: 0.5\nbatch 2: 0.7\naccuracy 0.6 of 24\n", ((), (0.5,), (0.7,)))


def never() -> Iterator[Said]:
    raise AssertionError("the original is run again though nothing differs")
    yield


def checks(
    theirs: Said, own: Said = OWN, again: tuple[Said, ...] = (OWN, OWN), towers: int = 2
) -> dict[str, CheckResult]:
    return {check.name: check for check in check_untrained(own, theirs, lambda: again, towers)}


def test_the_same_is_proven_by_one_run_of_each() -> None:
    found = {check.name: check for check in check_untrained(OWN, OWN, never, 2)}
    assert {name: check.status for name, check in found.items()} == {PRINTED: "passed", FETCHED: "passed"}
    assert found[PRINTED].detail == "4 as the original's"
    assert found[FETCHED].detail == "2 numbers as the original's"
    rounded = replace(OWN, text=OWN.text.replace("0.6", "0.600001"), runs=((), (0.500001,), (0.7,)))
    assert {check.status for check in check_untrained(OWN, rounded, never, 2)} == {"passed"}


def test_batches_of_all_gpus_are_printed_fewer_times() -> None:
    theirs = Said("restored\nbatch 1: 0.6\naccuracy 0.6 of 24\n", ((), (0.6,)))
    found = {check.name: check for check in check_untrained(OWN, theirs, never, 2)}
    assert found[PRINTED].status == "passed"
    assert found[PRINTED].detail == (
        "2 as the original's; not compared: prints 'batch 1: 0.5' and its like 1 times instead of 2"
    )
    assert found[FETCHED].status == "skipped"
    assert checks(theirs, towers=1)[PRINTED].status == "failed"
    assert checks(theirs, towers=3)[PRINTED].status == "passed"


@pytest.mark.parametrize(
    "text",
    [
        OWN.text.replace("0.6 of", "0.4 of"),
        OWN.text.replace("0.6 of", "nan of"),
        OWN.text.replace("of 24", "of 16"),
        OWN.text.replace("restored", "not found"),
        OWN.text.replace("accuracy 0.6 of 24\n", ""),
        OWN.text.replace("batch 1: 0.5\nbatch 2: 0.7\n", ""),
        OWN.text + "one more\n",
        "",
    ],
)
def test_another_print_is_wrong(text: str) -> None:
    assert checks(replace(OWN, text=text))[PRINTED].status == "failed"


@pytest.mark.parametrize("count", ["12", "48"])
def test_a_number_of_batches_is_no_fault(count: str) -> None:
    found = checks(replace(OWN, text=OWN.text.replace("24", count)))[PRINTED]
    assert found.status == "passed"
    assert found.detail == (
        f"3 as the original's; not compared: prints 'accuracy 0.6 of {count}' instead of 'accuracy 0.6 of 24'"
    )


def test_another_value_is_wrong() -> None:
    found = checks(replace(OWN, runs=((), (0.5,), (0.8,))))[FETCHED]
    assert (found.status, found.detail) == ("failed", "run 2 that fetches numbers gives 0.8 instead of 0.7")
    assert checks(replace(OWN, runs=((), (0.5,), (float("nan"),))))[FETCHED].status == "failed"


def test_what_the_original_does_otherwise_each_time_says_nothing() -> None:
    """A time that is printed says nothing; values that are drawn say that nothing can be compared."""
    own = replace(OWN, text=f"{OWN.text}took 1.5 s\n")
    later = replace(OWN, text=f"{OWN.text}took 1.7 s\n")
    found = checks(replace(OWN, text=f"{OWN.text}took 2.5 s\n"), own, (own, later))
    assert found[PRINTED].status == "passed"
    assert found[PRINTED].detail == "4 as the original's; not compared: lines that differ in each run of the original"
    wrong = replace(OWN, text=f"{OWN.text.replace('0.6', '0.4')}took 2.5 s\n")
    assert checks(wrong, own, (own, later))[PRINTED].status == "failed"
    drawn = checks(wrong, own, (own, replace(later, runs=((), (0.1,), (0.2,)))))
    assert drawn[PRINTED].status == "skipped"


def test_lines_without_a_number_prove_nothing() -> None:
    words = Said("restored\n")
    assert checks(words, words)[PRINTED].status == "skipped"
    assert checks(Said(), Said()) == {}


def test_the_conversion_has_to_come_to_the_same_end() -> None:
    assert checks(Said(problem="ValueError: rows"))[ENDS].status == "failed"
    assert checks(replace(OWN, steps=2))[ENDS].status == "failed"
    assert checks(OWN, Said(problem="no file"))[ENDS].status == "skipped"
