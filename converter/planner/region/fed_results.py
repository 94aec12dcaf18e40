"""Values that the towers compute and that a run feeds, as an autoencoder's sampled code when its decoder generates."""

from __future__ import annotations

from converter.analysis.facts import Facts, RunCall
from converter.analysis.tensors.sparse import is_sparse
from converter.analysis.values import OPEN_ENDED, Input, Tensor, Value
from converter.planner.region.region import Region


def is_fed_by_towers(facts: Facts, region: Region, run: RunCall, key: Value) -> bool:
    """Whether each tower can be fed its rows of a value: outside of training, where the loop's file runs it."""
    trained = {step.result.uid for step in facts.train_steps}
    apart = run.time > region.end and not run.computes(trained) and run.handle is None
    here = facts.path_of(run.call) == facts.path_of(region.block.body[0])
    return apart and here and run.feed_node is not None and region.in_tower(key.site) and _has_rows(key)


def _has_rows(value: Value) -> bool:
    """Whether a value has one row for each example, along its first axis; a placeholder of the model is no result."""
    if not isinstance(value, Tensor) or isinstance(value, Input) or is_sparse(value) or value.op == OPEN_ENDED:
        return False
    batch = value.batch
    return batch.kind == "example" and batch.axis == 0 and not batch.packed and batch.over is None


def fed_results(facts: Facts, region: Region) -> dict[int, list[RunCall]]:
    """The runs that feed a value of the towers in parts, by the value's uid."""
    found: dict[int, list[RunCall]] = {}
    for run in facts.runs:
        for key, _ in run.feeds:
            if is_fed_by_towers(facts, region, run, key):
                found.setdefault(key.uid, []).append(run)
    return found
