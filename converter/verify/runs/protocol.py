"""What the kinds of conversions share that are not proven as towers: roles of processes, and the parts of a report."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from converter.dataclass import dataclass
from converter.verify.checks.figures import Facts
from converter.verify.data import BatchMode, CheckResult, LedgerLine, Progress, Report
from converter.verify.judge import ComparisonSettings
from converter.verify.processes.runner import Runner

Jobs = Mapping[str, dict[str, Any]]  # by role
Tell = Callable[[Progress], None]


@dataclass(frozen=True)
class Protocol:
    """How one kind of conversion is recorded and replayed.

    conversion, original: the roles of the two scripts' processes. trains: what trains, in words. compare: runs the jobs
    of both roles. no_others: why no other scripts can run after the training (`--also`), "" where they can.
    """

    conversion: str
    original: str
    trains: str
    compare: Callable[[Jobs, ComparisonSettings, Runner, Tell], Report]
    no_others: str = ""


def versions_of(started: Facts) -> tuple[tuple[str, str], ...]:
    """The versions that a process tells when it has started."""
    found = {"TensorFlow": started.get("tensorflow"), "PyTorch": started.get("torch"), "Python": started["python"]}
    return tuple((name, version) for name, version in found.items() if version)


def ledger_of(
    checks: Iterable[CheckResult],
    batch: BatchMode,
    taken: str,
    further: Sequence[LedgerLine],
    unchecked: Mapping[str, str],
) -> tuple[LedgerLine, ...]:
    """The ledger: a line for each check, and for what no check compares.

    taken: of what a step takes one batch, with --batch per-gpu. further: lines with another fate than the unchecked.
    """
    differs = [LedgerLine("differs", "batch", f"a step takes one batch {taken}")] if batch == "per-gpu" else []
    left = (LedgerLine("unchecked", what, detail) for what, detail in unchecked.items())
    return (*(check.entry() for check in checks), *differs, *further, *left)
