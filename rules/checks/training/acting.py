"""Reinforcement learning: the data of a step come from what the model did before."""

from __future__ import annotations

from converter.planner.found import Found
from converter.planner.wording import Words
from rules.checks.batches.size_not_found import GOES_ON

WORDS = {
    Found.ACTING: Words(
        "TMG311",
        "this training step is fed with the results of the model's own actions" + GOES_ON,
        "collect from several environments at once to give every GPU as much to do",
    ),
    Found.ACTING_SCALED: Words(
        "TMG311",
        "this training step is fed with the results of the model's own actions: it takes N times as many examples as "
        "before for each action",
        "collect from several environments at once to give every GPU as much to do",
    ),
}
