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
from converter.planner.found import Found
from converter.planner.towers.border.site import LoopSite
from converter.planner.towers.border.traffic import Traffic
from converter.planner.wording import refuse
from converter.planner.writing.spelling import spelling

NUM_GPUS = "{num_gpus}"  # stands for the number of towers, until the loop is written


def numbers_left(
    site: LoopSite, before: Traffic, scaled: frozenset[Origin], kept: Callable[[Access], bool]
) -> Traffic:
    """Gives places that hold a tower's batch size behind the loop that of all towers; raises Faults.

    scaled: the numbers that mean the batch size. kept: whether one that is read stays what it is, of one tower.
    """
    region = site.region
    written = {a.place for i, a in region.block.accesses() if a.write and i in region.tower and _sizes(a, scaled)}
    read: dict[Place, Access] = {}
    for access in site.facts.accesses if written else ():
        if access.place in written and not access.write and region.comes_after(access):
            read.setdefault(access.place, access)
    restore = dict(before.restore)
    for place, access in read.items():
        text = spelling(region.block.frame, place)
        wholes = {_whole(site, before, one, text or "", kept) for one in _sizes(access, scaled)}
        terms = terms_of(site.facts, access.value, scaled, access.site)
        whole = wholes.pop() if len(wholes) == 1 and degree_in(terms) == 1 else None
        if not text or not whole or (not whole.endswith(NUM_GPUS) and terms != atom(SIZE)):
            raise refuse(site.facts, access.node, Found.NUMBER_LEFT_BY_TOWERS)
        restore[text] = whole
    return replace(before, restore=tuple(restore.items()))


def _sizes(access: Access, scaled: frozenset[Origin]) -> frozenset[Origin]:
    """The batch sizes from which a number is computed."""
    return access.value.origins & scaled if isinstance(access.value, Number) else frozenset()


def _whole(site: LoopSite, traffic: Traffic, size: Origin, text: str, kept: Callable[[Access], bool]) -> str | None:
    """What stands behind the loop for `text`, a multiple of a tower's batch size; None where that is not known."""
    saved = {rebind.place: rebind.saved for rebind in traffic.rebinds}
    reads = [access for access in site.region.tower_reads() if size in _sizes(access, frozenset((size,)))]
    if any(kept(access) for access in reads):
        return f"{text} * {NUM_GPUS}"
    texts = (spelling(site.region.block.frame, access.place) for access in reads)
    return next((saved[text] for text in texts if text in saved), None)
