"""One profile from beginning to end."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

from converter.profile.data import Measured, Profile, Settings
from converter.profile.predict import predict
from converter.profile.reading import notes_of, read_measured, trained_bytes
from converter.verify.answer import Stopped, clean, expect, find_interpreter
from converter.verify.child_process import Child, Event, Limits, MemoryIsUp, TimeIsUp, environment, how_started
from converter.verify.data import VerifyError
from converter.verify.family import memory_of_machine
from converter.verify.interpreters import Interpreters, opened
from converter.verify.workspace import WORK, copy_folder, read_towers, set_gpus

MEMORY = 0.75  # of the machine's, for all scripts together
SIDE_BY_SIDE = 2  # processes: each holds a TensorFlow


def profile(
    single: Path, multi: Path, settings: Settings | None = None, pool: Interpreters | None = None
) -> Profile:
    """Runs one step of the original and of the conversion with each number of towers, and predicts from them.

    pool: what has imported TensorFlow already, for several profiles; else it is imported for this one.

    Raises:
        VerifyError: it cannot begin: a missing file, an interpreter without TensorFlow.
        Stopped: the original, or the conversion with every number of towers, does not come to a training step.
    """
    settings = settings or Settings()
    begin = time.monotonic()
    single, multi = single.resolve(), multi.resolve()
    for path in (single, multi):
        if not path.is_file():
            raise VerifyError(f"{path.name}: no such file")
    if not settings.gpus or min(settings.gpus) < 1:
        raise VerifyError("the numbers of GPUs must be 1 or more")
    python, towers = find_interpreter(settings.python), read_towers(multi, {})
    with tempfile.TemporaryDirectory(prefix=WORK, ignore_cleanup_errors=True) as folder:
        work = Path(folder).resolve()
        jobs = [_job("the original script", single, work / "original", 1, settings.args)]
        for gpus in dict.fromkeys(settings.gpus):
            title = f"the converted script with {gpus} towers" if gpus > 1 else "the converted script with one tower"
            job = _job(title, multi, work / f"converted-{gpus}", gpus, settings.args)
            if multi.parent != single.parent:
                copy_folder(single, Path(job["script"]).parent, fill=True)
            job["args"] = set_gpus(Path(job["script"]), gpus, settings.args, towers.way)
            jobs.append(job)
        limits = Limits(begin + settings.timeout, int(memory_of_machine() * MEMORY))
        with opened(pool) as interpreters, ThreadPoolExecutor(SIDE_BY_SIDE) as threads:
            start = partial(Child, interpreters, python, limits=limits)
            answers = list(threads.map(lambda job: _run(start, python, job, work), jobs))
    return _conclude(answers, jobs, towers.batch or "per-gpu", settings, begin)


def _job(title: str, script: Path, folder: Path, gpus: int, args: tuple[str, ...]) -> dict[str, Any]:
    folder.mkdir()
    copy, left_out = copy_folder(script, folder / "script")
    return {
        "role": "profile",
        "title": title,
        "script": str(copy),
        "args": args,
        "gpus": gpus,
        "work": str(folder),
        "log": str(folder / "log"),
        "left_out": left_out,
    }


def _run(
    start: Callable[..., Child], python: str, job: dict[str, Any], work: Path
) -> tuple[Event, Event] | Stopped:
    """What a script's process said when it started, and its figures; or why there are none."""
    try:
        with start(job={**job, "args": list(job["args"])}, environment=environment(job["gpus"])) as child:
            started, profiled = expect(child, "started"), expect(child, "profiled")
            return {**started, "processes": how_started([child])}, profiled
    except TimeIsUp:
        return Stopped(f"no result from {job['title']} in time (--timeout)")
    except MemoryIsUp as excess:
        return Stopped(f"the scripts take {excess}, too much for this machine")
    except (FileNotFoundError, PermissionError) as error:
        raise VerifyError(f"{python}: cannot be run ({error.strerror})") from None
    except Stopped as problem:
        folder = str(Path(job["script"]).parent) + "/"
        return Stopped(clean(str(problem).replace(folder, ""), work), clean(problem.log.replace(folder, ""), work))


def _conclude(
    answers: Sequence[tuple[Event, Event] | Stopped], jobs: Sequence[dict[str, Any]], batch: Any, settings: Settings,
    begin: float,
) -> Profile:  # fmt: skip
    original, *conversions = answers
    if isinstance(original, Stopped):
        raise original
    good: list[Measured] = []
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
        batch,
        parameters,
        alone,
        tuple(good),
        settings.machine,
        predict(alone, good, batch, settings.machine),
        tuple(warnings),
        tuple(dict.fromkeys([*notes_of(figures), *(note for job in jobs for note in job["left_out"])])),
        (("TensorFlow", original[0]["tensorflow"]), ("Python", original[0]["python"])),
        round(time.monotonic() - begin, 2),
        original[0]["processes"],
    )
