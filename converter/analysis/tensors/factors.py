"""Axes as ordered products of factors, of which the batch is one: where it goes when axes are cut and joined.

The rows of `tf.tile(x, [3, 1])` are numbered by two digits: which copy, and which example of it. Its first axis is the
product (3, batch), in this order. A tensor's elements lie in memory in the order of all its axes, so that a reshape
only groups the same factors in another way: to [3, -1, 6] the three copies stand in an axis of their own, and each has
one row for each example again. Numbers split and merge as they must (6 is 2 × 3); the batch, and numbers that are known
by their name alone, stay whole. None is a number of which nothing is known.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod
from typing import Literal

from converter.analysis.tensors.lengths import Computed, times, written_out
from converter.analysis.tensors.lengths import part as part_of
from converter.analysis.values import BATCH, OPEN, ROWS, Axis, Factor

# Why a reshape is not followed: rows of several examples become one ("joined"); the rows of one example do not end
# where those of the reshaped tensor do ("cut"); another axis takes a part of the batch ("front"); a length is unknown.
Failed = Literal["joined", "cut", "front", "unknown"]
Stopped = Literal["batch", "other", "cut", "unknown"]  # by the batch; by another factor, where the batch is wanted
IN_FRONT: dict[Stopped, Failed] = {"batch": "front", "other": "joined", "cut": "front", "unknown": "unknown"}
AT_THE_END: dict[Stopped, Failed] = {"batch": "joined", "other": "front", "cut": "cut", "unknown": "unknown"}
Placed = tuple[int, Axis]  # the position of the axis in which the batch is, and its factors


def product(factors: Iterable[Factor]) -> Axis:
    """An axis in its simplest form: without ones, with numbers beside each other multiplied."""
    found: list[Factor] = []
    for factor in factors:
        last = found[-1] if found else BATCH
        if isinstance(factor, int) and isinstance(last, int):
            found[-1] = factor * last
        elif factor != 1 and (factor is not None or last is not None):
            found.append(factor)
    return tuple(found)


def equal(axes: Sequence[Axis]) -> Axis | None:
    """The factors of axes that an operation takes entry by entry; None where they number their rows in other orders."""
    found = axes[0]
    for axis in axes[1:]:
        at, place = found.index(BATCH), axis.index(BATCH)
        if bool(at) != bool(place):
            return None
        copies = _known_factors(found[:at], axis[:place])
        if copies is None:
            return None
        inner = _known_factors(found[at + 1 :], axis[place + 1 :])
        found = (*copies, BATCH, *((None,) if inner is None else inner))
    return found


def _known_factors(one: Axis, two: Axis) -> Axis | None:
    """The same number in its factors, from the side that knows them; None where the sides differ."""
    return one if one == two or None in two else two if None in one else None


def alike(one: Axis, two: Axis) -> bool:
    """Whether two axes may number their rows in one way, example after example, as far as their factors are known."""
    mine, others = one[1:], two[1:]
    if mine and others:  # axes that nothing names may be as long as each other
        mine, others = (tuple(None if is_unnamed(f) else f for f in factors) for factors in (mine, others))
    return one[:1] == two[:1] == (BATCH,) and _known_factors(mine, others) is not None


def is_unnamed(length: Factor) -> bool:
    """Whether nothing is known of a length but the axis that has it."""
    return length is None or (isinstance(length, str) and (length.startswith(OPEN) or length[:1].isdigit()))


def without(axis: Axis, count: Factor) -> Axis | None:
    """The axis of each of so many equal pieces, one behind the other; None where one has no whole batch."""
    taken = _take(list(axis), (count,)) if count is not None else "unknown"
    return None if isinstance(taken, str) else product(taken[1])


def first(axis: Axis) -> Axis | None:
    """The axis of the first rows, as many as there are examples; None where these are not one batch."""
    return ROWS if axis[-1:] == ROWS else None


def others(axis: Axis) -> Axis | None:
    """The axis of the rows behind these; None where their number is not known, or is none."""
    copies = axis[0] if len(axis) == 2 and axis[1] == BATCH else 1
    return product((copies - 1, BATCH)) if isinstance(copies, int) and copies > 1 else None


def regrouped(axes: Sequence[Axis], wanted: Sequence[Axis | None]) -> Placed | Failed:
    """Where the batch is after a reshape.

    wanted: the length of each axis of the result as a product, in whatever order; None for one that follows from the
    others (-1), or of which nothing is known.
    """
    left = list(product(factor for axis in axes for factor in axis))
    failed: Failed = "unknown"
    first, last = 0, len(wanted)
    while first < last and (length := wanted[first]) is not None:
        taken = _take(left, length)
        if isinstance(taken, str):
            failed = IN_FRONT[taken]
            break
        axis, left = taken
        if BATCH in axis:
            return first, product(axis)
        first += 1
    left.reverse()
    while last > first and (length := wanted[last - 1]) is not None:
        taken = _take(left, length)
        if isinstance(taken, str):
            return AT_THE_END[taken] if failed == "unknown" else failed
        axis, left = taken
        last -= 1
        if BATCH in axis:
            return last, product(reversed(axis))
    if last - first == 1 and wanted[first] is None and BATCH in left:
        return first, product(reversed(left))
    return failed


def _take(factors: list[Factor], length: Axis) -> tuple[list[Factor], list[Factor]] | Stopped:
    """The first factors whose product is a length, and those behind them."""
    left, (size, names) = list(factors), _asked(length)
    taken: list[Factor] = []
    while size > 1 or names:
        if not left:
            return "unknown"
        factor = left.pop(0)
        if factor in names:
            names.remove(factor)
        elif isinstance(factor, int) and size > 1 < factor and 0 in (size % factor, factor % size):
            part = min(factor, size)
            size, factor, rest = size // part, part, factor // part
            left = [rest, *left] if rest > 1 else left
        elif isinstance(factor, Computed) and (cut := _cut(factor, times([size, *names]))) is not None:
            both, behind, more = cut
            left, (size, names) = ([behind, *left] if behind != 1 else left), _asked((more,))
            factor = both
        else:
            return _stopped(factor, size, names)
        taken.append(factor)
    return taken, left


def _asked(length: Axis) -> tuple[int, list[Factor]]:
    """A length as a number times names."""
    factors = [one for factor in length for one in written_out(factor)]
    return prod(one for one in factors if isinstance(one, int)), [one for one in factors if not isinstance(one, int)]


def _cut(factor: Computed, wanted: Factor) -> tuple[Factor, Factor, Factor] | None:
    """Of a computed length and what is left of a wanted one: what both have, the rest of the first, and of the second.

    Each entry along one axis is as good as another, so that `16 * units` is cut into any of its parts in any order.
    """
    rest, more = part_of(factor, wanted), part_of(wanted, factor)
    return (wanted, rest, 1) if rest is not None else (factor, 1, more) if more is not None else None


def _stopped(factor: Factor, size: int, names: Sequence[Factor]) -> Stopped:
    """Why a factor is not the next one of a length, of which a number and names are left."""
    if factor == BATCH:
        return "batch"
    if not isinstance(factor, int):
        return "unknown"
    return "cut" if size > 1 else "other" if BATCH in names else "unknown"
