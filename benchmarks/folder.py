"""How much sooner a folder of training scripts is converted by two processes than by one, and what that costs.

Usage: python benchmarks/folder.py [--rounds N]

A hundred scripts of 120 to 320 lines. Sooner: from start to end, which is what two cores are for; another program
that keeps a core busy meanwhile takes this gain away, so the load of the machine stands above the table. The cost is
processor time, of all processes together.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from time import perf_counter

import scripts
import timing

SCRIPTS = 100


def figures(folder: Path, rounds: int) -> list[timing.Figure]:
    """The measurements; the scripts go into the folder."""
    sources = folder / "sources"
    sources.mkdir()
    for number in range(SCRIPTS):
        (sources / f"train_{number}.py").write_text(scripts.grown(120 + 2 * number), encoding="utf-8")
    convert = [*timing.conversion(sources, folder / "converted"), "--jobs"]
    one, two = [*convert, "1"], [*convert, "2"]
    walls: list[float] = []

    def seconds(command: timing.Command) -> float:
        start = perf_counter()
        taken = timing.cpu_seconds(command)
        walls.append(perf_counter() - start)
        return taken

    cost = tuple(of_two / of_one for of_one, of_two in timing.alternate([one, two], rounds, seconds))
    pairs = [walls[first : first + 2] for first in range(0, len(walls), 2)]
    pairs = [pair[::-1] if number % 2 else pair for number, pair in enumerate(pairs)]
    sooner = tuple(of_one / of_two for of_one, of_two in pairs)
    what = f"{SCRIPTS} training scripts"
    return [
        timing.Figure(f"{what}: one process / two, from start to end", sooner, 1.7, least=True),
        timing.Figure(f"{what}: two processes / one, processor time", cost, 1.15),
    ]


def main() -> None:
    """Prints the table."""
    rounds = timing.asked_rounds(__doc__, default=5)
    timing.compile_tool()
    print(f"load: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores\n")
    with tempfile.TemporaryDirectory() as name:
        sys.exit(timing.report(figures(Path(name), rounds)))


if __name__ == "__main__":
    main()
