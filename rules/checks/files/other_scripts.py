"""Another script imports a file that changes."""

from __future__ import annotations

from collections.abc import Iterator

from converter.diagnostics import Diagnostic
from converter.planner.cases import Shared
from converter.planner.checking import check
from converter.planner.writing.findings import at_user

CODES = ("TMG307",)


@check(Shared)
def stays_on_one_gpu(case: Shared) -> Iterator[Diagnostic]:
    """Other scripts that train with the changed files."""
    count = case.plans[0].num_gpus
    settable = "." in count and "(" not in count
    hint = f"to train with it on several GPUs, set {count} there before the model is built"
    for user in (user for user in case.users if user.trains):
        yield at_user(
            case.facts,
            user,
            "TMG307",
            "it imports files that change, and goes on building the model for one GPU",
            hint if settable else "convert it, too, if it trains",
            "warning",
        )
