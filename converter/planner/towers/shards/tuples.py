"""Tuples that the towers read inputs or batch sizes from.

Nothing can be assigned to their items, so each tower makes its own, under every name that it reads them by.
"""

from __future__ import annotations

from converter.analysis.facts import Facts
from converter.analysis.frames import Access
from converter.analysis.values import Sequence
from converter.plan import Regroup
from converter.planner.questions.structures import parts_of, rebuilt
from converter.planner.region.region import Region
from converter.planner.towers.border.global_names import declare
from converter.planner.towers.border.site import LoopSite
from converter.planner.towers.border.traffic import Traffic
from converter.planner.writing.spelling import leaf, spelling


def key_of(holder: Sequence, access: Access) -> str:
    """How an item of a tuple is written behind the tuple's expression; "" where it cannot be told."""
    return next((key for key, element in parts_of(holder) if element is access.value and not holder.many), "")


def saved_tuple(traffic: Traffic, place: str) -> str:
    """The new name under which a tuple of whole batches stays at hand."""
    known = next((r for r in traffic.regroups if r.place == place), None)
    if known is None:
        known = Regroup(place, traffic.fresh(f"{leaf(place)}_batch", f"whole_{leaf(place)}"), place)
        traffic.regroups.append(known)
        traffic.restore.append((place, known.saved))
    return known.saved


def make_anew(
    site: LoopSite,
    traffic: Traffic,
    reads: list[Access],
    held: tuple[str, Sequence],
    key: str,
    name: str,
) -> None:
    """Puts a name into a tuple's item of this key, under all expressions by which the towers read the tuple.

    held: the expression for the tuple where the loop stands, and its value.
    """
    facts, region = site.facts, site.region
    place, holder = held
    for text in dict.fromkeys((place, *_expressions(facts, region, traffic, reads, holder))):
        saved = saved_tuple(traffic, text)
        made = traffic.made.setdefault(text, {})
        made[text + key] = name
        whole = rebuilt(text, holder, made)
        whole = whole if whole.startswith("(") else saved + whole[len(text) :]
        index = next(i for i, r in enumerate(traffic.regroups) if r.place == text)
        traffic.regroups[index] = Regroup(text, saved, whole)


def _expressions(
    facts: Facts, region: Region, traffic: Traffic, reads: list[Access], holder: Sequence
) -> dict[str, Access]:
    """The expressions, in the loop's own frame, by which a tuple is read that is made in front of the towers."""
    found: dict[str, Access] = {}
    for access in reads:
        text = spelling(region.block.frame, access.place) if access.value is holder else None
        if text is not None and text not in found:
            declare(facts, region, traffic, access, text)
            found[text] = access
    return found
