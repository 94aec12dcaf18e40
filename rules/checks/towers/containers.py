"""Values of the towers are kept in a container that is not merged."""

from __future__ import annotations

from collections.abc import Iterator

from converter.analysis.frames import Access
from converter.analysis.values import Bound
from converter.diagnostics import Diagnostic
from converter.planner.cases import Placed
from converter.planner.checking import check
from converter.planner.region.region import Region
from converter.planner.wording import finding

CODES = ("TMG208",)


@check(Placed)
def names_of_shares(case: Placed) -> Iterator[Diagnostic]:
    """Names of inputs that the model keeps for later, such as the keys of feeds: in a tower they name its rows."""
    for region in case.regions:
        for access in case.facts.accesses:
            if access.write and _names_an_input(access, region) and region.in_tower(access.site):
                reads = case.facts.accesses_of(access.value)
                if any(not read.write and region.comes_after(read) for read in reads):
                    yield finding(case.facts, access.node, "TMG208 names_of_shares")


def _names_an_input(access: Access, region: Region) -> bool:
    value = access.value
    return isinstance(value, Bound) and value.name == "name" and value.receiver in region.inputs
