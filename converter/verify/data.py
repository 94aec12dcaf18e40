"""Settings and report of a verification, as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any, Literal

from converter.dataclass import dataclass
from converter.diagnostics import Diagnostic
from converter.source.header import Header

ALL_STEPS = 1000  # the most steps that `--steps all` compares
BatchMode = Literal["per-gpu", "total"]
Status = Literal["passed", "failed", "skipped"]
Verdict = Literal["passed", "failed", "not comparable"]
Fate = Literal["same", "differs", "wrong", "unchecked"]
Part = Literal["input", "forward", "gradient", "average", "update", "other"]


class VerifyError(Exception):
    """A verification that cannot begin: a missing file, an interpreter without TensorFlow."""


@dataclass(frozen=True)
class ConstantChoice:
    """Another value for a constant of a module of the script's project.

    module: its path from the project's root; text: of the value, as Python writes it.
    """

    module: str
    name: str
    text: str


@dataclass(frozen=True)
class VerifySettings:
    """How to verify.

    gpus: number of towers; None takes what the converted script says, else 2.
    steps: training steps to compare; "all": as many as there are, in a part of the time, and both whole runs.
    batch: what the script's batch size means; None reads the converted script's header comment.
    python: interpreter to run both scripts with; None is the one that runs this.
    args: command line arguments for both scripts.
    timeout: seconds for the whole verification.
    memory: GiB that both scripts may take together; None is three quarters of the machine's.
    network: whether the scripts may use it.
    also: other scripts, by their paths from the scripts' folders, that are run in both trees after training.
    epochs: run both scripts by themselves so far, too, and compare what goes in and what they do beside; 0: not.
    data: folders and files outside of the original's folder that both scripts find where it finds them.
    more_gpus, each_choice, whole: what `verify_more` proves, too: these numbers of towers, each choice of the
        original's flags, or all that there is (runs/several_proofs.py).
    constants: other values for constants of the project's modules, in both copies.
    devices: what towers run on: virtual CPU devices, or GPUs of this machine (the CPU's where there are none).
    """

    gpus: int | None = None
    steps: int | Literal["all"] = 3
    batch: BatchMode | None = None
    python: str | None = None
    args: tuple[str, ...] = ()
    timeout: float = 600.0
    memory: float | None = None
    network: bool = False
    also: tuple[str, ...] = ()
    epochs: int = 0
    data: tuple[str, ...] = ()
    more_gpus: tuple[int, ...] = ()
    each_choice: bool = False
    whole: bool = False
    constants: tuple[ConstantChoice, ...] = ()
    devices: Literal["cpu", "gpu"] = "cpu"


@dataclass(frozen=True)
class Progress:
    """The progress of a verification: the current part, and how many of `total` parts are done."""

    doing: str
    done: int
    total: int


@dataclass(frozen=True)
class CheckResult:
    """One thing that was compared. `figure` is the worst found, `tolerance` the largest allowed."""

    name: str
    status: Status
    detail: str = ""
    figure: float | None = None
    tolerance: float | None = None

    def entry(self) -> LedgerLine:
        """Its line in the ledger."""
        fates: dict[Status, Fate] = {"passed": "same", "failed": "wrong", "skipped": "unchecked"}
        return LedgerLine(fates[self.status], self.name, self.detail, self.figure, self.tolerance)


@dataclass(frozen=True)
class VariableRow:
    """One variable; errors are the worst of all steps.

    gradient: relative error of the applied gradient (None: not trained).
    update: relative error of one update made from the same gradient.
    weight: relative error of its change after all steps (None: its gradient is only rounding).
    """

    name: str
    shape: str
    dtype: str
    trainable: bool
    gradient: float | None
    update: float | None
    weight: float | None

    @classmethod
    def of_weights(cls, row: Mapping[str, Any]) -> VariableRow:
        """A variable of which only the change of its weights is compared: name, shape, dtype and error."""
        return cls(
            name=row["name"],
            shape=str(tuple(row["shape"])),
            dtype=row["dtype"],
            trainable=True,
            gradient=None,
            update=None,
            weight=None if row["error"] is None else float(row["error"]),
        )


@dataclass(frozen=True)
class DeviceRow:
    """What one device computed in the first step: numbers of operations.

    share: of the floating point operations of all devices, 0 to 1; None where they are not known.
    """

    device: str
    forward: int
    gradient: int
    share: float | None = None


@dataclass(frozen=True)
class LedgerLine:
    """One line of the ledger: what is the same, differs by design, is wrong, or was not checked.

    figure: the error where it is the same, else how much it differs, as `detail` says; None where that
        is no number. tolerance: the largest error allowed.
    """

    fate: Fate
    what: str
    detail: str
    figure: float | None = None
    tolerance: float | None = None


@dataclass(frozen=True)
class LossRow:
    """The loss of one step in both scripts, each at the weights that its own training has reached."""

    original: float
    converted: float


@dataclass(frozen=True)
class Box:
    """One part of a step on one device: how many operations ran there, and how long, summed up."""

    device: str
    part: Part
    operations: int
    micros: int


@dataclass(frozen=True)
class BoxEdge:
    """How many tensors of a step go from one box to another."""

    device: str
    part: Part
    to_device: str
    to_part: Part
    tensors: int


@dataclass(frozen=True)
class DeviceSpan:
    """When a part of a step was at work on a device, in microseconds from the step's first operation."""

    device: str
    part: Part
    begin: int
    end: int


@dataclass(frozen=True)
class StepTrace:
    """One executed step of a script, as TensorFlow's own trace tells.

    variables: {device: number of variables that were read there}.
    """

    boxes: tuple[Box, ...]
    edges: tuple[BoxEdge, ...]
    spans: tuple[DeviceSpan, ...]
    variables: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Changed:
    """A file that a conversion changes, by its path from the script's folder.

    trace: its lines at which an edit ends, with the codes of their rules; see converter.conversion.
    """

    name: str
    before: str
    after: str
    trace: tuple[tuple[int, tuple[str, ...]], ...]


@dataclass(frozen=True)
class ConversionOrigin:
    """How a converted script was made, by its header, and whether it still is what that conversion gives.

    header: None where it has none that can be read.
    same_source: whether the header's hash is the original's; None without a header.
    rewritten: whether the original, converted again with the header's options, gives this very script.
    files: then the script, and what else of its project changes with it.
    findings: what the conversion says when it is repeated.
    edited: by file, "" for the script, the lines, from one, that are not what it gives then; behind them lines may be
        missing.
    cells: of a notebook the cell and the line in it for each line of its script; (0, 0) for lines of no cell.
    script: of two folders that were verified, the script that all else here is about, by its path from its folder.
    """

    header: Header | None = None
    same_source: bool | None = None
    rewritten: bool = False
    files: tuple[Changed, ...] = ()
    findings: tuple[Diagnostic, ...] = ()
    edited: tuple[tuple[str, tuple[int, ...]], ...] = ()
    cells: tuple[tuple[int, int], ...] = ()
    script: str = ""


@dataclass(frozen=True)
class Report:
    """The outcome of a verification.

    reason: one line; why it failed or could not be done, else what was shown.
    untrained: whether the original comes to no training step, so that nothing of the conversion was seen.
    late: whether the time was up before there was anything to compare.
    neutralised: random operations that were held still, {kind: number of operations}.
    log: the end of the output of a script that failed by itself.
    ledger: what all of it comes to.
    losses: of each compared step.
    original, converted: an executed step of each script; origin: of the conversion. Not in the JSON.
    command: the command line that verifies the same again.
    where: the devices that the towers ran on, as said by the process that ran them.
    processes: whether the scripts shared one import of TensorFlow, and why not, and the most memory that they were seen
        to take together; "" where none came to run.
    """

    verdict: Verdict
    reason: str
    gpus: int
    batch: BatchMode
    steps: int
    checks: tuple[CheckResult, ...] = ()
    variables: tuple[VariableRow, ...] = ()
    devices: tuple[DeviceRow, ...] = ()
    versions: tuple[tuple[str, str], ...] = ()
    neutralised: tuple[tuple[str, int], ...] = ()
    notes: tuple[str, ...] = ()
    log: str = ""
    seconds: float = 0.0
    ledger: tuple[LedgerLine, ...] = ()
    losses: tuple[LossRow, ...] = ()
    original: StepTrace | None = None
    converted: StepTrace | None = None
    origin: ConversionOrigin = ConversionOrigin()
    command: str = ""
    processes: str = ""
    untrained: bool = False
    late: bool = False
    where: str = "virtual CPU devices"

    @property
    def status(self) -> Status:
        """The verdict as that of a check."""
        return "skipped" if self.verdict == "not comparable" else self.verdict


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

    content = asdict(replace(report, original=None, converted=None, origin=ConversionOrigin()))
    for name in ("original", "converted", "origin"):
        del content[name]
    content["versions"] = dict(report.versions)
    content["neutralised"] = dict(report.neutralised)
    result: dict[str, Any] = plain(content)
    return result
