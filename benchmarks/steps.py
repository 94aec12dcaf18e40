"""How long a step of a converted script takes, and how much it adds to the graph.

Usage: python benchmarks/steps.py [--rounds N] [--python PYTHON]…

Four small models (step_models/) are converted and run on four virtual CPU devices: beside the same model with towers
written by hand in the manner of tutorials (by_hand.py there), beside the original with the whole batch on one device,
and beside the same model trained by MirroredStrategy. The scripts of a process take turns, step by step
(steps_child.py); one thread computes, and what counts is the processor time of a step, as the median over the steps
of a script. Where its memory happens to lie makes a script a few hundredths faster or slower, so processes keep what
they have (KEPT_MEMORY), the first two run in COPIES each, and a measurement is the ratio of the sums of their medians;
rounds repeat it. Graphs are built for 2, 4 and 8 towers: what each further tower adds is set against the operations
between inputs and gradients of the original.
PYTHON: interpreters with TensorFlow; without any, this one and that of .venv-tf1.15.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import mean, median
from typing import Any

import timing

HERE = Path(__file__).resolve().parent
MODELS = {"conv": 16, "lstm": 16, "embedding": 64, "gan": 32}  # and the examples of one tower
RUNS = {"gan": 2}  # training runs of one step, where there are several
TOWERS = 4
COPIES = 4  # of the two scripts that are compared, in each process that runs steps
WARM_UP = 6  # steps
# For glibc: memory that is given back stays with the process. Else large tensors come in new pages in each step, and
# how long that takes depends on what else the process holds: a few hundredths of a step.
KEPT_MEMORY = {
    "MALLOC_MMAP_THRESHOLD_": str(2**30),
    "MALLOC_TRIM_THRESHOLD_": str(2**33),
    "MALLOC_TOP_PAD_": str(2**28),
}


def main() -> None:
    """Prints two tables for each TensorFlow; exits with 1 where a budget is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3, help="processes for each model")
    parser.add_argument("--steps", type=int, default=30, help="measured steps of each process")
    parser.add_argument("--python", action="append", help="an interpreter with TensorFlow")
    options = parser.parse_args()
    old = timing.ROOT / ".venv-tf1.15/bin/python"
    figures: list[timing.Figure] = []
    with tempfile.TemporaryDirectory() as folder:
        for model in MODELS:
            timing.run(timing.conversion(HERE / f"step_models/{model}.py", Path(folder, f"{model}.py")))
        for python in options.python or [*([str(old)] if old.exists() else []), sys.executable]:
            made, shown = measured(python, Path(folder), options.rounds, options.steps)
            figures += made
            print("\n".join(shown) + "\n")
    sys.exit(timing.report(figures))


def measured(python: str, folder: Path, rounds: int, steps: int) -> tuple[list[timing.Figure], list[str]]:
    """The figures of one TensorFlow, and the lines of a table of milliseconds, operations and seconds."""
    version = _version(python)
    figures = []
    lines = [
        f"TensorFlow {version}: step in ms: converted / by hand / one device / MirroredStrategy; graphs: N = 2 / 4 / 8",
        "",
        "| | step | operations | by hand | build | by hand |",
        "| --- " * 6 + "|",
    ]
    for model in MODELS:
        times = [_step_seconds(model, _children(python, folder, model, TOWERS, steps)) for _ in range(rounds)]
        built = {towers: _children(python, folder, model, towers, 0) for towers in (2, 4, 8)}
        added = (built[8][0]["operations"] - built[4][0]["operations"]) / 4
        what = f"{version}, {model}"
        values = tuple(converted / by_hand for converted, by_hand, *_ in times)
        figures.append(timing.Figure(f"{what}: step / towers by hand", values, 1.0))
        figures.append(timing.Figure(f"{what}: operations of a tower / model", (added / built[4][2]["model"],), 1.15))
        shown = " / ".join(f"{1000 * median(column):.1f}" for column in zip(*times, strict=True))
        cells = [
            _row(built, "operations", 0, 0),
            _row(built, "operations", 1, 0),
            _row(built, "built", 0, 2),
            _row(built, "built", 1, 2),
        ]
        lines.append(f"| {model} | {shown} | {' | '.join(cells)} |")
    return figures, lines


def _row(built: dict[int, list[dict[str, Any]]], key: str, which: int, digits: int) -> str:
    return " / ".join(f"{found[which][key]:,.{digits}f}" for found in built.values())


def _version(python: str) -> str:
    code = "import os; os.environ['TF_CPP_MIN_LOG_LEVEL'] = '3'; import tensorflow; print(tensorflow.__version__)"
    done = subprocess.run([python, "-c", code], capture_output=True, text=True)
    return str(re.findall(r"\d+\.\d+\.\d+", done.stdout)[-1])


def _children(python: str, folder: Path, model: str, towers: int, steps: int) -> list[dict[str, Any]]:
    """What a process tells: converted and by hand, in turn, then the whole batch on one device, MirroredStrategy."""
    size, turns = MODELS[model], f"--steps:{steps + WARM_UP if steps else 0}"
    by_hand = f"{HERE}/step_models/by_hand.py:--model:{model}:--num_gpus:{towers}:--batch_size:{size}:{turns}"
    compared = [f"{folder / model}.py:--num_gpus:{towers}:{turns}", by_hand]
    others = [f"{HERE}/step_models/{model}.py:--batch_size:{size * towers}:{turns}", f"{by_hand}:--mirrored"]
    scripts = compared * (COPIES if steps else 1) + others
    done = subprocess.run(
        [python, str(HERE / "steps_child.py"), str(towers), *scripts],
        capture_output=True,
        text=True,
        env=os.environ | KEPT_MEMORY,
    )
    if done.returncode:
        raise SystemExit(done.stderr)
    found: list[dict[str, Any]] = json.loads(done.stdout.splitlines()[-1])
    failed = [one["error"] for one in found if one["error"]]
    if failed:
        raise SystemExit(f"{model} on {towers} towers: {failed}")
    return found


def _step_seconds(model: str, found: list[dict[str, Any]]) -> tuple[float, ...]:
    """The median processor time of a step of converted, by hand, one device, MirroredStrategy; of copies the mean."""
    runs = RUNS.get(model, 1)
    medians = []
    for one in found:
        seconds = one["seconds"][: len(one["seconds"]) // runs * runs]
        medians.append(median(sum(seconds[i : i + runs]) for i in range(WARM_UP * runs, len(seconds), runs)))
    *compared, one_device, mirrored = medians
    return mean(compared[::2]), mean(compared[1::2]), one_device, mirrored


if __name__ == "__main__":
    main()
