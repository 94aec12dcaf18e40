"""What a verification is asked and what it answers, as plain data."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

BatchMode = Literal["per-gpu", "total"]
Status = Literal["passed", "failed", "skipped"]
Verdict = Literal["passed", "failed", "not comparable"]


class VerifyError(Exception):
    """A verification that cannot begin: a missing file, an interpreter without TensorFlow."""


@dataclass(frozen=True)
class Settings:
    """How to verify.

    gpus: number of towers; None takes what the converted script says, else 2.
    steps: training steps to compare.
    batch: what the script's batch size means; None reads the converted script's header comment.
    python: interpreter to run both scripts with; None is the one that runs this.
    args: command line arguments for both scripts.
    timeout: seconds for the whole verification.
    """

    gpus: int | None = None
    steps: int = 3
    batch: BatchMode | None = None
    python: str | None = None
    args: tuple[str, ...] = ()
    timeout: float = 600.0


@dataclass(frozen=True)
class Check:
    """One thing that was compared. `figure` is the worst found, `tolerance` the largest allowed."""

    name: str
    status: Status
    detail: str = ""
    figure: float | None = None
    tolerance: float | None = None


@dataclass(frozen=True)
class VariableRow:
    """One variable; errors are the worst of all steps.

    gradient: relative error of the applied gradient (None: not trained).
    update: relative error of one update made from the same gradient.
    weight: relative error of the way gone after all steps (None: its gradient is only rounding).
    """

    name: str
    shape: str
    dtype: str
    trainable: bool
    gradient: float | None
    update: float | None
    weight: float | None


@dataclass(frozen=True)
class DeviceRow:
    """What one virtual device computed in the first step: numbers of operations."""

    device: str
    forward: int
    gradient: int


@dataclass(frozen=True)
class Report:
    """The outcome of a verification.

    reason: one line; why it failed or could not be done, else what was shown.
    neutralised: random operations that were held still, {kind: number of operations}.
    log: the end of the output of a script that failed by itself.
    """

    verdict: Verdict
    reason: str
    gpus: int
    batch: BatchMode
    steps: int
    checks: tuple[Check, ...] = ()
    variables: tuple[VariableRow, ...] = ()
    devices: tuple[DeviceRow, ...] = ()
    versions: tuple[tuple[str, str], ...] = ()
    neutralised: tuple[tuple[str, int], ...] = ()
    notes: tuple[str, ...] = ()
    log: str = ""
    seconds: float = 0.0


def to_json(report: Report) -> dict[str, Any]:
    """A report as what `json.dumps` takes; figures that JSON has no number for are strings."""

    def plain(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: plain(item) for key, item in value.items()}
        if isinstance(value, (list, tuple)):
            return [plain(item) for item in value]
        if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
            return repr(value)
        return value

    content = asdict(report)
    content["versions"] = dict(report.versions)
    content["neutralised"] = dict(report.neutralised)
    result: dict[str, Any] = plain(content)
    return result
