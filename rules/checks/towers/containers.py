"""Values of the towers are kept in a container that is not merged."""

from __future__ import annotations

from collections.abc import Iterator

from converter.analysis.frames import Access
from converter.analysis.values import Bound
from converter.diagnostics import Diagnostic
from converter.planner.cases import Placed
from converter.planner.checking import check
from converter.planner.plan_faults import PlanFault
from converter.planner.region.region import Region
from converter.planner.wording import Words
from converter.planner.writing.findings import error

CODES = ("TMG208",)

WORDS = {
    PlanFault.DIFFERENT_ROWS: Words(
        "TMG208",
        "{name} holds tensors with different numbers of rows",
        "give each tensor that is read after the loss a name of its own",
    ),
    PlanFault.FORM_NOT_MERGED: Words(
        "TMG208",
        "{name} holds values of the towers in a form that is not merged",
        "give each tensor that is read after the loss a name of its own",
    ),
    PlanFault.KEYED_BY_GRAPH_NAMES: Words(
        "TMG208",
        "{name} has the graph's names of tensors for keys, and these begin with the tower's scope in each tower",
        "use keys that do not come from the graph, such as the names of the layers",
    ),
}


@check(Placed)
def names_of_shares(case: Placed) -> Iterator[Diagnostic]:
    """Names of inputs that the model keeps for later, such as the keys of feeds: in a tower they name its rows."""
    for region in case.regions:
        for access in case.facts.accesses:
            if access.write and _names_an_input(access, region) and region.in_tower(access.site):
                reads = case.facts.accesses_of(access.value)
                if any(not read.write and region.comes_after(read) for read in reads):
                    yield error(
                        case.facts,
                        access.node,
                        "TMG208",
                        "the name of an input is kept here where the towers are built, and each tower would keep that "
                        "of its own rows",
                        "read the name where it is needed, or before the model",
                    )


def _names_an_input(access: Access, region: Region) -> bool:
    value = access.value
    return isinstance(value, Bound) and value.name == "name" and value.receiver in region.inputs
