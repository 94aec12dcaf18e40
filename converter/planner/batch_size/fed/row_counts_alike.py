"""Whether the inputs that a run feeds have as many rows as each other: a labelled batch and a larger one without."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from itertools import combinations

from converter.analysis.arrays.rows import rows_of
from converter.analysis.facts import Facts, RunCall
from converter.analysis.tensors.sparse import is_sparse
from converter.analysis.values import Input, Origin, Tensor, Value
from converter.planner.batch_size.fed.rows import base_of, named_behind


def inputs_with_other_row_counts(facts: Facts, values: Iterable[Value]) -> frozenset[tuple[int, int]]:
    """Uids of inputs to which a run feeds different numbers of rows, both ways round; what is not known is alike.

    values: those of the model. Inputs whose examples meet there have the same number of rows.
    """
    together: list[set[int]] = []  # one set for each number of rows
    for tensor in values:
        if isinstance(tensor, Tensor) and tensor.batch.kind == "example" and len(tensor.roots) > 1:
            together = _joined(together, {root.uid for root in tensor.roots})
    found = {pair for run in facts.runs for pair in _of_run(facts, run)}
    found = {pair for pair in found if not any(known.issuperset(pair) for known in together)}
    return frozenset(found | {(two, one) for one, two in found})


def unsure(facts: Facts) -> frozenset[tuple[int, int]]:
    """Uids of inputs that a run feeds together while nothing tells that they have as many rows, both ways round.

    No tensor has rows of both, no call takes rows of both, and no run is seen to feed both the same number of rows.
    """
    runs = [(run, [pair for pair in _fed_batches(run) if pair[0].batch.axis == 0]) for run in facts.runs]
    runs = [(run, fed) for run, fed in runs if len(fed) > 1]
    together: list[set[int]] = []
    for tensor in facts.tensors if runs else ():
        if len(tensor.roots) > 1 and len(meeting := _meeting(tensor)) > 1:
            together = _joined(together, meeting)
    doubtful: set[tuple[int, int]] = set()
    for run, fed in runs:
        if any(known.issuperset(key.uid for key, _ in fed) for known in together):
            continue
        counts = {key.uid: _counts(facts, run, value) for key, value in fed}
        for one, two in combinations(counts, 2):
            if counts[one] & counts[two]:
                together = _joined(together, {one, two})
            doubtful.add((one, two))
    doubtful = {pair for pair in doubtful if not any(known.issuperset(pair) for known in together)}
    return frozenset(doubtful | {(two, one) for one, two in doubtful})


def inputs_fed_without(facts: Facts, inputs: Iterable[Input]) -> frozenset[tuple[int, int]]:
    """Uids of inputs: a run feeds the first, and computes from it, without the second.

    A GAN's discriminator is shown real examples and no noise; their rows cannot be counted by those of the noise.
    inputs: those that may be the second.
    """
    others = {i.uid for i in inputs}
    found: set[tuple[int, int]] = set()
    for run in (run for run in facts.runs if run.handle is None):  # parts of a run have an order
        keys = {key.uid for key, _ in run.feeds if isinstance(key, Input)}
        fed = {key for key in keys if run.computes({key})}
        found |= {(one, two) for one in fed for two in others - keys if not run.computes({two})}
    return frozenset(found)


def _meeting(tensor: Tensor) -> set[int]:
    """Uids of the inputs whose rows a tensor has, or that are taken row by row for it: labels and logits for a loss."""
    has_rows = tensor.batch.kind == "example" or (tensor.batch.kind == "opaque" and bool(tensor.rank))
    taken = (v for v in tensor.inputs if isinstance(v, Tensor) and v.batch.kind == "example")
    return {root.uid for part in ((tensor,) if has_rows else taken) for root in part.roots}


def _joined(together: list[set[int]], meeting: set[int]) -> list[set[int]]:
    """The sets of inputs that have as many rows as each other, with inputs of which that was found."""
    met = [known for known in together if known & meeting]
    return [known for known in together if known not in met] + [meeting.union(*met)]


def _fed_batches(run: RunCall) -> list[tuple[Input, Value]]:
    """The batches that a run feeds, but for sparse ones, which are fed indices, values and a shape."""
    fed = [(key, value) for key, value in run.feeds if isinstance(key, Input) and key.batch.kind == "example"]
    return [pair for pair in fed if not is_sparse(pair[0])]


def _of_run(facts: Facts, run: RunCall) -> Iterator[tuple[int, int]]:
    sizes = {key.uid: _sizes(facts, run, value) for key, value in _fed_batches(run) if key.batch.axis == 0}
    for one, two in combinations(sizes, 2):
        if sizes[one] and sizes[two] and sizes[one].isdisjoint(sizes[two]):
            yield one, two


def _sizes(facts: Facts, run: RunCall, value: Value) -> frozenset[object]:
    """Numbers, and what the user chooses: each a batch size that the rows may be; empty where none is known."""
    rows = rows_of(facts, value, run.site)
    if rows is not None and rows.value is not None:
        return frozenset({rows.value})
    sizes = named_behind(facts, value) if rows is None else base_of(facts, rows)
    told = all(isinstance(o.node, ast.Constant) or o.key[0] == "flag" for o in sizes)
    return frozenset(map(_size, sizes)) if told else frozenset()


def _counts(facts: Facts, run: RunCall, value: Value) -> set[object]:
    """What may count the rows that are fed: numbers of the script, and the value itself."""
    rows = rows_of(facts, value, run.site)
    if rows is not None:
        return {rows.uid, *([rows.value] if rows.value is not None else map(_size, rows.linear))}
    return {value.uid, *map(_size, named_behind(facts, value))}


def _size(origin: Origin) -> object:
    """A number that stands in the script, as it is; else the flag that it comes from."""
    return origin.node.value if isinstance(origin.node, ast.Constant) else origin.key
