"""What the tool makes of scripts that were not written for it: a table, one row for each.

Usage: python benchmarks/corpus.py CHECKOUTS LIST.json [--verify PYTHON] [-o corpus.md]

CHECKOUTS holds one folder for each repository, named owner+name; LIST.json says which of its files train:
{"repositories": {"owner/name": ["path.py", ...]}}. Checkouts are not written to. With --verify a script that
converts runs beside its conversion under that interpreter, in a copy of its checkout, from its own folder.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from statistics import median
from time import perf_counter

import timing

# Verdict of `verify` -> what a row says.
VERIFIED = {"passed": "same", "not comparable": "not comparable", "failed": "WRONG"}


@dataclass(frozen=True)
class Script:
    """A file of the list, and its checkout."""

    repository: str
    path: str
    checkout: Path


@dataclass(frozen=True)
class Row:
    """What became of one script; `milliseconds` are of the whole conversion process."""

    script: Script
    outcome: str
    codes: tuple[str, ...] = ()
    milliseconds: float = 0.0
    verdict: str = ""

    def markdown(self, verify: bool) -> str:
        """The row of the table."""
        name = f"{self.script.repository}/{self.script.path}"
        cells = [
            name,
            self.outcome,
            " ".join(self.codes),
            f"{self.milliseconds:.0f}",
            *[self.verdict] * verify,
        ]
        return f"| {' | '.join(cells)} |"


@dataclass(frozen=True)
class Done:
    """A finished process; status None means that its time ran out."""

    status: int | None
    stdout: str
    milliseconds: float


def run(command: list[str], limit: float, folder: Path | None = None) -> Done:
    """Runs a command, and stops it and all that it started when its time is over."""
    start = perf_counter()
    with subprocess.Popen(
        command,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        errors="replace",
        start_new_session=True,
    ) as process:
        try:
            stdout, _ = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return Done(None, "", limit * 1000)
    return Done(process.returncode, stdout, (perf_counter() - start) * 1000)


def outcome_in(stdout: str) -> tuple[str, tuple[str, ...]]:
    """What became of the one file in the report that `convert --json` prints, and its codes, each once.

    Raises:
        ValueError, LookupError: it is no such report.
    """
    (converted,) = json.loads(stdout)["files"]
    codes = dict.fromkeys(diagnostic["code"] for diagnostic in converted["diagnostics"])
    return converted["outcome"], tuple(codes)


def convert(script: Script, output: Path, limit: float) -> Row:
    """Converts one script to a file elsewhere."""
    source = script.checkout / script.path
    if not source.exists():
        return Row(script, "absent")
    done = run([timing.TOOL, "convert", "--json", str(source), "-o", str(output)], limit)
    if done.status is None:
        return Row(script, "timed out", milliseconds=done.milliseconds)
    try:
        outcome, codes = outcome_in(done.stdout)
    except (ValueError, LookupError):
        outcome, codes = "failed", ()
    return Row(script, "CRASHED" if outcome == "failed" else outcome, codes, done.milliseconds)


def verify(row: Row, converted: Path, python: str, limit: float, folder: Path) -> Row:
    """Compares a script with its conversion in a copy of its checkout, made in the folder."""
    checkout = folder / "checkout"
    shutil.copytree(row.script.checkout, checkout, ignore=shutil.ignore_patterns(".git"), symlinks=True)
    single = checkout / row.script.path
    multi = single.with_name(f"{single.stem}_multi_gpu.py")
    shutil.copyfile(converted, multi)
    command = [timing.TOOL, "verify", single.name, multi.name, "--json", "--python", python]
    done = run(command, limit, single.parent)
    if done.status is None:
        return replace(row, verdict="timed out")
    try:
        verdict = VERIFIED[json.loads(done.stdout)["verdict"]]
    except (ValueError, KeyError):
        verdict = "CRASHED"
    return replace(row, verdict=verdict)


def examine(script: Script, options: argparse.Namespace) -> Row:
    """All that is asked about one script, in a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        converted = Path(folder) / "multi.py"
        row = convert(script, converted, options.limit)
        if options.verify and row.outcome == "converted":
            row = verify(row, converted, options.verify, options.verify_limit, Path(folder))
    print(row.markdown(bool(options.verify)), file=sys.stderr, flush=True)
    return row


def scripts_of(checkouts: Path, listed: Path) -> list[Script]:
    """The scripts of the list, in its order."""
    repositories = json.loads(listed.read_text(encoding="utf-8"))["repositories"]
    return [
        Script(repository, path, checkouts / repository.replace("/", "+"))
        for repository, paths in repositories.items()
        for path in paths
    ]


def tally(counted: Counter[str]) -> str:
    """Counts as a sentence, the largest first."""
    return ", ".join(f"{count} {name}" for name, count in counted.most_common())


def tensorflow_version(python: str) -> str:
    """The version that an interpreter imports."""
    command = [python, "-W", "ignore", "-c", "import tensorflow; print(tensorflow.__version__)"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def report(rows: list[Row], python: str | None) -> str:
    """The whole page: totals, the most frequent codes, and the table."""
    version = subprocess.run([timing.TOOL, "--version"], capture_output=True, text=True, check=True).stdout
    times = [row.milliseconds for row in rows if row.outcome == "converted"]
    totals = [f"{len(rows)} scripts: {tally(Counter(row.outcome for row in rows))}."]
    if times:
        totals.append(f"A conversion took {median(times):.0f} ms in the middle, {max(times):.0f} ms at most.")
    if python:
        verdicts = Counter(row.verdict for row in rows if row.verdict)
        totals.append(f"Verified on TensorFlow {tensorflow_version(python)}: {tally(verdicts)}.")
    frequent = Counter(code for row in rows for code in row.codes).most_common(10)
    columns = ["script", "outcome", "codes", "ms", *["verify"] * bool(python)]
    parts = [
        "# Scripts of others",
        f"{version.strip()}, {date.today().isoformat()}.",
        " ".join(totals),
        "## The most frequent codes",
        "\n".join(["| code | scripts |", "| --- | --- |", *(f"| {code} | {n} |" for code, n in frequent)]),
        "## Scripts",
        "\n".join(
            [
                f"| {' | '.join(columns)} |",
                "|" + " --- |" * len(columns),
                *(row.markdown(bool(python)) for row in rows),
            ]
        ),
    ]
    return "\n\n".join(parts) + "\n"


def main() -> None:
    """Converts every script of the list and writes the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("checkouts", type=Path)
    parser.add_argument("list", type=Path)
    parser.add_argument("-o", "--output", type=Path, help="the Markdown page; standard output when not given")
    parser.add_argument("--jobs", type=int, default=2, help="scripts at a time")
    parser.add_argument("--limit", type=float, default=60, help="seconds for one conversion")
    parser.add_argument(
        "--verify", metavar="PYTHON", help="also compare, with TensorFlow of this interpreter"
    )
    parser.add_argument("--verify-limit", type=float, default=600, help="seconds for one comparison")
    options = parser.parse_args()
    if options.verify:
        found = shutil.which(options.verify) or parser.error(f"{options.verify}: no such interpreter")
        options.verify = str(Path(found).absolute())
    timing.compile_tool()
    with ThreadPoolExecutor(options.jobs) as pool:
        rows = list(
            pool.map(lambda script: examine(script, options), scripts_of(options.checkouts, options.list))
        )
    page = report(rows, options.verify)
    if options.output:
        options.output.write_text(page, encoding="utf-8")
    else:
        print(page, end="")


if __name__ == "__main__":
    main()
