"""Runs that feed a value which the towers compute: each tower is fed its rows."""

from __future__ import annotations

from collections.abc import Iterator

from converter.plan import Replace
from converter.plan.border import Fed, Merge
from converter.planner.plan_faults import PlanFault
from converter.planner.region.fed_results import fed_results
from converter.planner.towers.border.site import LoopSite
from converter.planner.towers.border.traffic import Traffic
from converter.planner.towers.merges.wanted import Wanted
from converter.planner.wording import refuse
from converter.planner.writing.helper_names import called


def feeding(site: LoopSite, traffic: Traffic, wanted: Wanted) -> Iterator[Replace]:
    """Edits of the feeds; refuses those of a value that the towers do not merge by itself."""
    text, merges = site.text, {merge.place: merge for merge in traffic.border.merges}
    for uid, runs in fed_results(site.facts, site.region).items():
        places = [place for place, (part, _) in wanted.items() if part.value.uid == uid and part.whole is None]
        if len(traffic.border.shards) != 1 or not any(_is_plain(merges.get(place)) for place in places):
            raise refuse(site.facts, runs[0].call, PlanFault.FED_PART_OF_RESULTS)
        for node in dict.fromkeys(run.feed_node for run in runs):
            if node is not None:
                fed = f"{called('feed_towers')}({text.of(node)})"
                yield Replace(text.start(node), text.end(node), fed, "TMG143")


def _is_plain(merge: Merge | None) -> bool:
    """Whether a merged value is a tensor of its own that the towers always make."""
    return merge is not None and isinstance(merge.how, Fed) and merge.structure is None and merge.guard is None
