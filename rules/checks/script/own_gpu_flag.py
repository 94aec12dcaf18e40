"""Scripts with a flag of their own for the number of GPUs: the towers are counted by another one."""

from __future__ import annotations

from collections.abc import Iterator

from converter.diagnostics import Diagnostic
from converter.planner.cases import Selected
from converter.planner.checking import check
from converter.planner.host.gpu_count import OWN_FLAGS
from converter.planner.wording import finding

CODES = ("TMG334",)


@check(Selected)
def own_flags(case: Selected) -> Iterator[Diagnostic]:
    """Flags for the number of GPUs; a text such as '0' or '0,1' names them, for CUDA_VISIBLE_DEVICES."""
    for flag in case.facts.flags:
        if flag.name in OWN_FLAGS and not isinstance(flag.fallback, str):
            yield finding(case.facts, flag.call, "TMG334", name=flag.name)
