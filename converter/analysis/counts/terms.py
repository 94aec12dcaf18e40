"""Numbers as sums of monomials over atoms, and their degree in the batch size.

`(i + 1) * b - i * b` is the one monomial `b`, whatever its spelling. A number of the first degree in the batch size
is N times as large where the batch size is; `b - 1` has two degrees, and is not.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from fractions import Fraction
from functools import cached_property, partial, reduce

from converter.dataclass import dataclass

Atom = Hashable
Exponent = int | Fraction  # most are 1, of which a Fraction takes long to hash
Factor = int | Fraction  # for the same reason
Monomial = frozenset[tuple[Atom, Exponent]]  # atoms with their exponents; empty for a plain number
ONE_OF = "one of"  # the function of a number that a branch chooses
CHOICES = ("least", "most", ONE_OF)
HIGHEST = 4  # exponents that are multiplied out


@dataclass(frozen=True)
class Of:
    """What a function that is not followed makes of its arguments: a new atom.

    The least, the most and "one of" several numbers are one of the arguments. weight: how many atoms and functions it
    is written with. branching: where it is 1 of several by the branches of an `if`, what tells this `if` from others.
    """

    name: str
    given: tuple[Terms, ...]
    weight: int = 1
    branching: int = 0

    def __str__(self) -> str:
        return f"{self.name}({', '.join(map(str, self.given))})"


@dataclass(frozen=True)
class Terms:
    """A sum of monomials, each with its factor; no monomial has the factor 0."""

    parts: frozenset[tuple[Monomial, Factor]] = frozenset()

    def __iter__(self) -> Iterator[tuple[Monomial, Factor]]:
        return iter(self.parts)

    def __add__(self, other: Terms) -> Terms:
        return _sum((*self.parts, *other.parts))

    def __sub__(self, other: Terms) -> Terms:
        return self + other * number(-1)

    def __mul__(self, other: Terms) -> Terms:
        return _sum((_product(m, n), f * g) for m, f in self.parts for n, g in other.parts)

    @property
    def value(self) -> Factor | None:
        """The number, where it has no atoms."""
        if not self.parts:
            return 0
        ((monomial, factor), *others) = self.parts
        return factor if not monomial and not others else None

    @property
    def weight(self) -> int:
        """How many atoms and functions it is written with, each time that they are written."""
        return sum(one.weight if isinstance(one, Of) else 1 for monomial, _ in self.parts for one, _ in monomial)

    @property
    def single(self) -> tuple[Monomial, Factor] | None:
        """The one monomial that it is, and its factor; None for a sum, and for 0."""
        return next(iter(self.parts)) if len(self.parts) == 1 else None

    def divided(self, by: Terms) -> Terms:
        """The quotient, as if it were exact; of `(n + b - 1) // b` that of n, which it rounds up."""
        if by.single is None:
            return function("divide", self, by)
        monomial, factor = by.single
        up = self - by + number(1)
        if _without(self, monomial) is not None and len(up.parts) < len(self.parts):
            return up.divided(by)
        return self * Terms(frozenset(((frozenset((a, -e) for a, e in monomial), 1 / Fraction(factor)),)))

    def raised(self, to: Terms) -> Terms:
        """The power, of a sum only for a small whole exponent."""
        exponent = to.value
        if exponent is None:
            return function("pow", self, to)
        if self.single is not None and self.single[1] in (0, 1):
            return Terms(frozenset(((frozenset((a, e * exponent) for a, e in self.single[0]), 1),)))
        if exponent.denominator == 1 and 0 <= exponent <= HIGHEST:
            return reduce(Terms.__mul__, [self] * int(exponent), number(1))
        if self.single is not None and self.single[0] and self.single[1] > 0:  # `(b / 256) ** 0.5`
            monomial, factor = self.single
            return function("pow", number(factor), to) * Terms(frozenset(((monomial, 1),))).raised(to)
        return function("pow", self, to)

    @cached_property
    def atoms(self) -> frozenset[Atom]:
        """All atoms, those of unknown functions with the atoms of their arguments."""
        own = [one for monomial, _ in self.parts for one, _ in monomial]
        return frozenset(own).union(*(atom_set(one) for one in own if isinstance(one, Of)))

    def replaced(self, by: Callable[[Atom], Terms | None]) -> Terms:
        """The number with other terms for some atoms, also inside of functions."""
        if not self.parts:
            return self
        made = number(0)
        for monomial, factor in self.parts:
            product = number(factor)
            for one, exponent in monomial:
                product = product * _replaced(one, by).raised(number(exponent))
            made = made + product
        return made

    def choice(self) -> tuple[str, tuple[Terms, ...]]:
        """The numbers that it is one of, and how it is chosen: of `min(i + b, n) - i` these are `b` and `n - i`.

        "" and itself where it is no choice.
        """
        for monomial, factor in self.parts:
            for one, exponent in monomial if factor == 1 and len(monomial) == 1 else ():
                if isinstance(one, Of) and one.name in CHOICES and exponent == 1:
                    rest = self - atom(one)
                    return one.name, tuple(given + rest for given in one.given)
        return "", (self,)

    def __str__(self) -> str:
        shown = sorted(((_shown(m), f) for m, f in self.parts), key=lambda part: (part[0] == "", part[0]))
        text = " + ".join(f"{m}" if m and f == 1 else f"{_plain(f)} * {m}" if m else _plain(f) for m, f in shown)
        return text.replace("+ -1 * ", "- ").replace("+ -", "- ") or "0"


def number(value: float | Fraction) -> Terms:
    """A plain number."""
    exact = int(value) if isinstance(value, int) else Fraction(value)
    return Terms(frozenset(((frozenset(), exact),)) if value else frozenset())


def atom(of: Atom) -> Terms:
    """A number that is not known."""
    return Terms(frozenset(((frozenset(((of, 1),)), 1),)))


def function(name: str, *given: Terms, branching: int = 0) -> Terms:
    """What a function that is not followed makes of numbers; of the same number several times it may be this one."""
    if name in CHOICES and len(set(given)) == 1:
        return given[0]
    return atom(Of(name, given, 1 + sum(terms.weight for terms in given), branching))


def taken_together(terms: Terms) -> Terms:
    """The number without choices that cancel out: each branch of an `if` leaves all numbers that it sets.

    Of `end - start` after `if start + n > last: start, end = 0, n` the two branches make the same number.
    """
    chosen = [one for monomial, _ in terms for one, _ in monomial if isinstance(one, Of) and one.branching]
    for branching in {one.branching for one in chosen}:
        count = {len(one.given) for one in chosen if one.branching == branching}
        made = [terms.replaced(partial(_taken, branching, side)) for side in range(*count)] if len(count) == 1 else []
        if made and all(other == made[0] for other in made):
            return taken_together(made[0])
    return terms


def _taken(branching: int, side: int, one: Atom) -> Terms | None:
    """What one branch of an `if` leaves in the place of a choice."""
    return one.given[side] if isinstance(one, Of) and one.branching == branching else None


def degree(terms: Terms, sizes: frozenset[Atom]) -> Fraction | None:
    """The degree in the batch size: 0 where it is not in it, None for several degrees, or an unknown function of it."""
    found: set[Fraction] = set()
    for monomial, _ in terms:
        inside = [one for one, _ in monomial if isinstance(one, Of) and not sizes.isdisjoint(atom_set(one))]
        if inside:
            return None
        found.add(Fraction(sum(exponent for one, exponent in monomial if one in sizes)))
    return found.pop() if len(found) == 1 else None if found else Fraction(0)


def atom_set(one: Of) -> frozenset[Atom]:
    """The atoms in the arguments of a function."""
    return frozenset[Atom]().union(*(given.atoms for given in one.given))


def _replaced(one: Atom, by: Callable[[Atom], Terms | None]) -> Terms:
    found = by(one)
    if found is not None:
        return found
    if not isinstance(one, Of):
        return atom(one)
    return function(one.name, *(given.replaced(by) for given in one.given), branching=one.branching)


def _sum(parts: Iterable[tuple[Monomial, Factor]]) -> Terms:
    total: dict[Monomial, Factor] = {}
    for monomial, factor in parts:
        total[monomial] = total[monomial] + factor if monomial in total else factor
    return Terms(frozenset((m, f) for m, f in total.items() if f))


def _product(one: Monomial, two: Monomial) -> Monomial:
    if not one or not two:
        return one or two
    exponents: dict[Atom, Exponent] = dict(one)
    for of, exponent in two:
        exponents[of] = exponents[of] + exponent if of in exponents else exponent
    return frozenset((of, exponent) for of, exponent in exponents.items() if exponent)


def _without(terms: Terms, monomial: Monomial) -> Terms | None:
    """The sum without a monomial; None where it has none."""
    rest = frozenset((m, f) for m, f in terms.parts if m != monomial)
    return Terms(rest) if len(rest) < len(terms.parts) else None


def _shown(monomial: Monomial) -> str:
    parts = sorted((str(of), exponent) for of, exponent in monomial)
    return " * ".join(text if exponent == 1 else f"{text} ** {_plain(exponent)}" for text, exponent in parts)


def _plain(value: Exponent) -> str:
    return str(value) if value.denominator == 1 or value.denominator > 10**6 else f"{float(value):g}"
