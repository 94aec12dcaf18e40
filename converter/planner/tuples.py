"""Tuples that the towers read inputs or batch sizes from: nothing can be assigned to their items, so each is made anew."""

from __future__ import annotations

from collections.abc import Mapping

from converter.analysis.facts import Facts
from converter.analysis.frames import Access
from converter.analysis.values import Sequence, Value
from converter.plan import Regroup
from converter.planner.findings import refuse
from converter.planner.names import Names
from converter.planner.places import declare, leaf, spelling
from converter.planner.region import Region
from converter.planner.structures import parts_of, rebuilt
from converter.planner.traffic import Traffic


def is_fixed(holder: Value | None) -> bool:
    """Whether a container is a tuple or a named tuple."""
    return isinstance(holder, Sequence) and not holder.mutable


def key_of(holder: Sequence, access: Access) -> str:
    """How an item of a tuple is written behind the tuple's expression."""
    return next((key for key, element in parts_of(holder) if element is access.value), "")


def expressions(facts: Facts, region: Region, traffic: Traffic, reads: list[Access], holder: Sequence) -> list[str]:
    """Every expression by which the towers' own statements read a tuple that is made before them."""
    found: list[str] = []
    for access in reads:
        text = spelling(region.block.frame, access.place) if access.value is holder else None
        if text is not None and text not in found:
            declare(facts, region, traffic, access, text)
            found.append(text)
    return found


def saved_tuple(names: Names, traffic: Traffic, text: str) -> str:
    """The new name under which a tuple of whole batches stays at hand."""
    known = next((r for r in traffic.regroups if r.place == text), None)
    if known is None:
        known = Regroup(text, names.fresh(f"{leaf(text)}_batch", f"whole_{leaf(text)}"), text)
        traffic.regroups.append(known)
        traffic.restore.append((text, known.saved))
    return known.saved


def regroup(traffic: Traffic, place: str, value: Sequence, new: Mapping[str, str]) -> None:
    """Makes a tuple of the towers, with new names in place of some of its items, by their expressions."""
    traffic.made.setdefault(place, {}).update(new)
    for index, known in enumerate(traffic.regroups):
        if known.place == place:
            text = rebuilt(place, value, traffic.made[place])
            text = text if text.startswith("(") else known.saved + text[len(place) :]
            traffic.regroups[index] = Regroup(place, known.saved, text)
