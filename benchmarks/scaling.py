"""How the cost of a conversion grows with a script, and what scripts of the worst shapes cost.

Usage: python benchmarks/scaling.py [--rounds N]

Processor time of whole processes, start included. Growth is the cost of a further line between 5,000 and 20,000 lines
over that of one between 150 and 5,000: 1 when time is linear. The shapes (shapes.py) are converted or refused, and
what counts is the seconds; none may end in an internal error. Exits with 1 where a figure misses its budget.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import shapes
import timing

# For each shape how much of it, and the seconds that it may take.
BUDGETS = {
    "residual": (100, 3.0),
    "classes": (100, 2.0),
    "two_gans": (9, 2.0),
    "hourglass": (4, 2.0),
    "training_loops": (18, 1.5),
    "loops": (18, 10.0),
    "mutual": (8, 2.0),
    "twice": (18, 2.0),
    "twice_built": (18, 10.0),
    "elifs": (1000, 6.0),
    "sums": (1000, 1.5),
    "methods": (1000, 1.5),
    "attributes": (1000, 1.5),
    "parentheses": (199, 1.5),
}
LENGTHS = (150, 5_000, 20_000)


def seconds(script: Path) -> float:
    """The processor time of a conversion that ends well or in a refusal."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(timing.conversion(script, script.with_suffix(".out")), capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode not in (0, 2) or "TMG090" in done.stderr:
        raise SystemExit(f"exit status {done.returncode}: {script}\n{done.stderr}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def shape(folder: Path, name: str, rounds: int) -> timing.Figure:
    """The seconds of one shape."""
    much, budget = BUDGETS[name]
    script = folder / f"{name}.py"
    script.write_text(shapes.SHAPES[name](much), encoding="utf-8")
    return timing.Figure(f"{name}, {much}", tuple(seconds(script) for _ in range(rounds)), budget, "s")


def growth(folder: Path, name: str, rounds: int) -> timing.Figure:
    """The cost of a further line in long scripts over that in short ones."""
    scripts = [folder / f"{name}_{lines}.py" for lines in LENGTHS]
    counts = []
    for script, lines in zip(scripts, LENGTHS, strict=True):
        script.write_text(shapes.SHAPES[name](lines), encoding="utf-8")
        counts.append(script.read_bytes().count(b"\n"))
    values = []
    for _ in range(rounds):
        short, middle, long = (seconds(script) for script in scripts)
        first = (middle - short) / (counts[1] - counts[0])
        values.append((long - middle) / (counts[2] - counts[1]) / first)
    return timing.Figure(f"a further line, {name}, up to {counts[2]:,} / up to {counts[1]:,}", tuple(values), 1.2)


def main() -> int:
    """Prints the table; 1 where a figure misses its budget."""
    rounds = timing.asked_rounds(__doc__, default=3)
    timing.compile_tool()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        figures = [shape(folder, shape_, rounds) for shape_ in BUDGETS]
        figures += [growth(folder, kind, rounds) for kind in ("straight", "nested")]
    print(timing.table(figures))
    return 0 if all(figure.within for figure in figures) else 1


if __name__ == "__main__":
    sys.exit(main())
