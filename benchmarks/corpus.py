"""What the tool makes of scripts that were not written for it: a table, one row for each.

Usage: python benchmarks/corpus.py CHECKOUTS LIST.json [--verify PYTHON]... [-o corpus.md]

CHECKOUTS holds one folder for each repository, named owner+name; LIST.json says which of its files train:
{"repositories": {"owner/name": ["path.py", ...]}}. Checkouts are not written to. With --verify a script that
converts runs beside its conversion under that interpreter (or several), in a copy of its checkout, from its own
folder. Where other files of its project have to change with it, they do.
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
    verdicts: tuple[str, ...] = ()

    def markdown(self, verify: int) -> str:
        """The row of the table."""
        name = f"{self.script.repository}/{self.script.path}"
        cells = [
            name,
            self.outcome,
            " ".join(self.codes),
            f"{self.milliseconds:.0f}",
            *(self.verdicts or [""] * verify),
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
    """What became of the script in the report that `convert --json` prints, and its codes, each once.

    Raises:
        ValueError, LookupError: it is no such report.
    """
    converted = json.loads(stdout)["files"][0]
    codes = dict.fromkeys(diagnostic["code"] for diagnostic in converted["diagnostics"])
    return converted["outcome"], tuple(codes)


def convert(script: Script, output: Path, limit: float) -> Row:
    """Converts one script, and the files that change with it, into a folder."""
    source = script.checkout / script.path
    if not source.exists():
        return Row(script, "absent")
    done = run([timing.TOOL, "convert", "--json", str(source), "--output-dir", str(output)], limit)
    if done.status is None:
        return Row(script, "timed out", milliseconds=done.milliseconds)
    try:
        outcome, codes = outcome_in(done.stdout)
    except (ValueError, LookupError):
        outcome, codes = "failed", ()
    return Row(script, "CRASHED" if outcome == "failed" else outcome, codes, done.milliseconds)


def verify(script: Script, converted: Path, python: str, limit: float, folder: Path) -> str:
    """The verdict on a script and its conversion, in a copy of its checkout, made in the folder."""
    checkout = folder / "checkout"
    shutil.copytree(script.checkout, checkout, ignore=shutil.ignore_patterns(".git"), symlinks=True)
    single = checkout / script.path
    command = [timing.TOOL, "verify", single.name, str(converted / single.name), "--json", "--python", python]
    done = run(command, limit, single.parent)
    shutil.rmtree(checkout)
    if done.status is None:
        return "timed out"
    try:
        return VERIFIED[json.loads(done.stdout)["verdict"]]
    except (ValueError, KeyError):
        return "CRASHED"


def examine(script: Script, options: argparse.Namespace) -> Row:
    """All that is asked about one script, in a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        converted = Path(folder) / "converted"
        row = convert(script, converted, options.limit)
        if options.verify and row.outcome == "converted":
            limit = options.verify_limit
            verdicts = [verify(script, converted, python, limit, Path(folder)) for python in options.verify]
            row = replace(row, verdicts=tuple(verdicts))
    print(row.markdown(len(options.verify)), file=sys.stderr, flush=True)
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


def report(rows: list[Row], pythons: list[str]) -> str:
    """The whole page: totals, the most frequent codes, and the table."""
    version = subprocess.run([timing.TOOL, "--version"], capture_output=True, text=True, check=True).stdout
    times = [row.milliseconds for row in rows if row.outcome == "converted"]
    totals = [f"{len(rows)} scripts: {tally(Counter(row.outcome for row in rows))}."]
    if times:
        totals.append(f"A conversion took {median(times):.0f} ms in the middle, {max(times):.0f} ms at most.")
    versions = [tensorflow_version(python) for python in pythons]
    for number, tensorflow in enumerate(versions):
        verdicts = Counter(row.verdicts[number] for row in rows if row.verdicts)
        totals.append(f"Verified on TensorFlow {tensorflow}: {tally(verdicts)}.")
    frequent = Counter(code for row in rows for code in row.codes).most_common(10)
    columns = ["script", "outcome", "codes", "ms", *(f"on {version}" for version in versions)]
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
                *(row.markdown(len(pythons)) for row in rows),
            ]
        ),
    ]
    return "\n\n".join(parts) + "\n"


def main() -> None:
    """Converts every script of the list and writes the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkouts", type=Path)
    parser.add_argument("list", type=Path)
    parser.add_argument("-o", "--output", type=Path, help="the Markdown page; standard output when not given")
    parser.add_argument("--jobs", type=int, default=2, help="scripts at a time")
    parser.add_argument("--limit", type=float, default=60, help="seconds for one conversion")
    parser.add_argument(
        "--verify",
        metavar="PYTHON",
        action="append",
        default=[],
        help="also compare, with TensorFlow of this interpreter; repeatable",
    )
    parser.add_argument("--verify-limit", type=float, default=600, help="seconds for one comparison")
    options = parser.parse_args()
    found = [shutil.which(python) or parser.error(f"{python}: no such interpreter") for python in options.verify]
    options.verify = [str(Path(python).absolute()) for python in found]
    timing.compile_tool()
    with ThreadPoolExecutor(options.jobs) as pool:
        rows = list(pool.map(lambda script: examine(script, options), scripts_of(options.checkouts, options.list)))
    page = report(rows, options.verify)
    if options.output:
        options.output.write_text(page, encoding="utf-8")
    else:
        print(page, end="")


if __name__ == "__main__":
    main()
