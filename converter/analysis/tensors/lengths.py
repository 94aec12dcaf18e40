"""Lengths of axes that are computed from others: `4 * units`, `width + 2 * border`, and a part of what is split.

A length that is known by its name alone stays comparable: a quarter of `4 * units` is as long as `units`, and pieces
of `a` and `b` entries behind each other are `a + b` long. Such a length is written as a sum over names (`Computed`).
"""

from __future__ import annotations

from collections.abc import Iterable

from converter.analysis.counts.reading import combined
from converter.analysis.counts.terms import Terms, atom, number
from converter.analysis.traits import Trait, has
from converter.analysis.values import Bound, Factor, Host, Length, Number, Value

HEAVIEST = 12  # names in a sum that is followed


class Computed(str):
    """The name of a length that is a sum or a multiple of others; terms: the sum."""

    terms: Terms


def of_number(given: Number) -> Factor:
    """A number as a length: its value, or a name that is the same wherever it stands for the same number.

    Layers take 6.0, as `18 / 3` is, for 6.
    """
    if given.value is not None and given.value >= 0 and float(given.value).is_integer():
        return int(given.value)
    if isinstance(given, Length):
        return given.factor
    name = _own_name(given)
    if name is not None:
        return name
    terms = _terms_of_number(given)
    made = _as_length(terms) if terms is not None else None
    return made if made is not None else f"number {given.uid}"


def how_many(number: Value | None) -> Factor:
    """A number of whole batches: its value, or a name for it where only the command line or a file tells that.

    An attribute that is not followed (`Bound`) is one number wherever it is read of its object.
    """
    if isinstance(number, Bound):
        return f"attribute {number.receiver.uid} {number.name}"
    if isinstance(number, Number):
        return number.value if isinstance(number.value, int) else of_number(number)
    return f"number {number.uid}" if isinstance(number, Host) else None


def total(lengths: Iterable[Factor]) -> Factor:
    """The length of parts behind each other; None where that of one is not known."""
    found = [_terms(length) for length in lengths]
    whole = number(0)
    for terms in found:
        if terms is None:
            return None
        whole = whole + terms
    return _as_length(whole)


def times(lengths: Iterable[Factor]) -> Factor:
    """The product of lengths; None where one is not known."""
    whole = number(1)
    for terms in map(_terms, lengths):
        if terms is None:
            return None
        whole = whole * terms
    return _as_length(whole)


def written_out(length: Factor) -> list[Factor]:
    """The numbers and names whose product a length is; the length itself if it is a sum, or has one name."""
    single = length.terms.single if isinstance(length, Computed) else None
    if single is None:
        return [length]
    monomial, factor = single
    names = [one for one, power in monomial for _ in range(int(power)) if isinstance(one, str)]
    return [*([int(factor)] if factor != 1 else []), *sorted(names)]


def part(length: Factor, count: Factor) -> Factor:
    """The length of each of so many equal pieces; None where it is not known."""
    whole, pieces = _terms(length), _terms(count)
    if whole is None or pieces is None or pieces.single is None:
        return None
    return _as_length(whole.divided(pieces))


def windows(length: Factor, size: Factor, stride: Factor) -> Factor:
    """How many windows of a size an axis has, one at each stride, none of them beyond its ends; None if not known."""
    if length is None or size is None:
        return None
    whole = 1 if length == size else length if size == 1 else _less(length, size)
    if stride == 1 or whole == 1:
        return whole
    return -(-whole // stride) if isinstance(whole, int) and isinstance(stride, int) and stride else None


def _less(length: Factor, size: Factor) -> Factor:
    """A length without all but one of so many entries."""
    whole, taken = _terms(length), _terms(size)
    return None if whole is None or taken is None else _as_length(whole - taken + number(1))


def _own_name(given: Number) -> str | None:
    """The name of a number that is read, by where it enters the script; None for one that is computed or chosen."""
    read = len(given.linear) == 1 and not given.chosen and not any(isinstance(v, Number) for v in given.inputs)
    return f"origin {next(iter(given.linear)).key}" if read else None


def _terms_of_number(given: Number) -> Terms | None:
    """A number as a sum over those that are read; None where anything else goes into it."""
    if given.value is not None:
        return number(given.value) if isinstance(given.value, int) else None
    name = given.factor if isinstance(given, Length) else _own_name(given)
    if name is not None:
        return _terms(name)
    numbers = [v for v in given.inputs if isinstance(v, Number)]
    followed = has(given.op, Trait.ADDS) or has(given.op, Trait.SCALES)
    if not followed or given.chosen or given.turn or len(numbers) != 2:
        return None
    left, right = map(_terms_of_number, numbers)
    made = combined(given.op, [left, right]) if left is not None and right is not None else None
    return made if made is not None and made.weight <= HEAVIEST else None


def _terms(length: Factor) -> Terms | None:
    if length is None:
        return None
    if isinstance(length, Computed):
        return length.terms
    return number(length) if isinstance(length, int) else atom(length)


def _as_length(terms: Terms) -> Factor:
    """A length by its shortest name; None for a number that is no length, and for a part that may not be whole."""
    value = terms.value
    if value is not None:
        return int(value) if value.denominator == 1 and value >= 0 else None
    whole = all(factor.denominator == 1 and all(power > 0 for _, power in monomial) for monomial, factor in terms)
    if not whole or terms.weight > HEAVIEST:
        return None
    name = _only_atom(terms)
    if name is not None:
        return name
    made = Computed(f"length {terms}")
    made.terms = terms
    return made


def _only_atom(terms: Terms) -> str | None:
    """The name of a length that is one atom, once."""
    if terms.single is None or terms.single[1] != 1 or len(terms.single[0]) != 1:
        return None
    ((one, exponent),) = terms.single[0]
    return one if exponent == 1 and isinstance(one, str) else None
