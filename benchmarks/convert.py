"""How long a conversion takes: against the bare LibCST floor, in lines a second, and as scripts grow.

Usage: python benchmarks/convert.py [--rounds N]

The floor of a file is one process that imports black and LibCST, parses the file, resolves its scopes,
qualified names and positions, and generates its code (floor.py). Lines a second are of one core: processor
time of one process over a folder of scripts, start included. Growth is the cost of a
further line between 5,000 and 20,000 lines over that of one between 150 and 5,000: 1 when time is linear.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import scripts
import timing

FLOOR = Path(__file__).with_name("floor.py")
BUDGET = 0.75  # half of the floor, and half as much again since the output is read a second time


def against_floor(folder: Path, lines: int, budget: float, rounds: int) -> timing.Figure:
    """One script's conversion over its floor."""
    script = written(folder, lines)
    convert = timing.conversion(script, folder / "out.py")
    values = timing.ratios(convert, [sys.executable, str(FLOOR), str(script)], rounds)
    return timing.Figure(f"{line_count(script)} lines / LibCST and black floor", values, budget)


def speed(folder: Path, rounds: int) -> timing.Figure:
    """Lines a second and core over a folder of scripts of 120 to 600 lines."""
    sources = folder / "sources"
    sources.mkdir()
    total = sum(line_count(written(sources, lines)) for lines in range(120, 601, 30))
    convert = [*timing.conversion(sources, folder / "converted"), "--jobs", "1"]
    taken = timing.alternate([convert], rounds)
    what = f"a folder of {total:,} lines in {len(list(sources.iterdir()))} scripts"
    return timing.Figure(what, tuple(total / cpu for (cpu,) in taken), 2000, "lines/s", least=True)


def growth(folder: Path, rounds: int) -> timing.Figure:
    """The cost of a further line in long scripts over that in short ones."""
    paths = [written(folder, lines) for lines in (150, 5_000, 20_000)]
    short, middle, long = (line_count(path) for path in paths)
    commands = [timing.conversion(path, folder / "out.py") for path in paths]
    values = tuple(
        ((of_long - of_middle) / (long - middle)) / ((of_middle - of_short) / (middle - short))
        for of_short, of_middle, of_long in timing.alternate(commands, rounds)
    )
    return timing.Figure(f"a further line, up to {long:,} lines / up to {middle:,}", values, 1.3)


def written(folder: Path, lines: int) -> Path:
    """A script of about so many lines in a folder."""
    path = folder / f"train_{lines}.py"
    path.write_text(scripts.grown(lines), encoding="utf-8")
    return path


def line_count(path: Path) -> int:
    """The lines of a file."""
    return path.read_bytes().count(b"\n")


def figures(folder: Path, rounds: int) -> list[timing.Figure]:
    """The measurements; the scripts go into the folder."""
    few = max(1, rounds // 3)
    return [
        against_floor(folder, 150, BUDGET, rounds),
        against_floor(folder, 600, BUDGET, rounds),
        speed(folder, few),
        growth(folder, few),
    ]


def main() -> None:
    """Prints the table."""
    rounds = timing.asked_rounds(__doc__, default=11)
    timing.compile_tool()
    with tempfile.TemporaryDirectory() as name:
        sys.exit(timing.report(figures(Path(name), rounds)))


if __name__ == "__main__":
    main()
