"""One verification from beginning to end."""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, suppress
from dataclasses import replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

from converter.dataclass import dataclass
from converter.diagnostics import Refusal
from converter.source import read
from converter.source.viewed import viewed
from converter.verify.checks.lines import PlannedLines, epochs_are_shorter, planned_lines, sizes_of
from converter.verify.checks.slices import join_slices, wholes_in
from converter.verify.data import ALL_STEPS, ConversionOrigin, LedgerLine, Progress, Report, VerifyError, VerifySettings
from converter.verify.judge import ComparisonSettings, judge, losses, step_trace, unlike
from converter.verify.ledger import ledger, of_checks, of_later_steps, of_origin, of_outside
from converter.verify.origin import ChangedFiles, convert_anew, origin_of, repeat
from converter.verify.processes.answer import Stopped, clean, expect, fails_too, find_interpreter
from converter.verify.processes.child_process import GIB, Child, Event, Limits, environment, how_started, memory_taken
from converter.verify.processes.family import memory_of_machine
from converter.verify.processes.interpreters import Interpreters, opened
from converter.verify.processes.layout import Copy, Layout, layout_of
from converter.verify.processes.machine import CPU, devices_for
from converter.verify.processes.runner import Runner
from converter.verify.processes.workspace import ConversionHeader, check_scripts, read_towers, set_gpus, work_folder
from converter.verify.runs import cluster, ddp, shared_paths, strategy
from converter.verify.runs.constants import set_constants
from converter.verify.runs.converted_alone import check_bare, with_check
from converter.verify.runs.data_outside import with_data
from converter.verify.runs.flags import not_run
from converter.verify.runs.other_scripts import with_others
from converter.verify.runs.protocol import Tell, versions_of
from converter.verify.runs.resized import resize
from converter.verify.runs.stopping import early_stopping, kept_by_values
from converter.verify.runs.untrained import evaluation_job, with_evaluation
from converter.verify.runs.whole import Ran, run_whole, sizes_of_steps, whole_job, with_whole

# How conversions are proven that have other targets than towers.
PROTOCOLS = {"mirrored": strategy.PROTOCOL, "ddp": ddp.PROTOCOL, "cluster": cluster.PROTOCOL}
MadeAgain = tuple[ConversionOrigin, PlannedLines, ChangedFiles | None]
PATIENCE = 30.0  # seconds to wait for a run beside the compared ones once everything else is done


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
    _check_target(multi, towers, settings)
    asked = replace(_comparison_settings(settings, towers), by_values=kept_by_values(single))
    # the conversion is made again while the scripts import TensorFlow
    with ThreadPoolExecutor(1) as beside, opened(pool) as interpreters:
        made = beside.submit(_repeated, single, multi, parts)
        runner = Runner(
            interpreters,
            find_interpreter(settings.python),
            Limits(time.monotonic() + settings.timeout, _memory(settings)),
        )
        proof = _Comparison(
            layout=layout,
            parts=parts,
            way=towers.way,
            settings=settings,
            asked=asked,
            runner=runner,
            made=made,
            tell=tell or _nobody,
        )
        report, left_out = _undisturbed(proof)
        origin = made.result()[0]
        if settings.also:
            report = with_others(report, single, multi, settings, interpreters)
    report = replace(report, ledger=(*report.ledger, *_not_seen(single, asked, settings), *of_origin(origin)))
    return replace(
        _in_cells(_with_warnings(report, origin), single),
        notes=report.notes + left_out + _without_gpus(report, settings),
        origin=origin,
        command=command,
        seconds=round(time.monotonic() - begin, 2),
    )


def _repeated(single: Path, multi: Path, parts: Mapping[str, bytes]) -> MadeAgain:
    """How the conversion was made, its plan, and the changed files, with their plans for batches that grow.

    The last is None where the conversion's batches do not grow.
    Of one by hand the plan is what the original alone tells: where it reads sizes of batches, whether epochs shrink.
    """
    repeated = repeat(single, multi, parts)
    plan, origin = planned_lines(repeated), origin_of(repeated)
    if repeated is not None:
        return origin, plan, repeated.files if repeated.header.options.batch == "per-gpu" else None
    files = convert_anew(single)
    return origin, replace(plan, sizes=sizes_of(files), shorter=epochs_are_shorter(files)), files


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


def _memory(settings: VerifySettings) -> int:
    """What the scripts may take, in bytes."""
    return int(memory_of_machine() * 0.75) if settings.memory is None else int(settings.memory * GIB)


def _check(single: Path, multi: Path, settings: VerifySettings) -> None:
    check_scripts(single, multi)
    if (settings.steps != "all" and settings.steps < 1) or (settings.gpus is not None and settings.gpus < 1):
        raise VerifyError("the numbers of GPUs and of steps must be 1 or more")
    if settings.memory is not None and settings.memory <= 0:
        raise VerifyError("the memory must be more than 0 GiB")
    if settings.python is None and _is_python_2(single):
        hint = "name an interpreter for it that has TensorFlow, as in --python python2.7"
        raise VerifyError(f"{single.name} is Python 2: {hint}")


def _check_target(multi: Path, towers: ConversionHeader, settings: VerifySettings) -> None:
    """Refuses settings that do not go with what a script was converted for."""
    if towers.target == "mirrored" and towers.gpus not in (None, settings.gpus or towers.gpus):
        hint = f"convert it anew with --num-gpus {settings.gpus}"
        raise VerifyError(f"{multi.name} is written for {towers.gpus} GPUs: {hint}")
    if protocol := PROTOCOLS.get(towers.target):
        if settings.epochs or settings.steps == "all":
            raise VerifyError(f"--epochs and --steps all are for towers, not for {protocol.trains}")
        if settings.devices == "gpu":
            raise VerifyError(f"--devices gpu is for towers, not for {protocol.trains}")
        if settings.also and protocol.no_others:
            raise VerifyError(protocol.no_others)


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
class _Comparison:
    """The comparison of two scripts: their files, what is asked for, and with what they run.

    parts: as of `verify`. way: how the number of towers is set in the converted script. made: gives what `_repeated`
    does.
    """

    layout: Layout
    parts: Mapping[str, bytes]
    way: str
    settings: VerifySettings
    asked: ComparisonSettings
    runner: Runner
    made: Future[MadeAgain]
    tell: Tell

    def plan(self) -> PlannedLines:
        """Where the conversion puts the lines of the original."""
        return self.made.result()[1]

    def converted(self, folder: Path) -> tuple[Copy, tuple[str, ...]]:
        """A copy of the conversion with as many towers as are asked for, and its arguments."""
        copy = self.layout.converted(folder, self.parts)
        return copy, set_gpus(copy.script, self.asked.gpus, self.settings.args, self.way, copy.root)

    def job(self, role: str, title: str, copy: Copy, args: Iterable[str], work: Path) -> dict[str, Any]:
        """The job of one of the processes that are compared."""
        return {
            "role": role,
            "title": title,
            **copy.job(args, work),
            "gpus": self.asked.gpus,
            "steps": self.asked.steps,
            "total": self.asked.batch == "total",
            "added": self.asked.loss == "global",
            "record": str(work / "record.pickle"),
            "log": str(work / f"{role}.log"),
            **self.asked.devices.job,
            "network": self.settings.network,
            "seconds": self.settings.timeout / 8 if self.settings.steps == "all" else None,
        }

    def bounded(self) -> AbstractContextManager[None]:
        """As of `Runner`, in the words of the command's options."""
        return self.runner.bounded(
            f"no result after {self.settings.timeout:g} seconds (--timeout)",
            f"more than the {self.runner.limits.memory / GIB:.3g} GiB allowed (--memory)",
            "; the scripts take arguments behind --, as in: -- --max_steps 10",
        )


def _undisturbed(proof: _Comparison) -> tuple[Report, tuple[str, ...]]:
    """As `_in_copies`; where runs that change the same paths may have failed for that, they run one after the other."""
    limits = proof.runner.limits
    report, left_out = _in_copies(proof)
    paths = shared_paths.shared(child.outside for child in limits.children)
    may_be = report.verdict == "failed" or any(child.failed for child in limits.children)
    if report.verdict == "passed" or not may_be or not paths or proof.asked.target in PROTOCOLS:
        return report, left_out
    runner = replace(proof.runner, limits=Limits(limits.deadline, limits.memory))
    report, left_out = _in_copies(replace(proof, runner=runner, asked=replace(proof.asked, apart=paths)))
    return shared_paths.with_paths(report, paths), left_out


def _in_copies(proof: _Comparison) -> tuple[Report, tuple[str, ...]]:
    """The report of running both in copies of their folders, and what of these was left out."""
    asked, settings = proof.asked, proof.settings
    with work_folder(proof.runner.pool.guard) as work:
        multi, args = proof.converted(work / "converted")
        single = proof.layout.original(work / "original")
        protocol = PROTOCOLS.get(asked.target)
        first, second = (protocol.conversion, protocol.original) if protocol else ("record", "replay")
        jobs = {
            first: proof.job(first, "the converted script", multi, args, work),
            second: proof.job(second, "the original script", single, settings.args, work),
        }
        try:
            if protocol:
                with proof.bounded():
                    report = protocol.compare(jobs, asked, proof.runner, proof.tell)
            else:
                alone = multi.again(work / "bare")
                jobs["bare"] = proof.job("bare", "the converted script by itself", alone, args, work)
                answers = _run(proof, jobs, lambda: _original_alone(single, jobs["replay"], work))
                if asked.gpus > 1 and answers.built_one_tower and proof.plan().single:
                    return _with_one_tower(proof)
                if answers.replayed and (settings.epochs or settings.steps == "all"):
                    answers = replace(answers, whole=_whole(proof, jobs, answers.replayed))
                report = _judged(answers, asked, proof.plan)
        except Stopped as problem:
            nothing = LedgerLine("unchecked", "everything", problem.reason)
            report = Report(problem.verdict, problem.reason, asked.gpus, asked.batch, 0, ledger=(nothing,))
            report = replace(report, log=problem.log, untrained=problem.untrained, late=problem.late)
            if problem.evaluated and not protocol:
                report = _evaluated(proof, jobs, report)
        report = replace(report, reason=clean(report.reason, work), log=clean(report.log, work))
    return report, tuple(dict.fromkeys(multi.notes + single.notes))


def _with_one_tower(proof: _Comparison) -> tuple[Report, tuple[str, ...]]:
    """As `_in_copies`, for a run in which the conversion builds one tower: the script sets its batch size to 1."""
    report, left_out = _in_copies(replace(proof, asked=replace(proof.asked, gpus=1)))
    note = f"this run has one tower, as the batch size is set to 1 ({', '.join(proof.plan().single)})"
    return replace(report, notes=(*report.notes, note)), left_out


def _evaluated(proof: _Comparison, jobs: Mapping[str, dict[str, Any]], stopped: Report) -> Report:
    """Whole runs of both in which nothing trains, in new copies of their folders."""
    work = Path(jobs["record"]["work"])

    def original(name: str) -> dict[str, Any]:
        copy = proof.layout.original(work / name / "run")
        return evaluation_job(jobs["replay"], copy, proof.settings.args, work / name)

    theirs = evaluation_job(
        jobs["record"], *proof.converted(work / "evaluated_converted" / "run"), work / "evaluated_converted"
    )
    return with_evaluation(stopped, theirs, original, proof.runner, proof.asked)


def _whole(proof: _Comparison, jobs: Mapping[str, dict[str, Any]], replayed: Event) -> Ran:
    """Whole runs of both, in new copies of their folders."""
    work, epochs = Path(jobs["record"]["work"]), proof.settings.epochs
    single = proof.layout.original(work / "whole_original" / "run")
    theirs = whole_job(jobs["record"], *proof.converted(work / "whole_converted" / "run"), replayed, epochs)
    mine = whole_job(jobs["replay"], single, proof.settings.args, replayed, epochs)
    return run_whole((theirs, mine), proof.runner, proof.asked)


def _original_alone(single: Copy, like: dict[str, Any], work: Path) -> dict[str, Any]:
    """The job of the original's run by itself, in a copy of its own."""
    copy = single.again(work / "original_alone")
    return {**like, **copy.job(like["args"], work), "role": "bare", "log": str(work / "original_alone.log")}


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

    @property
    def built_one_tower(self) -> bool:
        """Whether the graph of the conversion has no scope of a second tower."""
        return self.recorded is not None and self.recorded["first"].get("towers") == 1


def _run(proof: _Comparison, jobs: Mapping[str, dict[str, Any]], original_alone: Callable[[], Any]) -> _Answers:
    """Runs both scripts up to their first training step at the same time; then records one and replays the other.

    Apart, the conversion begins where the original waits for it, and its run by itself at the end.
    """
    asked, runner = proof.asked, proof.runner
    settled, without_gpus = environment(asked.gpus, asked.devices), environment(asked.gpus)
    stages, since = _Stages(asked.steps, proof.tell), time.monotonic()
    stages.begin("starting TensorFlow")
    with proof.bounded(), ExitStack() as running:

        def begin(role: str) -> Child:
            return running.enter_context(runner.begin(jobs[role], settled, stages.step))

        def alone() -> Child:
            return running.enter_context(runner.begin(jobs["bare"], without_gpus))

        early = None if asked.apart else begin("record")
        single = begin("replay")
        started = expect(single, "started")
        stages.begin("building the graphs")
        mine = expect(single, "ready")
        patience = PATIENCE + time.monotonic() - since  # as long as this script takes to its first step
        stages.begin("building the graphs", 1)
        multi = early or begin("record")
        expect(multi, "started")
        theirs = expect(multi, "ready")
        stages.begin("checkpoints and uneven batches", 2)
        wholes = wholes_in(mine, theirs)
        resized = [running.enter_context(child) for child in _resized(proof, jobs["replay"], mine, settled)]
        answers = _Answers(started, mine, dict(join_slices(theirs, wholes)))
        if not unlike(mine, answers.theirs, asked.gpus, asked.batch):
            bare = None if asked.apart else alone()
            recorded = _recorded(multi, mine, wholes, lambda: runner.begin(original_alone(), without_gpus))
            built = [str(child.record) for child in resized if _last(child, patience)["event"] == "built"]
            single.send(record=str(multi.record), towers=proof.plan().towers, sizes=proof.plan().sizes, resized=built)
            replayed = expect(single, "replayed")
            answers = replace(answers, recorded=recorded, replayed=replayed, bare=_last(bare or alone()))
        found = [how_started(runner.limits.children), memory_taken(runner.limits)]
        return replace(answers, processes=", ".join(filter(None, found)))


def _resized(proof: _Comparison, like: dict[str, Any], mine: Event, settled: Mapping[str, str]) -> Iterator[Child]:
    """Runs of the original with its batch size multiplied, where its graph is made for batches of one size."""
    asked = mine["shares"] if not proof.asked.apart else ()
    files = (proof.made.result()[2] or convert_anew(proof.layout.single)) if asked else {}
    for number, (times, over) in enumerate(asked):
        work = Path(like["work"]) / f"resized_{number}"
        copy = proof.layout.original(work / "run")
        args = resize(copy, files, proof.settings.args, Fraction(times, over))
        if args is not None:
            job = {**like, **copy.job(args, work), "role": "resized", "record": str(work / "graph")}
            yield proof.runner.begin(job, settled)


def _recorded(multi: Child, mine: Event, wholes: Iterable[str], original: Callable[[], Child]) -> Event:
    """The last event of the conversion, which has recorded its steps.

    original: begins the original's run by itself, which is made where the conversion comes to no step.
    """
    told = {name: mine[name] for name in ("inputs", "checkpoint", "checkpoint_values")}
    multi.send(**told, wholes=sorted(wholes))
    event = multi.event()
    if event["event"] == "ended" and event["message"]:
        with original() as other:
            fails_too(other, _last(other), event)
    return expect(multi, "recorded", event)


def _last(child: Child, patience: float = PATIENCE) -> Event:
    """How a run beside the compared ones ended."""
    event = child.event(patience)
    return child.event(patience) if event["event"] == "started" else event


class _Stages:
    """Tells how far a verification has come; each script counts its start and its steps."""

    def __init__(self, steps: int, tell: Tell) -> None:
        self.steps, self._tell = steps, tell

    def begin(self, doing: str, scripts: int = 0) -> None:
        """Reports that so many scripts have reached their training steps."""
        self._tell(Progress(doing, scripts, 2 * self.steps + 2))

    def step(self, role: str, number: int) -> None:
        """After a step of one of the scripts; the converted one goes first."""
        doing = "converted script" if role == "record" else "compared with the original"
        before = 2 if role == "record" else 2 + self.steps
        done = min(number, self.steps)  # a few more may be taken, see roles/record.py
        self._tell(Progress(f"step {number} of {max(number, self.steps)}, {doing}", before + done, 2 * self.steps + 2))


def _judged(answers: _Answers, asked: ComparisonSettings, plan: Callable[[], PlannedLines]) -> Report:
    mine, theirs, recorded, replayed = answers.mine, answers.theirs, answers.recorded, answers.replayed
    if recorded is None or replayed is None:
        stop = unlike(mine, theirs, asked.gpus, asked.batch)
        assert stop is not None
        return replace(stop, ledger=tuple(of_checks(stop.checks)), processes=answers.processes)
    planned = plan()
    asked = replace(asked, sizes=sizes_of_steps(answers.whole) if answers.whole is not None else ())
    report = judge(mine, theirs, recorded, replayed, asked, planned)
    if answers.bare is not None:
        report = with_check(report, check_bare(answers.bare, report.gpus))
    if answers.whole is not None:
        report = with_whole(report, answers.whole, asked.batches, planned.said)
    return replace(
        report,
        versions=versions_of(answers.started),
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


def _in_cells(report: Report, single: Path) -> Report:
    """A report whose lines are the original notebook's, and that says what of it did not run; others as they are."""
    notebook = read(str(single)).notebook if single.suffix == ".ipynb" else None
    if notebook is None:
        return report
    told = notebook.told
    entry = LedgerLine(
        "unchecked",
        "notebook",
        "the cells ran once, in their order, as a script; magics, shell lines and cells in other languages did not run",
    )
    return replace(
        report,
        reason=told(report.reason),
        checks=tuple(replace(check, detail=told(check.detail)) for check in report.checks),
        ledger=(*(replace(one, detail=told(one.detail)) for one in report.ledger), entry),
        notes=tuple(map(told, report.notes)),
    )
