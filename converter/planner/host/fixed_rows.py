"""Runs that feed a fixed number of rows to an input that grows with the number of GPUs."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator, Sequence

from converter.analysis.arrays.rows import rows_of
from converter.analysis.effects import EffectKind
from converter.analysis.facts import Facts, RunCall
from converter.analysis.frames import Access
from converter.analysis.values import Host, Input, Number, Origin, Tensor, Value, grows_by_key, needed
from converter.analysis.values import Sequence as Several
from converter.planner.batch_size.defaults import by_default
from converter.planner.questions.drawn_batches import rows_of_drawn
from converter.planner.questions.fixed_size import fixed_size
from converter.planner.region.fed_results import is_fed_by_towers
from converter.planner.region.region import Region

BLOCKS = (ast.For, ast.AsyncFor, ast.While, ast.If)


def fixed_feeds(facts: Facts, regions: Sequence[Region], sizes: Collection[Origin]) -> Iterator[tuple[RunCall, str]]:
    """Runs that feed fewer rows than the inputs and the model have once the batch grows, with the names of the inputs.

    sizes: the numbers that grow.
    """
    keys = {o.key for o in sizes}
    read = [a for region in regions for a in region.tower_reads() if grows_by_key(a.value, keys)]
    for run in facts.runs:
        built = _is_built_for(run, regions)
        for key, value in run.feeds:
            computed = any(is_fed_by_towers(facts, region, run, key) for region in regions)
            if not isinstance(key, Tensor) or key.batch.kind != "example":
                continue
            if not computed and not isinstance(key, Input):
                continue
            fixed = fixed_size(key) if isinstance(key, Input) else _size_of_model(key, keys)
            if fixed is not None and grows_by_key(fixed, keys):
                stays = _stays(facts, run, value, fixed, keys, key.batch.axis)
            else:
                as_long = (a for a in read if _is_as_long(facts, run, value, a.value, keys))
                stays = built and not key.batch.axis and any(_is_for(facts, run, a) for a in as_long)
            if stays:
                yield run, key.label or "an input"


def _size_of_model(key: Tensor, keys: set[tuple[object, ...]]) -> Number | None:
    """The number of rows that inputs or random tensors give to a value of the model, where it grows."""
    behind = needed([key])
    sizes = [fixed_size(v) for v in behind.values() if isinstance(v, Input)]
    return next((n for n in (*sizes, *rows_of_drawn(behind)) if n is not None and grows_by_key(n, keys)), None)


def _is_built_for(run: RunCall, regions: Sequence[Region]) -> bool:
    """Whether a run computes something that the towers build."""
    return any(
        isinstance(v, Tensor) and v.site is not None and any(r.in_any_tower(v.site) for r in regions)
        for v in run.behind.values()
    )


def _is_for(facts: Facts, run: RunCall, access: Access) -> bool:
    """Whether a run may compute what is made where a batch size is read: labels of a loss are not for samples."""
    made = [tensor.uid for tensor in facts.tensors if tensor.site is access.site]
    return not made or any(uid in run.behind for uid in made)


def _stays(facts: Facts, run: RunCall, value: Value, fixed: Number, keys: set[tuple[object, ...]], axis: int) -> bool:
    """Whether what is fed, or one of what it may be, is not seen to have to do with the batch size."""
    if isinstance(value, Host) and value.either:
        return any(_stays(facts, run, one, fixed, keys, axis) for one in value.either)
    number = rows_of(facts, value, run.site) if axis == 0 else None
    if number is not None and all(o.key[0] == "literal" for o in number.origins):
        known = fixed.value is None or number.value is None or fixed.value == number.value
        return known and not grows_by_key(number, keys)
    if number is not None and grows_by_key(number, keys):
        return False
    return isinstance(value, (Host, Several)) and not _depends(facts, value, keys)


def _is_as_long(facts: Facts, run: RunCall, value: Value, size: Value, keys: set[tuple[object, ...]]) -> bool:
    """Whether rows are counted by another number that is as large as a batch size that the model reads."""
    number = rows_of(facts, value, run.site)
    if number is None or not isinstance(size, Number) or grows_by_key(number, keys):
        return False
    known = by_default(facts, number)
    return known is not None and known == by_default(facts, size)


def _depends(facts: Facts, value: Value, keys: set[tuple[object, ...]]) -> bool:
    """Whether a batch size is behind a value or in what fills its lists, or the value was fetched."""
    behind = needed([value])
    if any(_is_of(v, keys) or (isinstance(v, Host) and v.call == "run") for v in behind.values()):
        return True
    changes = (e for e in facts.effects_of(EffectKind.MUTATION) if e.value is not None and e.value.uid in behind)
    blocks = {step.stmt for e in changes for step in e.site.chain() if isinstance(step.stmt, BLOCKS)}
    within = _nodes(blocks)
    return any(_is_of(a.value, keys) for a in facts.accesses if not a.write and a.node in within)


def _nodes(blocks: Iterable[ast.stmt]) -> set[ast.AST]:
    return {node for block in blocks for node in ast.walk(block)}


def _is_of(value: Value, keys: set[tuple[object, ...]]) -> bool:
    origins: Iterable[Origin] = value.origins if isinstance(value, Number) else ()
    return any(o.key in keys for o in origins)
