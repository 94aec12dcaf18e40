"""One profile from beginning to end."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

from converter.verify.data import VerifyError
from converter.verify.processes.answer import Stopped, clean, expect, find_interpreter
from converter.verify.processes.child_process import Event, Limits, TimeIsUp, environment, how_started
from converter.verify.processes.family import memory_of_machine
from converter.verify.processes.interpreters import Interpreters, opened
from converter.verify.processes.layout import Copy, Layout, layout_of
from converter.verify.processes.runner import Runner
from converter.verify.processes.workspace import check_scripts, read_towers, set_gpus, work_folder
from converter.verify.profile.data import MeasuredStep, Profile, ProfileSettings
from converter.verify.profile.placements import choice, conversions, placement
from converter.verify.profile.predict import predict, predict_hosts
from converter.verify.profile.reading import notes_of, read_measured, trained_bytes
from converter.verify.runs.data_outside import with_data
from converter.verify.runs.protocol import versions_of

MEMORY = 0.75  # of the machine's, for all scripts together
SIDE_BY_SIDE = 2  # processes: each holds a TensorFlow


def profile(
    single: Path, multi: Path, settings: ProfileSettings | None = None, pool: Interpreters | None = None
) -> Profile:
    """Runs one step of the original and of the conversion with each number of towers, and predicts from them.

    pool: what has imported TensorFlow already, for several profiles; else it is imported for this one.

    Raises:
        VerifyError: it cannot begin: a missing file, an interpreter without TensorFlow.
        Stopped: the original, or the conversion with every number of towers, does not come to a training step.
    """
    settings = settings or ProfileSettings()
    begin = time.monotonic()
    single, multi = single.resolve(), multi.resolve()
    check_scripts(single, multi)
    if not settings.gpus or min(settings.gpus) < 1:
        raise VerifyError("the numbers of GPUs must be 1 or more")
    layout = with_data(layout_of(single, multi), settings.args)
    python, towers = find_interpreter(settings.python), read_towers(multi, {}, layout.root)
    with opened(pool) as interpreters, work_folder(interpreters.guard) as work:
        (work / "original").mkdir()
        original = layout.original(work / "original" / "script")
        jobs = [_job("the original script", original, work / "original", 1, settings.args)]
        jobs += _converted(layout, settings, towers.way, work / "converted")
        compared = conversions(single, multi) if settings.placements else ()
        apart = {
            one.variables: _converted(layout, settings, towers.way, work / f"placed-{place}", one.files)
            for place, one in enumerate(compared)
            if one.files is not None
        }
        runner = Runner(interpreters, python, Limits(begin + settings.timeout, int(memory_of_machine() * MEMORY)))
        with ThreadPoolExecutor(SIDE_BY_SIDE) as threads:
            every = [*jobs, *(job for several in apart.values() for job in several)]
            answers = list(threads.map(lambda job: _run(runner, job, work), every))
    found = _conclude(answers[: len(jobs)], jobs, towers.batch or "per-gpu", settings, begin)
    rest = iter(answers[len(jobs) :])
    measured = {variables: _steps(several, [next(rest) for _ in several]) for variables, several in apart.items()}
    placements = tuple(
        placement(
            one,
            found.original,
            found.measured if one.own else measured.get(one.variables, ()),
            found.batch,
            found.machine,
        )
        for one in compared
    )
    left = tuple(note for one in compared for note in one.notes)
    return replace(found, placements=placements, chosen=choice(placements), notes=(*found.notes, *left))


def _converted(
    layout: Layout, settings: ProfileSettings, way: str, folder: Path, files: Mapping[str, bytes] | None = None
) -> list[dict[str, Any]]:
    """The jobs of a converted script, one for each number of towers; `files` stand in for those in its folder."""
    jobs = []
    for gpus in dict.fromkeys(settings.gpus):
        title = f"the converted script with {gpus} towers" if gpus > 1 else "the converted script with one tower"
        place = folder.with_name(f"{folder.name}-{gpus}")
        place.mkdir()
        copy = layout.converted(place / "script", files or {})
        jobs.append(_job(title, copy, place, gpus, set_gpus(copy.script, gpus, settings.args, way, copy.root)))
    return jobs


def _steps(jobs: Sequence[dict[str, Any]], answers: Sequence[tuple[Event, Event] | Stopped]) -> list[MeasuredStep]:
    """The steps that were measured, by the number of towers."""
    found = [
        read_measured(answer[1], job["gpus"])
        for job, answer in zip(jobs, answers, strict=True)
        if not isinstance(answer, Stopped)
    ]
    return sorted({one.towers: one for one in found}.values(), key=lambda one: one.towers)


def _job(title: str, copy: Copy, folder: Path, gpus: int, args: tuple[str, ...]) -> dict[str, Any]:
    return {"role": "profile", "title": title, **copy.job(args, folder), "gpus": gpus, "left_out": copy.notes}


def _run(runner: Runner, job: dict[str, Any], work: Path) -> tuple[Event, Event] | Stopped:
    """What a script's process said when it started, and its figures; or why there are none."""
    late = f"no result from {job['title']} in time (--timeout)"
    try:
        with runner.bounded(late, "too much for this machine"), runner.begin(job, environment(job["gpus"])) as child:
            try:
                started, profiled = expect(child, "started"), expect(child, "profiled")
            except TimeIsUp:
                return Stopped(f"no result in time (--timeout): {child.stood()}")
            return {**started, "processes": how_started([child])}, profiled
    except Stopped as problem:
        folder = f"{job['root']}/"
        return Stopped(clean(str(problem).replace(folder, ""), work), clean(problem.log.replace(folder, ""), work))


def _conclude(
    answers: Sequence[tuple[Event, Event] | Stopped],
    jobs: Sequence[dict[str, Any]],
    batch: Any,
    settings: ProfileSettings,
    begin: float,
) -> Profile:
    original, *conversions = answers
    if isinstance(original, Stopped):
        raise original
    good: list[MeasuredStep] = []
    figures, warnings, stopped = [original[1]], [], []
    for job, answer in zip(jobs[1:], conversions, strict=True):
        if isinstance(answer, Stopped):
            stopped.append(answer)
            warnings.append(f"not measured: {answer}")
            continue
        measured = read_measured(answer[1], job["gpus"])
        figures.append(answer[1])
        if measured.towers != measured.asked:
            warnings.append(f"{measured.towers} towers computed gradients where {measured.asked} were asked for")
        if all(measured.towers != other.towers for other in good):
            good.append(measured)
    if not good:
        raise stopped[0]
    alone, parameters = read_measured(original[1], 1), trained_bytes(original[1])
    good.sort(key=lambda measured: measured.towers)
    return Profile(
        batch=batch,
        parameters=parameters,
        original=alone,
        measured=tuple(good),
        machine=settings.machine,
        predictions=predict(alone, good, batch, settings.machine),
        hosts=predict_hosts(alone, parameters, settings.machine) if batch == "per-gpu" else (),
        warnings=tuple(warnings),
        notes=tuple(dict.fromkeys([*notes_of(figures), *(note for job in jobs for note in job["left_out"])])),
        versions=versions_of(original[0]),
        seconds=round(time.monotonic() - begin, 2),
        processes=original[0]["processes"],
    )
