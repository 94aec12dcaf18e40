"""Other scripts of a project, run after training in the original's tree and in the converted one.

Both read the same checkpoint: once the one that the original's training leaves, once the conversion's. So what they
print has to be the same, though the two trainings took other batches.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import time
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from converter.source.project.above import start_of
from converter.verify.checks.untrained import Said, unlike_lines
from converter.verify.data import CheckResult, Report, VerifyError, VerifySettings
from converter.verify.processes.answer import clean, find_interpreter
from converter.verify.processes.child_process import Event, Limits, MemoryIsUp, TimeIsUp, environment
from converter.verify.processes.interpreters import Interpreters
from converter.verify.processes.layout import Copy, layout_of
from converter.verify.processes.output import Output
from converter.verify.processes.runner import Job, Runner
from converter.verify.processes.workspace import read_towers, set_gpus, work_folder
from converter.verify.runs.data_outside import with_data

TRAINING = 0.4  # of the time, at most, for what leaves a checkpoint
SIDES = ("original", "converted")


def with_others(report: Report, single: Path, multi: Path, settings: VerifySettings, pool: Interpreters) -> Report:
    """The report with a check for each script of `settings.also`, which are paths from the scripts' folders."""
    if report.verdict == "not comparable" and not report.checks:
        return report
    single, multi = single.resolve(), multi.resolve()
    for name in settings.also:
        if not (single.parent / name).is_file():
            raise VerifyError(f"{name}: no such file beside {single.name}")
    with work_folder(pool.guard) as work:
        project = _Project(work=work, single=single, multi=multi, gpus=report.gpus, settings=settings, pool=pool)
        checks = [check for name in settings.also for check in project.checks(name)]
    failed = [check for check in checks if check.status == "failed"]
    order = ("passed", "failed", "skipped")
    entries = [check.entry() for check in sorted(checks, key=lambda check: order.index(check.status))]
    report = replace(report, checks=(*report.checks, *checks), ledger=(*report.ledger, *entries))
    if failed and report.verdict != "failed":
        return replace(report, verdict="failed", reason=f"{failed[0].name}: {failed[0].detail}")
    return report


class _Project:
    """Copies of both trees, with what each training leaves in them."""

    def __init__(
        self, work: Path, single: Path, multi: Path, gpus: int, settings: VerifySettings, pool: Interpreters
    ) -> None:
        self.work, self.single, self.multi, self.gpus = work, single, multi, gpus
        self.settings, self.pool = settings, pool
        self.python = find_interpreter(settings.python)
        self.until = time.monotonic() + settings.timeout
        self.runs = 0
        self.layout = with_data(layout_of(single, multi), settings.args, settings.data)
        self.trained = {side: self._train(side) for side in SIDES}

    def _tree(self, side: str, folder: Path) -> tuple[Copy, tuple[str, ...]]:
        """A fresh copy of a side's tree: its training script and that script's arguments."""
        if side == "original":
            return self.layout.original(folder), self.settings.args
        copy = self.layout.converted(folder, {})
        way = read_towers(self.multi, root=self.layout.root).way
        return copy, set_gpus(copy.script, self.gpus, self.settings.args, way, copy.root)

    def _train(self, side: str) -> dict[str, Path] | str:
        """The files that a training leaves, by their paths from the tree's root; or why there are none."""
        folder = self.work / f"trained-{side}"
        script, args = self._tree(side, folder)
        before = _files(folder)
        left = (self.until - time.monotonic()) * TRAINING
        more = {"role": "train", "title": f"the training of the {side} tree", "steps": self.settings.steps}
        try:
            event = self._last_event(script, args, left, more)
        except (TimeIsUp, MemoryIsUp):
            event = {"event": "trained"}  # what was left until then counts
        if event["event"] != "trained":
            return str(event.get("message") or "it ended without a training step")
        now = _files(folder)
        return {
            name: path
            for name, (path, stamp) in now.items()
            if before.get(name, (path, None))[1] != stamp and not name.endswith((".py", ".pyc"))
        }

    def checks(self, name: str) -> Iterator[CheckResult]:
        """One check for each training that left files, or one that says why there is none."""
        for side in SIDES:
            title = f"{name} after the {'original' if side == 'original' else 'conversion'}'s training"
            left = self.trained[side]
            if isinstance(left, str):
                yield CheckResult(title, "skipped", f"the training leaves no files: {left}")
            else:
                yield self._compared(title, name, left)

    def _compared(self, title: str, name: str, left: dict[str, Path]) -> CheckResult:
        own = self._run("original", name, left)
        if own.problem:
            return CheckResult(title, "skipped", f"in the original tree it fails: {own.problem}")
        theirs = self._run("converted", name, left)
        if theirs.problem:
            return CheckResult(title, "failed", f"in the converted tree it fails: {theirs.problem}")
        unlike = unlike_lines(own.text, theirs.text)
        if unlike:  # lines that differ in two runs of the original, such as times, say nothing
            loose = unlike_lines(own.text, self._run("original", name, left).text)
            unlike = {number: pair for number, pair in unlike.items() if number not in loose}
        if unlike:
            number, (wanted, found) = min(unlike.items())
            return CheckResult(title, "failed", f"line {number} is {found.strip()!r} instead of {wanted.strip()!r}")
        count = len(own.text.splitlines())
        return CheckResult(title, "passed", f"prints the same {count} lines from the same {len(left)} files")

    def _run(self, side: str, name: str, left: dict[str, Path]) -> Said:
        """What a script prints in a side's tree with the files that a training has left."""
        self.runs += 1
        folder = self.work / f"run-{self.runs}" / "tree"
        trained, _ = self._tree(side, folder)
        for place, path in left.items():
            (folder / place).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, folder / place)
        told = folder.parent / "said"
        said = Output(told)
        script = Path(os.path.normpath(trained.script.parent / name))
        more = {"role": "print", "title": name, "said": str(told)}
        try:
            ran = Copy(script, folder, start_of(str(script)))
            event = self._last_event(ran, (), self.until - time.monotonic(), more)
        except TimeIsUp:
            return Said("", problem="no end in time (--timeout)")
        except MemoryIsUp as excess:
            return Said("", problem=f"it takes {excess}")
        finally:
            said.close()
        ended = "" if event["event"] == "ended" else f"its process ended ({event.get('status', event['event'])})"
        problem = clean(str(event.get("message") or ended), folder.parent)
        return Said(clean(said.text(), folder.parent), problem=problem)

    def _last_event(self, script: Copy, args: Iterable[str], seconds: float, more: Job) -> Event:
        """How a run of so many seconds ends; more: what its job says beside the script."""
        self.runs += 1
        work = self.work / f"job-{self.runs}"
        work.mkdir()
        job = {**script.job(args, work), **more, "gpus": self.gpus, "network": self.settings.network}
        limits = Limits(time.monotonic() + max(1.0, seconds))
        return Runner(self.pool, self.python, limits).last_event(job, environment(self.gpus))


def _files(folder: Path) -> dict[str, tuple[Path, tuple[int, int]]]:
    """{path from the folder: (path, (size, time of the last change))}."""
    found = {}
    for path in folder.rglob("*"):
        with contextlib.suppress(OSError):
            if path.is_file():
                status = path.stat()
                found[str(path.relative_to(folder))] = (path, (status.st_size, status.st_mtime_ns))
    return found
