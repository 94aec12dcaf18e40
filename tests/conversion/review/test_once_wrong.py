"""Wrong conversions that were mended once are put back into the converted texts: the second reading refuses them."""

from __future__ import annotations

from dataclasses import replace
from unittest.mock import patch

import pytest

from converter.analysis.facts import Facts
from converter.conversion.review import Review, read_again
from converter.conversion.review.converted_walk import AddedNames, ConvertedFile
from tests.conversion.review.once_wrong import FAULTS
from tests.conversion.review.once_wrong_scripts import SCRIPTS
from tests.scripts import run

# What is not seen yet, and three faults without an effect: nothing reads what they leave.
LEFT = {
    "summary of one tower", "feed not scaled", "mean of an epoch not scaled", "updates of all towers",
    "saver of the last tower", "examples not counted", "initializer in front of the variables",
    "averaged loss of one tower", "loss not merged", "schedule's steps not scaled",
}  # fmt: skip


@pytest.mark.parametrize("name", [name for name in FAULTS if name not in LEFT])
def test_what_was_wrong_once_is_refused(name: str) -> None:
    case, change = FAULTS[name]

    def wrong(facts: Facts, texts: list[ConvertedFile], written: AddedNames) -> Review:
        return read_again(facts, [replace(text, after=change(text.after)) for text in texts], written)

    with patch("converter.conversion.review.read_again", wrong):
        conversion = run(SCRIPTS[case])
    assert (conversion.status, conversion.diagnostics[0].code) == ("refused", "TMG290")


@pytest.mark.parametrize("name", [name for name in SCRIPTS if name != "assign op by hand"])
def test_the_right_conversions_are_read_in_silence(name: str) -> None:
    conversion = run(SCRIPTS[name])
    assert (conversion.status, conversion.unread) == ("converted", ())
