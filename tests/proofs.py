"""What a proof of a few steps leaves open, as its report says: what the whole run, its end, or chance decide."""

from __future__ import annotations

from converter.verify import Report

# Checks that say by themselves when they could not look: nothing was fed or drawn alike, the script was ended before.
BEYOND_THE_STEPS = frozenset(
    {"data", "data of evaluations", "an epoch's end", "beside the steps", "printed values", "initial values"}
)


def skipped(report: Report) -> set[str]:
    """The checks of the steps themselves that were not made."""
    return {check.name for check in report.checks if check.status == "skipped"} - BEYOND_THE_STEPS
