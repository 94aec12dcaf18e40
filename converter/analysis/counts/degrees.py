"""Which numbers of a script a count follows, and in which degree."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from fractions import Fraction
from itertools import count

from converter.analysis.counts.reading import SIZE, Length, TermReader, is_followed
from converter.analysis.counts.terms import ONE_OF, Of, Terms, atom, degree
from converter.analysis.values import LARGEST, Host, Number, Origin, Sequence, Value, closure

RESTS = ("mod", "remainder")  # what is left of a division
COMBINATIONS = 64  # of choices in a sum
UNITS = (("literal", 0), ("literal", 1))
TOLD = ("flag", "literal", "parameter", "setting")  # kinds of numbers that are no lengths of data


def multiple(number: Number | Host, length: Length) -> Number | None:
    """A number with the origins that are in it, whatever it is computed by; None for none.

    `linear` are those that it is a multiple of: it is of the first degree in them, where all others stay what they are.
    The same number written out at several places is one, of which one place stands for all; 0 and 1 are none beside
    others. Its value is known where all that it is computed from is.
    """
    groups: dict[object, set[Origin]] = {}
    for origin in origins_behind(number):
        groups.setdefault(_written_as(origin), set()).add(origin)
    inside: set[Origin] = set()
    linear: dict[object, set[Origin]] = {}
    for key, group in groups.items():
        terms = TermReader(frozenset(group), length).of(number)
        if SIZE in terms.atoms:
            places = sorted(group, key=_place)
            read = {o: TermReader(frozenset((o,)), length).of(number) if len(group) > 1 else terms for o in places}
            inside |= {origin for origin, alone in read.items() if SIZE in alone.atoms}
            plain = key not in UNITS or terms == atom(SIZE)
            if plain and degree_in(terms, _value_of(group)) == 1:
                linear[key] = _places_of(read)
    value = TermReader(frozenset(), length).of(number).value
    small = value is not None and -LARGEST < value < LARGEST
    known = None if value is None or not small else int(value) if value.denominator == 1 else float(value)
    made = Number(known, frozenset(inside), frozenset(o for group in linear.values() for o in group), (number,))
    made.op = "int"
    options = _options(number, inside, length) if inside and not linear else []
    if options:
        return Number(None, made.origins, inputs=options, chosen=True)
    return made if inside else None


def _options(number: Number | Host, inside: set[Origin], length: Length) -> list[Number]:
    """The numbers of which branches choose one that a number is a multiple of; nothing for any other number."""
    alone = (TermReader(frozenset((origin,)), length).of(number) for origin in inside)
    chosen = all(terms.choice()[0] == ONE_OF for terms in alone)
    if not chosen or degree_in(TermReader(frozenset(inside), length).of(number)) != 1:
        return []
    return [Number(None, frozenset((o,)), frozenset((o,))) for o in sorted(inside, key=_place)]


def _place(origin: Origin) -> tuple[int, int, str]:
    return origin.line, getattr(origin.node, "col_offset", 0), origin.path


def origins_behind(value: Value) -> frozenset[Origin]:
    """The origins of the numbers that a number is computed from."""
    return frozenset(o for one in closure([value], _made_of) if isinstance(one, Number) for o in one.origins)


def _made_of(value: Value) -> Iterable[Value]:
    """The numbers, and lists of them, that a number without origins of its own was made of."""
    if isinstance(value, Number) and value.origins and not value.op:
        return ()
    given = (*value.inputs, *value.either) if isinstance(value, Host) else value.inputs
    return (v for v in given if isinstance(v, (Number, Host, Sequence)))


def is_computed(value: Host, length: Length = lambda _: None) -> bool:
    """Whether a value that is not followed is computed from numbers by operators and functions of numbers."""
    return is_followed(TermReader(frozenset(), length).of(value)) and bool(origins_behind(value))


def _places_of(read: dict[Origin, Terms]) -> set[Origin]:
    """The places at which a number of rows is written, of those where the same number is written, in their order.

    One stands for all, and it is no step of a loop; of a number that each of several branches writes it is one in each.
    read: the number's terms, where the number at that place alone is taken for the batch size.
    """
    alone = next((o for o, terms in read.items() if degree_in(terms) == 1), None) if len(read) > 1 else None
    in_branches = {o for o, terms in read.items() if _is_branch_of(terms)} if alone is None and len(read) > 1 else set()
    return in_branches or {alone or [*read][-1]}


def _is_branch_of(terms: Terms) -> bool:
    """Whether one branch of a number is as large as the batch size."""
    how, options = terms.choice()
    return how == ONE_OF and any(degree_in(option) == 1 or _is_branch_of(option) for option in options)


def degree_in(terms: Terms, size: float | None = None) -> Fraction | None:
    """The degree in the batch size; None for several degrees, or where an unknown function takes it.

    Of the least of several numbers it is that of the one at which no data ends. size: the batch size, where known.
    """
    return _degree_of(terms, size, count(1))


def _degree_of(terms: Terms, size: float | None, tried: Iterator[int]) -> Fraction | None:
    """The same; a sum of many choices has too many combinations to try: None, as for several degrees."""
    how, options = terms.choice()
    if not how:
        return degree(terms, frozenset((SIZE,)))
    if next(tried) > COMBINATIONS:
        return None
    degrees = [_degree_of(option, size, tried) for option in options]
    if len(set(degrees)) == 1:
        return degrees[0]
    followed = {d for d in degrees if d}
    others = [option for option, d in zip(options, degrees, strict=True) if not d]
    left_out = all(_is_below(o, size) if how == "most" else _is_end(o) or _is_single(how, o) for o in others)
    return followed.pop() if len(followed) == 1 and left_out else None


def follows(terms: Terms, sign: int) -> bool:
    """Whether a number is larger for a larger batch size (`sign` 1), or smaller (-1), in one of its parts.

    The rows that are left of whole batches are fewer than one batch: `(n - n % size) / size` has as many as `n / size`.
    """
    for monomial, factor in terms if SIZE in terms.atoms else ():
        shared = any(one == SIZE and exponent < 0 for one, exponent in monomial)
        for one, exponent in monomial:
            if one == SIZE and exponent * sign > 0 and factor > 0:
                return True
            rest = shared and isinstance(one, Of) and one.name in RESTS
            if isinstance(one, Of) and not rest and any(follows(given, sign) for given in one.given):
                return True
    return False


def _is_end(terms: Terms) -> bool:
    """Whether data may end there: at its length, or that many rows behind a place that is not known."""
    others = [one for one in terms.atoms if one != SIZE]
    if degree(terms, frozenset((SIZE,))) == 0:
        return not all(isinstance(one, Origin) and one.key[0] in TOLD for one in others)
    return bool(others)


def _is_single(how: str, terms: Terms) -> bool:
    """Whether a branch takes single examples instead of batches."""
    return how == ONE_OF and terms.value == 1


def _is_below(terms: Terms, size: float | None) -> bool:
    return terms.value is not None and terms.value <= (1 if size is None else size)


def _value_of(sizes: Iterable[Origin]) -> float | None:
    written = {origin.node.value for origin in sizes if isinstance(origin.node, ast.Constant)}
    values = [value for value in written if isinstance(value, (int, float))]
    return values[0] if len(values) == len(written) == 1 else None


def _written_as(origin: Origin) -> object:
    """A number that is written out, by its value; any other number by its place."""
    node = origin.node
    return ("literal", node.value) if isinstance(node, ast.Constant) else origin
