"""Another file of the project would have to change."""

from __future__ import annotations

import os
from collections.abc import Iterator

from converter.diagnostics import Diagnostic
from converter.planner.cases import Shared
from converter.planner.checking import check

CODES = ("TMG221",)


@check(Shared)
def other_files_must_change(case: Shared) -> Iterator[Diagnostic]:
    """Other files of the project that must change, where only the script's conversion is written."""
    if len(case.plans) < 2 or case.sources.several:
        return
    facts = case.facts
    first = next(at for plan in case.plans for at in plan.places() if at.path)
    here = os.path.dirname(os.path.abspath(facts.path))
    names = sorted({os.path.relpath(plan.path, here) for plan in case.plans[1:]})
    yield Diagnostic(
        "TMG221",
        facts.shown(facts.modules[first.path].tree.body[0]),
        first.line,
        first.column + 1,
        message=f"{' and '.join(names)} must change with the script",
        hint="write all of them: --output-dir DIR, or --in-place",
    )
