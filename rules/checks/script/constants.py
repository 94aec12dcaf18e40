"""A conversion that holds only for the value which a constant of the script has now."""

from __future__ import annotations

from converter.planner.plan_faults import PlanFault
from converter.planner.wording import Words

_HINT = "with another value, convert the original again"

WORDS = {
    PlanFault.ONE_VALUE_REFUSED: Words(
        "TMG343",
        "the conversion holds for `{written}` alone: with both branches of the condition in line {at} it would be "
        "refused ({code}, line {line})",
        _HINT,
    ),
    PlanFault.ONE_VALUE_SHARED: Words(
        "TMG343",
        "the conversion holds for `{written}` alone: with both branches of the condition in line {at} the batch could "
        "not grow with the number of GPUs",
        _HINT,
    ),
}
