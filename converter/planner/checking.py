"""Checks: functions of `rules.checks` that find what must be refused or warned of, at one stage of the planning."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Generic, TypeVar

from converter.dataclass import dataclass
from converter.diagnostics import Diagnostic
from converter.planner.cases import Started
from converter.rule import rule_modules

Case = TypeVar("Case", bound=Started)


@dataclass(frozen=True)
class Check(Generic[Case]):
    """A function that finds one kind of fault.

    stage: what the function must know. unless: codes of faults that explain this one; it is left out after them.
    """

    stage: type[Case]
    find: Callable[[Case], Iterable[Diagnostic]]
    unless: tuple[str, ...] = ()


def check(
    stage: type[Case], unless: tuple[str, ...] = ()
) -> Callable[[Callable[[Case], Iterable[Diagnostic]]], Check[Case]]:
    """Makes a function that yields diagnostics a check of a stage."""
    return lambda find: Check(stage, find, unless)


def findings(case: Started) -> tuple[Diagnostic, ...]:
    """Diagnostics of all checks for this stage, at most one for a code and a place, in the order of the script."""
    found: dict[tuple[str, str, int, int], Diagnostic] = {}
    for one in _checks():
        if one.stage is type(case) and not any(code in one.unless for code, *_ in found):
            for finding in one.find(case):
                found.setdefault((finding.code, finding.path, finding.line, finding.column), finding)
    return in_order(case.facts.path, found.values())


def in_order(script: str, found: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Diagnostics sorted by file and line, the script's own first, without duplicates."""
    return tuple(sorted(dict.fromkeys(found), key=lambda d: (d.path != script, d.path, d.line, d.column)))


@cache
def _checks() -> tuple[Check[Started], ...]:
    """All checks, found by walking `rules.checks`: each after those whose faults may explain its own."""
    codes = dict(_walk())

    def depth(one: Check[Started]) -> int:
        return 1 + max((depth(other) for other, own in codes.items() if not own.isdisjoint(one.unless)), default=0)

    return tuple(sorted(codes, key=depth))


def _walk() -> Iterator[tuple[Check[Started], set[str]]]:
    """Each check with the codes that its file finds."""
    for module in rule_modules("checks"):
        codes = set(getattr(module, "CODES", ()))
        yield from ((value, codes) for value in vars(module).values() if isinstance(value, Check))
