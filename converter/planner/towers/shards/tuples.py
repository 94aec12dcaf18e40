"""Tuples that the towers read inputs or batch sizes from.

Nothing can be assigned to their items, so each tower makes its own, under every name that it reads them by.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from converter.analysis.frames import Access
from converter.analysis.values import Sequence
from converter.plan.border import Border, Remake
from converter.planner.questions.structures import parts_of, rebuilt
from converter.planner.region.region import Region
from converter.planner.towers.border.global_names import declare
from converter.planner.towers.border.site import LoopSite
from converter.planner.towers.border.traffic import Traffic
from converter.planner.writing.spelling import spelling, whole_names


def key_of(holder: Sequence, access: Access) -> str:
    """The subscript or attribute for an item of a tuple, `[0]` or `.x`; "" if it is not known."""
    return next((key for key, element in parts_of(holder) if element is access.value and not holder.many), "")


def saved_tuple(traffic: Traffic, place: str) -> tuple[str, Traffic]:
    """The new name under which a tuple of whole batches stays at hand."""
    known = next((one for one in traffic.border.bound if isinstance(one, Remake) and one.place == place), None)
    if known is not None:
        return known.saved, traffic
    saved, traffic = traffic.fresh(*whole_names(place))
    return saved, traffic.plus(Border(bound=(Remake(place, saved, place),), restore=((place, saved),)))


def make_anew(
    site: LoopSite,
    traffic: Traffic,
    reads: Iterable[Access],
    held: tuple[str, Sequence],
    key: str,
    name: str,
) -> Traffic:
    """Puts a name into a tuple's item of this key, under all expressions by which the towers read the tuple.

    held: the expression for the tuple where the loop stands, and its value.
    """
    facts, region = site.facts, site.region
    place, holder = held
    found = _expressions(region, reads, holder)
    for text, access in found.items():
        traffic = declare(facts, region, traffic, access, text)
    for text in dict.fromkeys((place, *found)):
        saved, traffic = saved_tuple(traffic, text)
        made = {**traffic.made.get(text, {}), text + key: name}
        whole = rebuilt(text, holder, made)
        whole = whole if whole.startswith("(") else saved + whole[len(text) :]
        anew, border = Remake(text, saved, whole), traffic.border
        bound = tuple(anew if isinstance(one, Remake) and one.place == text else one for one in border.bound)
        traffic = replace(traffic, made={**traffic.made, text: made}, border=replace(border, bound=bound))
    return traffic


def _expressions(region: Region, reads: Iterable[Access], holder: Sequence) -> dict[str, Access]:
    """The expressions, in the loop's own frame, by which a tuple is read that is made in front of the towers."""
    found: dict[str, Access] = {}
    for access in reads:
        text = spelling(region.block.frame, access.place) if access.value is holder else None
        if text is not None and text not in found:
            found[text] = access
    return found
