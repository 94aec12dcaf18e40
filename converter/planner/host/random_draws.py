"""Random numbers drawn on the host, whose count depends on the batch size or on the number of batches.

A larger batch draws other numbers then: fewer for a shuffled list of batches, more from a replay buffer.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from converter.analysis.arrays.rows import rows_of
from converter.analysis.arrays.shapes import name_of
from converter.analysis.facts import Facts
from converter.analysis.values import Host, Number, Origin, Sequence, Site, Value, grows_with
from converter.planner.batch_size.fed.rows import is_added_to
from converter.planner.batch_size.streams import is_share

SHUFFLES = (
    *("random.shuffle", "numpy.random.shuffle", "numpy.random.permutation", "random.sample"),
    "sklearn.utils.shuffle",
)
SAMPLES = ("random.sample", "numpy.random.choice")
COUNTED = ("list", "sorted", "enumerate", "zip", "reversed", "numpy.arange", "numpy.array", "numpy.asarray")


def shuffled_batches(facts: Facts, sizes: Iterable[Origin]) -> Iterator[ast.AST]:
    """The calls that put batches, or their numbers, into a random order."""
    scaled = set(sizes)
    found = {
        node: None
        for (_, node), value in facts.results.items()
        if isinstance(value, Host)
        and name_of(value) in SHUFFLES
        and node is value.node
        and any(_is_of_batches(facts, given, scaled) for given in value.inputs[1:2])  # behind the function itself
    }
    yield from found


def drawn_from_buffers(facts: Facts, sizes: Iterable[Origin]) -> Iterator[ast.AST]:
    """The calls that draw as many rows as a batch has, each once, from a list that the script adds to."""
    scaled = set(sizes)
    found = {
        node: None
        for (_, node), value in facts.results.items()
        if isinstance(value, Host)
        and name_of(value) in SAMPLES
        and isinstance(node, ast.Call)
        and node is value.node
        and value.site is not None
        and (rows := rows_of(facts, value, value.site)) is not None
        and rows.factors() & scaled
        and (name_of(value) == "random.sample" or any(k.arg == "replace" for k in node.keywords))
        and any(is_added_to(facts, one, _loops(value.site)) for one in _behind(value.inputs[1]))
    }
    yield from found


def _is_of_batches(facts: Facts, value: Value, scaled: set[Origin], depth: int = 4) -> bool:
    """Whether a number, a list or an array counts batches: there are fewer where these are larger."""
    if is_share(value, scaled):
        return True
    if value.uid in facts.ranges:
        return _goes_by_batches(facts.ranges[value.uid], scaled)
    if depth and value.uid in facts.listed:
        return _is_of_batches(facts, facts.listed[value.uid], scaled, depth - 1)
    if depth and isinstance(value, Host) and value.call.rpartition(".")[2] in {c.rpartition(".")[2] for c in COUNTED}:
        inner = value.inputs[1:] if value.inputs else ()
        return _goes_by_batches(list(inner), scaled) or any(_is_of_batches(facts, v, scaled, depth - 1) for v in inner)
    if isinstance(value, Sequence) and (bounds := _numbered(facts, value)):
        return _goes_by_batches(bounds, scaled)
    return isinstance(value, Sequence) and any(
        _is_of_batches(facts, facts.turned[site], scaled, depth - 1)
        for effect in facts.changes_of(value)
        for site in effect.site.chain()
        if depth and site in facts.turned
    )


def _numbered(facts: Facts, value: Sequence) -> list[Value]:
    """The arguments of the range whose numbers a list holds; nothing for another list."""
    first = value.elements[0] if value.elements else None
    made = tuple(v.uid for v in first.inputs) if isinstance(first, Number) else ()
    return next((args for args in facts.ranges.values() if args and tuple(a.uid for a in args) == made), [])


def _goes_by_batches(bounds: list[Value], scaled: set[Origin]) -> bool:
    """Whether range(…) has as many numbers as there are batches."""
    step = bounds[2] if len(bounds) == 3 else None
    by_batch = grows_with(step, scaled)
    return by_batch or (len(bounds) < 3 and any(is_share(bound, scaled) for bound in bounds[-1:]))


def _loops(site: Site | None) -> set[ast.stmt]:
    """The loops around a statement, and around the calls that lead to it."""
    chain = site.chain() if site is not None else ()
    return {one.stmt for one in chain if isinstance(one.stmt, ast.For | ast.While)}


def _behind(value: Value) -> Iterator[Value]:
    """A value, and what its length is asked of: `len(memory)`, `range(len(memory))`."""
    yield value
    for inner in value.inputs:
        yield inner
        yield from inner.inputs
