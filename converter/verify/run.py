"""One verification from beginning to end."""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from converter.dataclass import dataclass
from converter.diagnostics import Refusal
from converter.source import read
from converter.source.viewed import viewed
from converter.verify.checks.lines import PlannedLines, planned_lines
from converter.verify.checks.slices import join_slices, wholes_in
from converter.verify.data import ALL_STEPS, ConversionOrigin, LedgerLine, Progress, Report, VerifyError, VerifySettings
from converter.verify.judge import ComparisonSettings, judge, unlike
from converter.verify.ledger import ledger, of_checks, of_later_steps, of_origin, of_outside
from converter.verify.notebooks import in_cells
from converter.verify.origin import origin_of, repeat
from converter.verify.processes.answer import Stopped, clean, expect, fails_too, find_interpreter
from converter.verify.processes.child_process import (
    GIB,
    Child,
    Event,
    Limits,
    MemoryIsUp,
    TimeIsUp,
    environment,
    how_started,
    memory_taken,
)
from converter.verify.processes.family import memory_of_machine
from converter.verify.processes.interpreters import Interpreters, opened
from converter.verify.processes.layout import Copy, Layout, layout_of
from converter.verify.processes.machine import CPU, devices_for
from converter.verify.processes.workspace import (
    ConversionHeader,
    check_scripts,
    read_towers,
    set_gpus,
    work_folder,
)
from converter.verify.runs import cluster, ddp, shared_paths
from converter.verify.runs.constants import set_constants
from converter.verify.runs.converted_alone import with_bare
from converter.verify.runs.data_outside import with_data
from converter.verify.runs.flags import not_run
from converter.verify.runs.other_scripts import with_others
from converter.verify.runs.stopping import early_stopping, kept_by_values
from converter.verify.runs.strategy import CONVERSION, ORIGINAL, compare_strategies
from converter.verify.runs.untrained import Runner, with_evaluation
from converter.verify.runs.untrained import job as evaluation_job
from converter.verify.runs.whole import Ran, run_whole, sizes_of_steps, with_whole
from converter.verify.runs.whole import job as whole_job
from converter.verify.traces import losses, step_trace

TITLES = {
    "record": "the converted script",
    "replay": "the original script",
    "bare": "the converted script by itself",
    CONVERSION: "the converted script",
    ORIGINAL: "the original script",
    ddp.PROCESS: "the converted script",
    ddp.ORIGINAL: "the original script",
    cluster.WORKER: "the converted script",
    cluster.ORIGINAL: "the original script",
}
# The roles of the conversion and of the original, and what compares them, where towers do not train.
OTHERS = {
    "mirrored": (CONVERSION, ORIGINAL, compare_strategies),
    "ddp": (ddp.PROCESS, ddp.ORIGINAL, ddp.compare_processes),
    "cluster": (cluster.WORKER, cluster.ORIGINAL, cluster.compare_workers),
}
_TRAINS = {
    "mirrored": "tf.distribute.MirroredStrategy",
    "ddp": "DistributedDataParallel",
    "cluster": "the workers of a cluster",
}
PATIENCE = 30.0  # seconds to wait for the run by itself once everything else is done


def verify(
    single: Path,
    multi: Path,
    settings: VerifySettings | None = None,
    parts: Mapping[str, bytes] | None = None,
    tell: Callable[[Progress], None] | None = None,
    pool: Interpreters | None = None,
) -> Report:
    """Compares a converted script with its original.

    parts: other files as they are to be in the converted script's folder, by their paths from there.
        What that folder lacks of the original's is filled in.
    tell: called with how far it has come.
    pool: what has imported TensorFlow already, for several verifications; else it is imported for this one.

    Raises VerifyError when it cannot begin. A script that fails by itself, or never trains, gives
    a report with the verdict "not comparable" (the original) or "failed" (the conversion alone).
    """
    settings = settings or VerifySettings()
    begin = time.monotonic()
    _check(single, multi, settings)
    command = command_line(single, multi, settings)
    single, multi = single.resolve(), multi.resolve()
    parts = parts or {}
    layout = with_data(layout_of(single, multi), settings.args, settings.data)
    if settings.constants:
        layout = replace(layout, set_up=partial(set_constants, constants=settings.constants))
    towers = read_towers(multi, parts, layout.root)
    if towers.target == "mirrored" and towers.gpus not in (None, settings.gpus or towers.gpus):
        hint = f"convert it anew with --num-gpus {settings.gpus}"
        raise VerifyError(f"{multi.name} is written for {towers.gpus} GPUs: {hint}")
    asked = replace(_comparison_settings(settings, towers), by_values=kept_by_values(single))
    if towers.target in OTHERS and (settings.epochs or settings.steps == "all"):
        raise VerifyError(f"--epochs and --steps all are for towers, not for {_TRAINS[towers.target]}")
    if towers.target in OTHERS and settings.devices == "gpu":
        raise VerifyError(f"--devices gpu is for towers, not for {_TRAINS[towers.target]}")
    if towers.target == "cluster" and settings.also:
        raise VerifyError("--also is for towers and strategies, not for the workers of a cluster")
    if towers.target == "ddp" and settings.also:
        raise VerifyError("--also is for scripts that TensorFlow runs, not for PyTorch's")
    # the conversion is made again while the scripts import TensorFlow
    with ThreadPoolExecutor(1) as beside, opened(pool) as interpreters:
        made = beside.submit(repeat, single, multi, parts)
        files = _Files(layout, parts, towers.way, interpreters)
        report, left_out = _undisturbed(files, asked, settings, lambda: planned_lines(made.result()), tell or _nobody)
        origin = origin_of(made.result())
        if settings.also:
            report = with_others(report, single, multi, settings, interpreters)
    report = replace(report, ledger=(*report.ledger, *_not_seen(single, asked, settings), *of_origin(origin)))
    return replace(
        in_cells(_with_warnings(report, origin), single),
        notes=report.notes + left_out + _without_gpus(report, settings),
        origin=origin,
        command=command,
        seconds=round(time.monotonic() - begin, 2),
    )


def _comparison_settings(settings: VerifySettings, towers: ConversionHeader) -> ComparisonSettings:
    """What is compared; what the settings leave open, the converted script says."""
    gpus = settings.gpus or towers.gpus or 2
    return ComparisonSettings(
        gpus,
        settings.batch or towers.batch or "per-gpu",
        ALL_STEPS if settings.steps == "all" else settings.steps,
        towers.rate,
        towers.target,
        loss=towers.loss,
        shard=towers.shard,
        devices=devices_for(settings.devices, gpus) if towers.target == "towers" else CPU,
    )


def _not_seen(single: Path, asked: ComparisonSettings, settings: VerifySettings) -> Iterator[LedgerLine]:
    """What the original's text shows, and no run does."""
    yield from not_run(single, settings.args)
    if asked.target == "towers":
        yield from early_stopping(single)


def _with_warnings(report: Report, origin: ConversionOrigin) -> Report:
    """Names the conversion's warnings in the reason of a failure: they may say what has failed."""
    warned = [f"{found.code} {found.where}" for found in origin.findings if found.severity == "warning"]
    if report.verdict != "failed" or not warned:
        return report
    return replace(report, reason=f"{report.reason} (the conversion warns: {', '.join(warned[:3])})")


def _without_gpus(report: Report, settings: VerifySettings) -> tuple[str, ...]:
    """Says that GPUs were asked for and did not run."""
    if settings.devices != "gpu" or not report.versions or report.where != Report.where:
        return ()
    return (f"--devices gpu: no GPU that this TensorFlow can use was found, so the towers ran on {report.where}",)


def _nobody(progress: Progress) -> None:
    """The default for `tell`: does nothing."""


def _check(single: Path, multi: Path, settings: VerifySettings) -> None:
    check_scripts(single, multi)
    if (settings.steps != "all" and settings.steps < 1) or (settings.gpus is not None and settings.gpus < 1):
        raise VerifyError("the numbers of GPUs and of steps must be 1 or more")
    if settings.memory is not None and settings.memory <= 0:
        raise VerifyError("the memory must be more than 0 GiB")
    if settings.python is None and _is_python_2(single):
        hint = "name an interpreter for it that has TensorFlow, as in --python python2.7"
        raise VerifyError(f"{single.name} is Python 2: {hint}")


def _is_python_2(script: Path) -> bool:
    with suppress(Refusal):
        return viewed(read(str(script))).python2
    return False


def command_line(single: Path, multi: Path, settings: VerifySettings) -> str:
    """The command line that asks for the same."""
    words = ["tf-multigpu", "verify", str(single), str(multi)]
    default = VerifySettings()
    gpus = ",".join(map(str, (settings.gpus, *settings.more_gpus))) if settings.gpus else None
    for flag, value, usual in (
        ("--gpus", gpus, default.gpus),
        ("--steps", settings.steps, default.steps),
        ("--epochs", settings.epochs, default.epochs),
        ("--batch", settings.batch, default.batch),
        ("--python", settings.python, default.python),
        ("--timeout", settings.timeout, default.timeout),
        ("--memory", settings.memory, default.memory),
        ("--devices", settings.devices, default.devices),
    ):
        if value != usual:
            words += [flag, f"{value:g}" if isinstance(value, float) else str(value)]
    words += [*["--whole"] * settings.whole, *["--each-choice"] * settings.each_choice]
    words += ["--network"] * settings.network
    words += [word for name in settings.also for word in ("--also", name)]
    words += [word for name in settings.data for word in ("--data-dir", name)]
    return shlex.join([*words, *(("--", *settings.args) if settings.args else ())])


@dataclass(frozen=True)
class _Files:
    """The files to copy and the interpreter for them; way: how the number of towers is set in the converted one."""

    layout: Layout
    parts: Mapping[str, bytes]
    way: str
    pool: Interpreters


@dataclass(frozen=True)
class _Means:
    """The limits, processes and interpreter that the scripts run with, and the plan of the conversion."""

    pool: Interpreters
    python: str
    limits: Limits
    plan: Callable[[], PlannedLines]


def _undisturbed(
    files: _Files,
    asked: ComparisonSettings,
    settings: VerifySettings,
    plan: Callable[[], PlannedLines],
    tell: Callable[[Progress], None],
) -> tuple[Report, tuple[str, ...]]:
    """As `_in_copies`; where runs that change the same paths may have failed for that, they run one after the other."""
    until = time.monotonic() + settings.timeout
    limits = Limits(until, _memory(settings))
    report, left_out = _in_copies(files, asked, settings, plan, tell, limits)
    paths = shared_paths.shared(child.outside for child in limits.children)
    may_be = report.verdict == "failed" or any(child.failed for child in limits.children)
    if report.verdict == "passed" or not may_be or not paths or asked.target in OTHERS:
        return report, left_out
    limits = Limits(until, limits.memory)
    report, left_out = _in_copies(files, replace(asked, apart=paths), settings, plan, tell, limits)
    return shared_paths.with_paths(report, paths), left_out


def _in_copies(
    files: _Files,
    asked: ComparisonSettings,
    settings: VerifySettings,
    plan: Callable[[], PlannedLines],
    tell: Callable[[Progress], None],
    limits: Limits,
) -> tuple[Report, tuple[str, ...]]:
    """The report of running both in copies of their folders, and what of these was left out."""
    with work_folder(files.pool.guard) as work:
        means = _Means(files.pool, find_interpreter(settings.python), limits, plan)
        multi = files.layout.converted(work / "converted", files.parts)
        single = files.layout.original(work / "original")
        args = set_gpus(multi.script, asked.gpus, settings.args, files.way, multi.root)
        other = OTHERS.get(asked.target)
        first, second = other[:2] if other else ("record", "replay")
        jobs = {
            first: _job(first, multi, args, asked, work),
            second: _job(second, single, settings.args, asked, work),
        }
        if not other:
            jobs["bare"] = _job("bare", multi.again(work / "bare"), args, asked, work)
        for job in jobs.values():
            job["network"] = settings.network
            job["seconds"] = settings.timeout / 8 if settings.steps == "all" else None
        try:
            if other:
                with _bounded(settings, means):
                    report = other[2](jobs, asked, means.pool, means.python, limits, tell)
            else:
                answers = _run(
                    jobs, lambda: _original_alone(single, jobs["replay"], work), asked, settings, means, tell
                )
                if answers.replayed and (settings.epochs or settings.steps == "all"):
                    answers = replace(answers, whole=_whole(files, jobs, answers.replayed, asked, settings, means))
                report = _judged(answers, asked, plan)
        except Stopped as problem:
            nothing = LedgerLine("unchecked", "everything", problem.reason)
            report = Report(problem.verdict, problem.reason, asked.gpus, asked.batch, 0, ledger=(nothing,))
            report = replace(report, log=problem.log, untrained=problem.untrained, late=problem.late)
            if problem.evaluated and not other:
                report = _evaluated(files, jobs, report, asked, settings, means)
        report = replace(report, reason=clean(report.reason, work), log=clean(report.log, work))
    return report, tuple(dict.fromkeys(multi.notes + single.notes))


def _evaluated(
    files: _Files,
    jobs: dict[str, dict[str, Any]],
    stopped: Report,
    asked: ComparisonSettings,
    settings: VerifySettings,
    means: _Means,
) -> Report:
    """Whole runs of both in which nothing trains, in new copies of their folders."""
    work = Path(jobs["record"]["work"])
    multi = files.layout.converted(work / "evaluated_converted" / "run", files.parts)
    args = set_gpus(multi.script, asked.gpus, settings.args, files.way, multi.root)

    def original(name: str) -> dict[str, Any]:
        copy = files.layout.original(work / name / "run")
        return evaluation_job(jobs["replay"], copy, settings.args, work / name)

    theirs = evaluation_job(jobs["record"], multi, args, work / "evaluated_converted")
    runner = Runner(means.pool, means.python, means.limits, environment(asked.gpus, asked.devices))
    return with_evaluation(stopped, theirs, original, runner, asked.batches)


def _whole(
    files: _Files,
    jobs: dict[str, dict[str, Any]],
    replayed: Event,
    asked: ComparisonSettings,
    settings: VerifySettings,
    means: _Means,
) -> Ran:
    """Whole runs of both, in new copies of their folders."""
    work = Path(jobs["record"]["work"])
    multi = files.layout.converted(work / "whole_converted" / "run", files.parts)
    single = files.layout.original(work / "whole_original" / "run")
    args = set_gpus(multi.script, asked.gpus, settings.args, files.way, multi.root)
    theirs = whole_job(jobs["record"], multi, args, replayed, settings.epochs)
    mine = whole_job(jobs["replay"], single, settings.args, replayed, settings.epochs)
    return run_whole((theirs, mine), means.pool, means.python, means.limits, asked)


def _job(role: str, copy: Copy, args: tuple[str, ...], asked: ComparisonSettings, work: Path) -> dict[str, Any]:
    return {
        "role": role,
        "title": TITLES[role],
        **copy.job,
        "args": list(args),
        "gpus": asked.gpus,
        "steps": asked.steps,
        "total": asked.batch == "total",
        "added": asked.loss == "global",
        "work": str(work),
        "record": str(work / "record.pickle"),
        "log": str(work / f"{role}.log"),
        **asked.devices.job,
    }


def _original_alone(single: Copy, like: dict[str, Any], work: Path) -> dict[str, Any]:
    """The job of the original's run by itself, in a copy of its own."""
    copy = single.again(work / "original_alone")
    return {**like, **copy.job, "role": "bare", "log": str(work / "original_alone.log")}


def _memory(settings: VerifySettings) -> int:
    """What the scripts may take, in bytes."""
    return int(memory_of_machine() * 0.75) if settings.memory is None else int(settings.memory * GIB)


def _run(
    jobs: dict[str, dict[str, Any]],
    original_alone: Callable[[], dict[str, Any]],
    asked: ComparisonSettings,
    settings: VerifySettings,
    means: _Means,
    tell: Callable[[Progress], None],
) -> _Answers:
    """Runs both scripts up to their first training step at the same time; then records one and replays the other."""
    settled, limits = environment(asked.gpus, asked.devices), means.limits
    without_gpus = environment(asked.gpus)
    alone = partial(Child, means.pool, means.python, jobs["bare"], without_gpus, limits)

    def original() -> Child:
        return Child(means.pool, means.python, original_alone(), without_gpus, limits)

    stages = _Stages(asked.steps, tell)
    stages.begin("starting TensorFlow")
    with _bounded(settings, means), ExitStack() as running:

        def begin(role: str) -> Child:
            return running.enter_context(
                Child(
                    pool=means.pool,
                    python=means.python,
                    job=jobs[role],
                    environment=settled,
                    limits=limits,
                    on_step=stages.step,
                )
            )

        multi = None if asked.apart else begin("record")
        later = _Later(alone, original, means.plan)
        answers = _follow(begin("replay"), lambda: multi or begin("record"), later, asked, stages)
        found = [how_started(limits.children), memory_taken(limits)]
        return replace(answers, processes=", ".join(filter(None, found)))


@contextmanager
def _bounded(settings: VerifySettings, means: _Means) -> Iterator[None]:
    """Turns the ends of time or memory, and an interpreter that does not start, into `Stopped`."""
    try:
        yield
    except TimeIsUp:
        stood = "; ".join(dict.fromkeys(child.stood() for child in means.limits.children))
        reason = f"no result after {settings.timeout:g} seconds (--timeout)" + (f": {stood}" if stood else "")
        advice = "the scripts take arguments behind --, as in: -- --max_steps 10"
        raise Stopped(f"{reason}; {advice}", late=True) from None
    except MemoryIsUp as excess:
        allowed = f"{means.limits.memory / GIB:.3g} GiB"
        raise Stopped(f"the scripts take {excess}, more than the {allowed} allowed (--memory)") from None
    except (FileNotFoundError, PermissionError) as error:
        raise VerifyError(f"{means.python}: cannot be run ({error.strerror})") from None


class _Stages:
    """Tells how far a verification has come; each script counts its start and its steps."""

    def __init__(self, steps: int, tell: Callable[[Progress], None]) -> None:
        self.steps, self._tell = steps, tell

    def begin(self, doing: str, scripts: int = 0) -> None:
        """Reports that so many scripts have reached their training steps."""
        self._tell(Progress(doing, scripts, 2 * self.steps + 2))

    def step(self, role: str, number: int) -> None:
        """After a step of one of the scripts; the converted one goes first."""
        doing = "converted script" if role == "record" else "compared with the original"
        before = 2 if role == "record" else 2 + self.steps
        self._tell(Progress(f"step {number} of {self.steps}, {doing}", before + number, 2 * self.steps + 2))


@dataclass(frozen=True)
class _Answers:
    """The answers of the processes of the two scripts.

    mine: of the original's first training step, theirs: of the conversion's; recorded, replayed: of all
        compared steps, None where the first ones cannot be compared; bare: of the conversion's run by itself; whole: of
        both whole runs, where they were asked for.
    """

    started: Event
    mine: Event
    theirs: Event
    recorded: Event | None = None
    replayed: Event | None = None
    processes: str = ""
    bare: Event | None = None
    whole: Ran | None = None


@dataclass(frozen=True)
class _Later:
    """What is needed once both scripts have come to their first step.

    alone, original: begin the runs by themselves, of the conversion and of the original.
    """

    alone: Callable[[], Child]
    original: Callable[[], Child]
    plan: Callable[[], PlannedLines]


def _follow(
    single: Child, converted: Callable[[], Child], later: _Later, asked: ComparisonSettings, stages: _Stages
) -> _Answers:
    """What both say. Apart, the conversion begins where the original waits for it, and the run by itself at the end."""
    started = expect(single, "started")
    stages.begin("building the graphs")
    mine = expect(single, "ready")
    stages.begin("building the graphs", 1)
    multi = converted()
    expect(multi, "started")
    theirs = expect(multi, "ready")
    stages.begin("checkpoints and uneven batches", 2)
    wholes = wholes_in(mine, theirs)
    theirs = dict(join_slices(theirs, wholes))
    if unlike(mine, theirs, asked.gpus, asked.batch):
        return _Answers(started, mine, theirs)
    with ExitStack() as running:
        beside = None if asked.apart else running.enter_context(later.alone())
        recorded, replayed = _compared(single, multi, later, mine, theirs, wholes)
        last = _of_bare(beside or running.enter_context(later.alone()))
    return _Answers(started, mine, theirs, recorded, replayed, bare=last)


def _compared(
    single: Child, multi: Child, later: _Later, mine: Event, theirs: Event, wholes: Iterable[str]
) -> tuple[Event, Event]:
    """The last events of both processes: one has recorded the steps, the other has replayed them.

    The original's run by itself is made where the conversion comes to no step.
    """
    multi.send(
        inputs=mine["inputs"],
        checkpoint=mine["checkpoint"],
        checkpoint_values=mine["checkpoint_values"],
        wholes=sorted(wholes),
    )
    event = multi.event()
    if event["event"] == "ended" and event["message"]:
        with later.original() as other:
            fails_too(other, _of_bare(other), event)
    recorded = expect(multi, "recorded", event)
    single.send(record=str(multi.record), towers=later.plan().towers)
    return recorded, expect(single, "replayed")


def _of_bare(bare: Child) -> Event:
    """How the run by itself ended."""
    event = bare.event(PATIENCE)
    return bare.event(PATIENCE) if event["event"] == "started" else event


def _judged(answers: _Answers, asked: ComparisonSettings, plan: Callable[[], PlannedLines]) -> Report:
    mine, theirs, recorded, replayed = answers.mine, answers.theirs, answers.recorded, answers.replayed
    stop = unlike(mine, theirs, asked.gpus, asked.batch)
    if stop or recorded is None or replayed is None:
        assert stop is not None
        return replace(stop, ledger=tuple(of_checks(stop.checks)), processes=answers.processes)
    versions = (("TensorFlow", answers.started["tensorflow"]), ("Python", answers.started["python"]))
    planned = plan()
    asked = replace(asked, sizes=sizes_of_steps(answers.whole) if answers.whole is not None else ())
    report = judge(mine, theirs, recorded, replayed, asked, planned)
    if answers.bare is not None:
        report = with_bare(report, answers.bare)
    if answers.whole is not None:
        report = with_whole(report, answers.whole, asked.batches, planned.said)
    return replace(
        report,
        versions=versions,
        where=answers.started["devices"],
        processes=answers.processes,
        ledger=(
            *ledger(report, mine, theirs, replayed, asked.rate),
            *of_later_steps(report.steps, recorded, replayed, asked.steps),
            *of_outside(replayed, recorded),
        ),
        losses=losses(replayed),
        original=step_trace(replayed["first"].get("timeline")),
        converted=step_trace(recorded["first"].get("timeline")),
    )
