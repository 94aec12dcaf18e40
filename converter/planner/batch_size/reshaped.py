"""Data of a size of its own that the batch size reshapes, or sorts into bins: `data.reshape([10, batch_size, 4])`."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from converter.analysis.arrays.rows import parts_of, rows_of
from converter.analysis.arrays.shapes import arguments_of, reshaping
from converter.analysis.facts import Facts
from converter.analysis.values import Host, Number, Origin, Value, depends_on, grows_with, needed

EQUAL = ("split", "vsplit")  # of NumPy: a number of parts must divide the rows
HISTOGRAMS = ("numpy.histogram", "numpy.histogram_bin_edges")


def reshaped(facts: Facts, sizes: Iterable[Origin]) -> Iterator[ast.AST]:
    """The calls that would fail, or give examples of another size, if the batch size were multiplied.

    The data does not follow the batch size, and no entry of the shape counts its batches: none is computed from the
    batch size, and -1 stands for what each example holds, or for nothing.
    """
    scaled = set(sizes)
    for (_, node), value in facts.results.items():
        source, entries = reshaping(value)
        if source is None or not any(grows_with(e, scaled) for e in entries):
            continue
        free = _counts_batches(entries) or any(_is_by(e, scaled) for e in entries)
        if not free and not follows(facts, source, scaled):
            yield node


def in_equal_parts(facts: Facts, sizes: Iterable[Origin]) -> Iterator[ast.AST]:
    """The calls that cut rows into batches, and raise an error where a larger one does not divide their number."""
    scaled = set(sizes)
    for (_, node), value in facts.results.items():
        source, entries = reshaping(value)
        count = entries[0] if source is not None and any(grows_with(e, scaled) for e in entries[1:]) else None
        parts = parts_of(value) if isinstance(value, Host) and value.call.rpartition(".")[2] in EQUAL else None
        if isinstance(parts, Number):  # not the places at which the rows are cut
            source, count = value.inputs[1], parts
        batches = count is not None and (getattr(count, "value", None) == -1 or _is_by(count, scaled))
        if source is not None and batches and not follows(facts, source, scaled):
            yield node


def binned(facts: Facts, sizes: Iterable[Origin]) -> Iterator[ast.AST]:
    """The histograms that have as many bins as a batch has examples: more and narrower bins are other examples."""
    scaled = set(sizes)
    for (_, node), value in facts.results.items():
        if isinstance(value, Host) and isinstance(node, ast.Call) and value.call in HISTOGRAMS:
            given = arguments_of(value, node)
            bins = given.get(1, "bins") if given is not None else None
            if grows_with(bins, scaled):
                yield node


def _counts_batches(entries: list[Value]) -> bool:
    """Whether -1 may count batches, or steps along which they are cut: it is no example's last of several sizes."""
    places = [i for i, entry in enumerate(entries) if isinstance(entry, Number) and entry.value == -1]
    return bool(places) and (places[0] < len(entries) - 1 or len(entries) == 2)


def _is_by(entry: Value, scaled: set[Origin]) -> bool:
    """Whether an entry is computed from the batch size, and is no multiple of it: `len(data) // batch_size`."""
    return depends_on([entry], scaled) and not grows_with(entry, scaled)


def follows(facts: Facts, source: Value, scaled: set[Origin]) -> bool:
    """Whether the size of data depends on the batch size, or on what a caller hands over that is not seen."""
    behind = needed([source]).values()
    numbers = [v for v in behind if isinstance(v, Number)]
    if any(v.origins & scaled for v in numbers):
        return True
    rows = rows_of(facts, source, source.site) if source.site is not None else None
    handed = any(isinstance(v, Host) and v.call == "parameter" for v in behind)
    handed |= any(o.key[0] == "parameter" for v in numbers for o in v.origins)
    return handed or (rows is not None and bool(rows.origins & scaled))
