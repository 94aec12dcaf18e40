"""Checks: functions of `rules.checks` that find what must be refused or warned of, at one stage of the planning."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Generic, TypeVar

from converter.analysis.effects import EffectKind
from converter.analysis.facts import Effect
from converter.dataclass import dataclass
from converter.diagnostics import Diagnostic
from converter.planner.cases import Started
from converter.planner.wording import finding
from converter.rule import rule_modules

Case = TypeVar("Case", bound=Started)


@dataclass(frozen=True)
class Check(Generic[Case]):
    """A function that finds one kind of fault.

    stage: what the function must know. unless: codes of faults that explain this one; it is left out after them.
    batch: the kind of batch that it is about (`--batch`), "" for both.
    """

    stage: type[Case]
    find: Callable[[Case], Iterable[Diagnostic]]
    unless: tuple[str, ...] = ()
    batch: str = ""

    def is_for(self, case: Started) -> bool:
        """True if the stage has been reached, with such a batch."""
        return self.stage is type(case) and self.batch in ("", case.options.batch)


def check(
    stage: type[Case], unless: tuple[str, ...] = (), batch: str = ""
) -> Callable[[Callable[[Case], Iterable[Diagnostic]]], Check[Case]]:
    """Makes a function that yields diagnostics a check of a stage."""
    return lambda find: Check(stage, find, unless, batch)


def each(stage: type[Case], key: str, places: Callable[[Case], Iterable[ast.AST]], batch: str = "") -> Check[Case]:
    """The check that gives a message without fields, by its key, at each of some places."""
    return Check(stage, lambda case: (finding(case.facts, node, key) for node in places(case)), batch=batch)


def of_effects(
    stage: type[Case], key: str, kind: EffectKind, where: Callable[[Case, Effect], bool] = lambda case, effect: True
) -> Check[Case]:
    """The check that gives a message, by its key, at each effect of a kind; its field `name` is the effect's.

    where: whether an effect counts.
    """

    def found(case: Case) -> Iterator[Diagnostic]:
        for effect in case.facts.effects_of(kind):
            if where(case, effect):
                yield finding(case.facts, effect.node, key, name=effect.name)

    return Check(stage, found)


def findings(case: Started) -> tuple[Diagnostic, ...]:
    """Diagnostics of all checks for this stage, at most one for a code and a place, in the order of the script."""
    found: dict[tuple[str, str, int, int], Diagnostic] = {}
    for one in _checks():
        if one.is_for(case) and not any(code in one.unless for code, *_ in found):
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
