"""Numbers that the towers leave behind: the batch size that a constructor has kept, and what was computed from it.

With `net = Net(samples=FLAGS.batch_size)` in the towers, where the constructor builds the model, `net.samples` counts
one tower's rows; what loads data by it behind the loop needs those of all towers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from converter.analysis.arrays.rows import terms_of
from converter.analysis.counts.degrees import degree_in
from converter.analysis.counts.reading import SIZE
from converter.analysis.counts.terms import atom
from converter.analysis.frames import Access, Place
from converter.analysis.values import Number, Origin
from converter.plan.border import NUM_GPUS
from converter.planner.plan_faults import PlanFault
from converter.planner.towers.border.site import LoopSite
from converter.planner.towers.border.traffic import Traffic
from converter.planner.wording import refuse
from converter.planner.writing.spelling import spelling


def numbers_left(site: LoopSite, before: Traffic, scaled: frozenset[Origin], kept: Callable[[Access], bool]) -> Traffic:
    """Gives places that hold a tower's batch size behind the loop that of all towers; raises Faults.

    scaled: the numbers that mean the batch size. kept: whether one that is read stays what it is, of one tower.
    """
    region = site.region
    written = {access.place for access in region.writes if _sizes(access, scaled)}
    read: dict[Place, Access] = {}
    for access in region.reads_after if written else ():
        if access.place in written:
            read.setdefault(access.place, access)
    restore = dict(before.border.restore)
    for place, access in read.items():
        text = spelling(region.block.frame, place)
        whole = _whole(site, before, access, text, scaled, kept) if text else None
        if not text or not whole:
            raise refuse(site.facts, access.node, PlanFault.NUMBER_LEFT_BY_TOWERS)
        restore[text] = whole
    return replace(before, border=replace(before.border, restore=tuple(restore.items())))


def _sizes(access: Access, scaled: frozenset[Origin]) -> frozenset[Origin]:
    """The batch sizes from which a number is computed."""
    return access.value.origins & scaled if isinstance(access.value, Number) else frozenset()


def _whole(
    site: LoopSite,
    traffic: Traffic,
    left: Access,
    text: str,
    scaled: frozenset[Origin],
    kept: Callable[[Access], bool],
) -> str | None:
    """The whole-batch expression for a number that the towers computed; None if it is not known."""
    if degree_in(terms := terms_of(site.facts, left.value, scaled, left.site)) != 1:
        return None
    names = {_counted_by(site, traffic, size, kept) for size in _sizes(left, scaled)}
    if names == {NUM_GPUS}:
        return f"{text} * {NUM_GPUS}"
    return names.pop() if len(names) == 1 and terms == atom(SIZE) else None


def _counted_by(site: LoopSite, traffic: Traffic, size: Origin, kept: Callable[[Access], bool]) -> str | None:
    """The name that keeps a batch size for behind the loop, `NUM_GPUS` where towers read their own; else None."""
    reads = [access for access in site.region.tower_reads() if _sizes(access, frozenset((size,)))]
    if any(kept(access) for access in reads):
        return NUM_GPUS
    saved = traffic.border.rebound
    texts = (spelling(site.region.block.frame, access.place) for access in reads)
    return next((saved[text] for text in texts if text in saved), None)
