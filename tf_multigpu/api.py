"""What a program calls: a script in, the converted text or the outcome of the proof out, as plain data."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from converter.choices import (
    BatchMode,
    EvalBatch,
    FewerGpus,
    Helpers,
    LossMode,
    ScaleLr,
    ScaleSteps,
    Shard,
    Target,
    Variables,
    Warnings,
)
from converter.dataclass import dataclass
from converter.diagnostics import Diagnostic, Refusal
from converter.options import Options
from converter.source.header import from_flags
from converter.verify.data import Report, VerifyError

__all__ = [
    "ConvertResult",
    "Difference",
    "File",
    "Finding",
    "VerifyError",
    "VerifyResult",
    "convert",
    "verify",
]

PathLike = str | os.PathLike[str]


@dataclass(frozen=True)
class Finding:
    """Something to say about a place in a script.

    code: as `tf-multigpu explain CODE` takes it. severity: an error means that the script is refused.
    line, column: from one; line 0 is the file as a whole. hint: what to do about it, "" for nothing.
    cell: of a notebook, from one among all its cells, in which line and column are meant; 0 for a script.
    """

    code: str
    severity: Literal["error", "warning", "info"]
    path: str
    line: int
    column: int
    message: str
    hint: str = ""
    cell: int = 0


@dataclass(frozen=True)
class File:
    """A file of the project as the conversion writes it.

    path: where it lies, relative as the script's path is. new: whether the project has no such file yet.
    data: its bytes, in the file's own encoding.
    """

    path: str
    data: bytes
    new: bool = False


@dataclass(frozen=True)
class ConvertResult:
    """What became of one script. Nothing was written.

    status: "unchanged" means that there is nothing to convert, or that the script is a conversion already.
    text: the converted script, None unless converted.
    files: the script and all files of its project that have to change with it; empty unless converted.
    """

    status: Literal["converted", "unchanged", "refused"]
    text: str | None
    files: tuple[File, ...]
    findings: tuple[Finding, ...]


@dataclass(frozen=True)
class Difference:
    """One line of the ledger of a proof.

    fate: "same" within the tolerance, "differs" by design, "wrong", or "unchecked".
    figure: the largest error, or how much it differs, where that is a number.
    """

    fate: Literal["same", "differs", "wrong", "unchecked"]
    what: str
    detail: str
    figure: float | None = None


@dataclass(frozen=True)
class VerifyResult:
    """The outcome of a proof.

    verdict: "not comparable" means that the original failed by itself or never trained.
    reason: one line: what was shown, or why not.
    """

    verdict: Literal["passed", "failed", "not comparable"]
    reason: str
    gpus: int
    steps: int
    batch: BatchMode
    ledger: tuple[Difference, ...]
    seconds: float


def convert(
    script: PathLike,
    *,
    num_gpus: int | Literal["auto"] = 2,
    batch: BatchMode = "per-gpu",
    loss: LossMode = "towers",
    target: Target = "auto",
    variables: Variables = "cpu",
    scale_lr: ScaleLr = "none",
    scale_steps: ScaleSteps = "keep",
    eval_batch: EvalBatch = "grow",
    gpu_memory: str | float = "growth",
    fewer_gpus: FewerGpus = "refuse",
    shared: Sequence[str] = (),
    batch_axis: Mapping[str, int] | None = None,
    line_length: int | None = None,
    helpers: Helpers = "inline",
    warnings: Warnings = "report",
    shard: Shard = "rows",
) -> ConvertResult:
    """Converts one script with the files of its project that it imports; writes nothing.

    The parameters are the options of `tf-multigpu convert`. A script that cannot be converted or read gives the status
    "refused", with the reason among the findings.

    Raises:
        ValueError: an option's value is none that it can have.
    """
    from converter.conversion import convert as convert_source
    from converter.source import read

    flags = ["--num-gpus", str(num_gpus), "--batch", batch, "--loss", loss, "--variables", variables]
    flags += ["--target", target, "--helpers", helpers, "--warnings", warnings, "--shard", shard]
    flags += ["--scale-lr", scale_lr, "--scale-steps", scale_steps, "--eval-batch", eval_batch]
    flags += ["--gpu-memory", str(gpu_memory), "--fewer-gpus", fewer_gpus]
    flags += [] if line_length is None else ["--line-length", str(line_length)]
    for name in shared:
        flags += ["--shared", name]
    for name, axis in (batch_axis or {}).items():
        flags += ["--batch-axis", f"{name}={axis}"]
    options: Options = from_flags(flags)
    try:
        done = convert_source(read(os.fspath(script)), options, several=True)
    except Refusal as refusal:
        return ConvertResult("refused", None, (), (_finding(refusal.diagnostic),))
    findings = tuple(map(_finding, done.diagnostics))
    if done.text is None:
        return ConvertResult("unchanged" if done.status == "unchanged" else "refused", None, (), findings)
    if any(finding.code == "TMG022" for finding in done.diagnostics):
        return ConvertResult("refused", None, (), tuple(one for one in findings if one.code == "TMG022"))
    from converter.source import encode

    files = [File(done.source.path, encode(done.source, done.text))]
    for part in done.parts:
        data = part.text.encode() if part.source is None else encode(part.source, part.text)
        files.append(File(part.path, data, new=part.source is None and not os.path.exists(part.path)))
    return ConvertResult("converted", done.text, tuple(files), findings)


def verify(
    single: PathLike,
    multi: PathLike,
    *,
    gpus: int | None = None,
    steps: int | Literal["all"] = 3,
    epochs: int = 0,
    batch: BatchMode | None = None,
    python: str | None = None,
    args: Sequence[str] = (),
    timeout: float = 600.0,
    memory: float | None = None,
    network: bool = False,
    whole: bool = False,
) -> VerifyResult:
    """Runs the original and the converted script on virtual devices and compares their training steps.

    The parameters are the options of `tf-multigpu verify`; args: the command line arguments of both scripts.

    Raises:
        VerifyError: the proof cannot begin: a file is missing, or the interpreter has no TensorFlow.
    """
    from converter.verify import VerifySettings, verify_more
    from converter.verify import verify as once

    settings = VerifySettings(
        gpus=gpus,
        steps=steps,
        batch=batch,
        python=python,
        args=tuple(args),
        timeout=timeout,
        memory=memory,
        network=network,
        epochs=epochs,
        whole=whole,
    )
    return _result((verify_more if whole else once)(Path(single), Path(multi), settings))


def _result(report: Report) -> VerifyResult:
    ledger = tuple(Difference(entry.fate, entry.what, entry.detail, entry.figure) for entry in report.ledger)
    return VerifyResult(
        verdict=report.verdict,
        reason=report.reason,
        gpus=report.gpus,
        steps=report.steps,
        batch=report.batch,
        ledger=ledger,
        seconds=report.seconds,
    )


def _finding(found: Diagnostic) -> Finding:
    return Finding(
        code=found.code,
        severity=found.severity,
        path=found.path,
        line=found.line,
        column=found.column,
        message=found.message,
        hint=found.hint,
        cell=found.cell,
    )
