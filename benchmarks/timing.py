"""Times whole processes against each other, and says how that compares with a budget.

Two commands are run in turn, each first in every other round, so that what else the machine does falls on
both; a measurement is the ratio of the two in one round, and what counts is the median over the rounds.
Times are the processor's, user and system, of a process and of those that it waited for: they are the same on a
machine that others use too, but for its caches. Where work is done side by side, what counts is the time from start to
end, and such a figure says so. A figure that misses its budget is told once more below its table, and is the exit
status of the benchmark.
"""

from __future__ import annotations

import argparse
import compileall
import os
import resource
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import perf_counter

ROOT = Path(__file__).resolve().parent.parent
TOOL = str(Path(sys.executable).with_name("tf-multigpu"))


@dataclass(frozen=True)
class Run:
    """A command that ends with another status than 0, or reads a file as its standard input, in that file's folder."""

    words: Sequence[str]
    status: int = 0
    stdin: Path | None = None


Command = Sequence[str] | Run


@dataclass(frozen=True)
class Figure:
    """One measured quantity, in `unit`, against what it may be at most, or at least when `least` is set."""

    what: str
    values: tuple[float, ...]
    budget: float
    unit: str = "x"
    least: bool = False

    @property
    def within(self) -> bool:
        """Whether the median keeps the budget."""
        middle = median(self.values)
        return middle >= self.budget if self.least else middle <= self.budget

    def row(self) -> str:
        """The figure as a row of a Markdown table."""
        digits = 0 if self.budget >= 100 else 2
        sign = ">=" if self.least else "<="
        low, middle, high = (
            f"{value:,.{digits}f}" for value in (min(self.values), median(self.values), max(self.values))
        )
        verdict = "pass" if self.within else "FAIL"
        budget = f"{sign} {self.budget:,.{digits}f} {self.unit}"
        return f"| {self.what} | {budget} | {middle} {self.unit} | {low} - {high} | {verdict} |"


def table(figures: Sequence[Figure]) -> str:
    """All figures as a Markdown table."""
    head = ["| | budget | median | min - max | |", "| --- | --- | --- | --- | --- |"]
    return "\n".join([*head, *(figure.row() for figure in figures)])


def report(figures: Iterable[Figure]) -> int:
    """Prints the table, and below it what misses its budget; the exit status is 1 where something does."""
    all_of_them = list(figures)
    print(table(all_of_them))
    missed = [figure for figure in all_of_them if not figure.within]
    for figure in missed:
        print(f"over budget: {figure.what}: {median(figure.values):,.2f} {figure.unit}", file=sys.stderr)
    return 1 if missed else 0


def asked_rounds(description: str, default: int) -> int:
    """The one option of a benchmark's command line."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=default, help="how often to run each command")
    return int(parser.parse_args().rounds)


def conversion(source: Path, output: Path) -> list[str]:
    """The command that converts a file or a folder."""
    return [TOOL, "convert", str(source), "-o", str(output)]


def compile_tool() -> None:
    """Compiles the tool, which an editable install under PYTHONDONTWRITEBYTECODE leaves to every start."""
    for package in ("tf_multigpu", "converter", "rules"):
        compileall.compile_dir(ROOT / package, quiet=1)


def run(command: Command) -> None:
    """Runs a command, which has to end as it says: a refusal is fast, and would be no measurement."""
    asked = command if isinstance(command, Run) else Run(command)
    with open(asked.stdin or os.devnull, "rb") as stdin:
        done = subprocess.run(
            asked.words,
            stdin=stdin,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            cwd=asked.stdin.parent if asked.stdin else None,
        )
    if done.returncode != asked.status:
        raise SystemExit(f"exit status {done.returncode}: {' '.join(asked.words)}\n{done.stderr}")


def wall_seconds(command: Command) -> float:
    """From starting a process to its end."""
    start = perf_counter()
    run(command)
    return perf_counter() - start


def cpu_seconds(command: Command) -> float:
    """The processor time, user and system, of a process and those that it waited for."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run(command)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def alternate(
    commands: Sequence[Command], rounds: int, seconds: Callable[[Command], float] = cpu_seconds
) -> list[tuple[float, ...]]:
    """The seconds of each command, round by round, as given; every other round runs them backwards."""
    for command in commands:
        run(command)  # fills the file cache
    measured = []
    for number in range(rounds):
        order = range(len(commands)) if number % 2 == 0 else reversed(range(len(commands)))
        taken = {index: seconds(commands[index]) for index in order}
        measured.append(tuple(taken[index] for index in range(len(commands))))
    return measured


def ratios(
    command: Command, floor: Command, rounds: int, seconds: Callable[[Command], float] = cpu_seconds
) -> tuple[float, ...]:
    """Whole-process time of a command over that of its floor, round by round."""
    return tuple(mine / least for mine, least in alternate([command, floor], rounds, seconds))
