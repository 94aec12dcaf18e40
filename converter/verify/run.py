"""One verification from beginning to end."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from converter.verify.child_process import Child, Event, TimeIsUp, environment
from converter.verify.data import BatchMode, Report, Settings, Verdict, VerifyError
from converter.verify.judge import judge, unlike
from converter.verify.workspace import copy_folder, read_towers, set_gpus

NAMES = {"record": "the converted script", "replay": "the original script"}


@dataclass(frozen=True)
class _Asked:
    """Settings with nothing left open."""

    gpus: int
    batch: BatchMode
    steps: int
    rate: str


class _Stopped(Exception):
    """Ends a verification without figures; a conversion that alone does not run has failed."""

    def __init__(self, reason: str, log: str = "", verdict: Verdict = "not comparable") -> None:
        super().__init__(reason)
        self.reason, self.log, self.verdict = reason, log, verdict


def verify(single: Path, multi: Path, settings: Settings | None = None) -> Report:
    """Compares a converted script with its original.

    Raises VerifyError when it cannot begin. A script that fails by itself, or never trains, gives
    a report with the verdict "not comparable" (the original) or "failed" (the conversion alone).
    """
    settings = settings or Settings()
    begin = time.monotonic()
    single, multi = single.resolve(), multi.resolve()
    for path in (single, multi):
        if not path.is_file():
            raise VerifyError(f"{path.name}: no such file")
    if settings.steps < 1 or (settings.gpus is not None and settings.gpus < 1):
        raise VerifyError("the numbers of GPUs and of steps must be 1 or more")
    towers = read_towers(multi)
    asked = _Asked(
        settings.gpus or towers.gpus or 2,
        settings.batch or towers.batch or "per-gpu",
        settings.steps,
        towers.rate,
    )
    with tempfile.TemporaryDirectory(prefix="tf-multigpu-verify-", ignore_cleanup_errors=True) as folder:
        work = Path(folder).resolve()
        multi_copy, notes = copy_folder(multi, work / "converted")
        single_copy, more = copy_folder(single, work / "original")
        args = set_gpus(multi_copy, asked.gpus, settings.args, towers.way)
        jobs = {
            "record": _job("record", multi_copy, args, asked, work),
            "replay": _job("replay", single_copy, settings.args, asked, work),
        }
        try:
            report = _run(jobs, asked, settings, begin + settings.timeout)
        except _Stopped as problem:
            report = Report(problem.verdict, problem.reason, asked.gpus, asked.batch, 0, log=problem.log)
        report = replace(report, reason=_clean(report.reason, work), log=_clean(report.log, work))
    left_out = tuple(dict.fromkeys(notes + more))
    return replace(report, notes=report.notes + left_out, seconds=round(time.monotonic() - begin, 2))


def _job(role: str, script: Path, args: tuple[str, ...], asked: _Asked, work: Path) -> dict[str, Any]:
    return {
        "role": role,
        "script": str(script),
        "args": list(args),
        "gpus": asked.gpus,
        "steps": asked.steps,
        "total": asked.batch == "total",
        "work": str(work),
        "record": str(work / "record.pickle"),
        "log": str(work / f"{role}.log"),
    }


def _clean(text: str, work: Path) -> str:
    for folder in ("converted", "original"):
        text = text.replace(str(work / folder) + os.sep, "")
    return text.replace(str(work) + os.sep, "")


def _run(jobs: dict[str, dict[str, Any]], asked: _Asked, settings: Settings, deadline: float) -> Report:
    """Both scripts come to their first training step side by side; then one is recorded, one replayed."""
    python = _interpreter(settings.python)
    settled = environment(asked.gpus)
    try:
        with (
            Child(python, jobs["record"], settled, deadline) as multi,
            Child(python, jobs["replay"], settled, deadline) as single,
        ):
            return _follow(single, multi, asked)
    except TimeIsUp:
        raise _Stopped(f"no result after {settings.timeout:g} seconds (--timeout)") from None
    except (FileNotFoundError, PermissionError) as error:
        raise VerifyError(f"{python}: cannot be run ({error.strerror})") from None


def _interpreter(named: str | None) -> str:
    """The interpreter as something that can be run from any folder; links are kept (virtual environments)."""
    if named is None:
        return sys.executable
    found = shutil.which(os.path.expanduser(named))
    if found is None:
        raise VerifyError(f"{named}: no such interpreter")
    return os.path.abspath(found)


def _follow(single: Child, multi: Child, asked: _Asked) -> Report:
    started = _expect(single, "started")
    mine = _expect(single, "ready")
    _expect(multi, "started")
    theirs = _expect(multi, "ready")
    stop = unlike(mine, theirs, asked.gpus, asked.batch)
    if stop:
        return stop
    multi.send(
        inputs=mine["inputs"], checkpoint=mine["checkpoint"], checkpoint_values=mine["checkpoint_values"]
    )
    recorded = _expect(multi, "recorded")
    single.send(record=str(multi.log.parent / "record.pickle"))
    replayed = _expect(single, "replayed")
    versions = (("TensorFlow", started["tensorflow"]), ("Python", started["python"]))
    report = judge(mine, theirs, recorded, replayed, asked.gpus, asked.batch, asked.steps, asked.rate)
    return replace(report, versions=versions)


def _expect(child: Child, wanted: str) -> Event:
    """The event with this name; another one means that the script cannot be compared."""
    event = child.event()
    name = NAMES[child.role]
    verdict: Verdict = "failed" if child.role == "record" else "not comparable"
    if event["event"] == wanted:
        return event
    if event["event"] == "no tensorflow":
        raise VerifyError(
            f"TensorFlow cannot be imported by this interpreter ({event['message']}); install the extra "
            "`verify`, or name an interpreter that has TensorFlow with --python"
        )
    if event["event"] == "broken":
        raise RuntimeError(f"the probe failed in {name}:\n{event['trace']}")
    if event["event"] == "died":
        raise _Stopped(f"{name} ended its process (status {event['status']})", child.tail(), verdict)
    if event["event"] == "ended" and event["message"]:
        where = (
            "in its first training steps"
            if wanted in ("recorded", "replayed")
            else "before its first training step"
        )
        raise _Stopped(f"{name} failed {where}: {event['message']}", event["trace"] or child.tail(), verdict)
    if event["event"] == "ended":
        raise _Stopped(
            f"{name} ended without a training step (no run of an optimizer's train op was seen)",
            child.tail(),
            verdict,
        )
    raise RuntimeError(f"unexpected event {event['event']!r} from {name}")
