"""The outcomes of a pass that has no result: a refusal, or the wish to read the script again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from converter.analysis.facts import Decisions
from converter.diagnostics import Diagnostic, Refusal


@dataclass(frozen=True)
class Refused:
    """The script cannot be converted; the findings say why, in the order of the script.

    shorter: whether towers that end in front of the loss may do without the statement that is in the way.
    """

    findings: tuple[Diagnostic, ...]
    shorter: bool = False


@dataclass(frozen=True)
class Reread:
    """Expressions that give the towers their batches: another reading of the script takes them for inputs.

    otherwise: why the script is refused if it was read so already.
    """

    decisions: Decisions
    otherwise: Diagnostic


class Faults(Exception):
    """Carries several errors from inside a pass to its end, which makes them its outcome: Refused."""

    def __init__(self, findings: Iterable[Diagnostic]) -> None:
        self.findings = tuple(findings)
        super().__init__(self.findings[0].message)


@contextmanager
def noted(found: list[Diagnostic]) -> Iterator[None]:
    """Notes what is refused of one of several things, so that the others are looked at, too."""
    try:
        yield
    except Faults as faults:
        found += faults.findings
    except Refusal as refusal:
        found.append(refusal.diagnostic)
