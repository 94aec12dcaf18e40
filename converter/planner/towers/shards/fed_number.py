"""Fed batch sizes: each tower counts the rows of its shard instead."""

from __future__ import annotations

from converter.analysis.facts import Facts
from converter.analysis.frames import Access
from converter.analysis.tensors.sparse import is_sparse
from converter.analysis.values import Input
from converter.planner.batch_size.fed.number import is_fed_number
from converter.planner.plan_faults import PlanFault
from converter.planner.towers.border.traffic import Traffic
from converter.planner.wording import refuse


def counted_rows(facts: Facts, traffic: Traffic, access: Access) -> tuple[str, int, str] | None:
    """The value that replaces a fed batch size in a tower: a shard, its batch axis, and the number's type.

    None for a batch size that is known before the graph runs.
    """
    if not is_fed_number(access.value):
        return None
    placeholder = access.value.inputs[0] if access.value in facts.fed_sizes else None
    if not isinstance(placeholder, Input):
        raise refuse(facts, access.node, PlanFault.NUMBER_OF_FED_SIZE)
    cut = [cut for cut in traffic.border.cuts if cut.rows.known != "building"]
    sparse = any(is_sparse(value) for group in traffic.groups for value in group)
    if len(cut) != 1 or len(traffic.border.shards) != 1 or sparse:
        raise refuse(facts, access.node, PlanFault.FED_SIZE_OF_WHICH_INPUT)
    first = cut[0].all[0]
    return first.place, first.axis, placeholder.dtype
