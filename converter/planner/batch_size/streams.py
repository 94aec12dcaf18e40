"""Data that the script cuts into as many rows as a batch has: `np.reshape(raw, [batch_size, len(raw) // batch_size])`.

A step then takes the next columns of all rows. Where the batch size grows, the rows are more and shorter.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from converter.analysis.arrays.shapes import FILLED, reshaping, told_shape
from converter.analysis.counts.degrees import follows
from converter.analysis.counts.reading import TermReader
from converter.analysis.facts import Facts
from converter.analysis.frames import Access
from converter.analysis.values import Host, Number, Origin, Sequence, Tensor, Value, grows_with, needed
from converter.planner.batch_size.reshaped import follows as data_follows

COUNTED = ("numpy.arange", "range", "list")


def streams(facts: Facts, sizes: Iterable[Origin]) -> Iterator[ast.AST]:
    """The calls that cut data into rows, as many as the batch size says: how long they are was divided by it."""
    scaled = set(sizes)
    for (_, node), value in facts.results.items():
        source, entries = _shaped(value)
        first = entries[0] if entries else None
        if not isinstance(first, Number) or not first.factors() & scaled:
            continue
        rest = any(isinstance(entry, Number) and entry.value == -1 for entry in entries[1:])
        bounds = _bounds(source) if rest else ()
        own = rest and source is not None and isinstance(value, Host) and not data_follows(facts, source, scaled)
        if own or any(is_share(value, scaled) for value in (*entries[1:], *bounds)):
            yield node


def kept_places(facts: Facts, sizes: Iterable[Origin]) -> Iterator[ast.AST]:
    """The first places of a batch's rows, `np.arange(batch_size)`, where each row goes on from its own place.

    A step's feed is picked by such numbers, and single ones of them are set anew: `places[row] = following`.
    """
    scaled = set(sizes)
    moved = {access.value.uid for access in facts.accesses if _is_set_anew(access)}
    feeds = [value for run in facts.runs_of(facts.train_steps) for _, value in run.feeds]
    picked = [v for v in needed(feeds).values() if isinstance(v, Host) and v.call == "[]"] if moved else []
    for index in (index for value in picked for index in value.inputs[1:] if index.uid in moved):
        sized = any(grows_with(v, scaled) for v in needed([index]).values())
        if isinstance(index, Host) and index.call in COUNTED and index.node is not None and sized:
            yield index.node


def _is_set_anew(access: Access) -> bool:
    """Whether an item of what is read here is assigned."""
    stmt = None if access.write else access.site.stmt
    targets = stmt.targets if isinstance(stmt, ast.Assign) else ()
    parts = [part for target in targets for part in (target.elts if isinstance(target, ast.Tuple) else [target])]
    return any(isinstance(part, ast.Subscript) and part.value is access.node for part in parts)


def _shaped(value: Value) -> tuple[Value | None, list[Value]]:
    """What a call gives another shape, None where it makes it, and the entries of that shape."""
    if isinstance(value, Tensor) and value.op == "reshape" and len(value.inputs) > 1:
        shape = value.inputs[1]
        return value.inputs[0], shape.elements if isinstance(shape, Sequence) and not shape.many else []
    made = isinstance(value, Host) and value.call in FILLED
    return (None, told_shape(value)) if made else reshaping(value)


def _bounds(source: Value | None) -> Iterator[Value]:
    """The end of the slice from the beginning on that some data is: `raw[:count * batch_size]`."""
    for part in source.inputs[1:] if isinstance(source, Host) and source.call == "[]" else ():
        if isinstance(part, Host) and part.call == "slice":
            *before, end = part.inputs
            if all(isinstance(v, Number) and v.value == 0 for v in before):
                yield end


def is_share(value: Value, scaled: Iterable[Origin]) -> bool:
    """Whether a number is smaller for a larger batch size, or is computed from one that is: `n // size * size`."""
    return _is_share(TermReader(frozenset(scaled), lambda _: None), value)


def _is_share(reading: TermReader, value: Value) -> bool:
    if not isinstance(value, (Number, Host)):
        return False
    computed = not value.chosen if isinstance(value, Number) else isinstance(value.node, ast.BinOp)
    return follows(reading.of(value), -1) or (computed and any(_is_share(reading, v) for v in value.inputs))
