"""The outcomes of a pass without a result: a refusal, or a request to read the script again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from converter.analysis.facts import Decisions
from converter.dataclass import dataclass
from converter.diagnostics import Diagnostic, Refusal

Outcome = TypeVar("Outcome")


@dataclass(frozen=True)
class Refused:
    """The script cannot be converted; the findings say why, in the order of the script.

    shorter: whether towers that end before the loss could leave out the statement that caused the refusal.
    nearer: of towers that end before the loss: whether it says what hinders those that end with it, too.
    placed: whether the towers could be placed, and only what enters or leaves them, or other files, stand in the way.
    """

    findings: tuple[Diagnostic, ...]
    shorter: bool = False
    nearer: bool = False
    placed: bool = False


@dataclass(frozen=True)
class Reread:
    """Asks for another reading of the script, which takes some expressions for the inputs of the towers.

    otherwise: why the script is refused if it was read so already.
    """

    decisions: Decisions
    otherwise: Diagnostic


def after_readings(
    decide: Callable[[], Outcome | Reread], again: Callable[[Decisions], object], known: Decisions | None = None
) -> Outcome | Refused:
    """What is decided of a script after as many readings as it takes.

    again: reads it with expressions for inputs. known: those that it was read with already.
    """
    inputs: Decisions = {**(known or {})}
    while isinstance(made := decide(), Reread):
        if made.decisions.keys() <= inputs.keys():
            return Refused((made.otherwise,))
        inputs = {**inputs, **made.decisions}
        again(inputs)
    return made


class Faults(Exception):
    """Carries several errors from inside a pass to its end, which makes them its outcome: Refused."""

    def __init__(self, findings: Iterable[Diagnostic]) -> None:
        self.findings = tuple(findings)
        super().__init__(self.findings[0].message)


@contextmanager
def noted(found: list[Diagnostic]) -> Iterator[None]:
    """Collect the refusals raised inside the block, so that the remaining values are still checked."""
    try:
        yield
    except Faults as faults:
        found += faults.findings
    except Refusal as refusal:
        found.append(refusal.diagnostic)
