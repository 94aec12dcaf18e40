"""Wrong conversions, and which level of proof finds each.

    wrong.py [--python INTERPRETER] [--each N] [--skip FIXTURE,FIXTURE] [--lines FILE] [kind ...]

The conversions are those of tests/verify/wrong.py: each is a right one with one fault in it. The levels are the
default proof, `--steps all`, and `--whole`; a fault that one level finds is not looked for by the next ones, which
make all of its checks, too. Of each kind the table says how many were made, and how many each level finds. One that no
level finds stands below the table, with what the ledger names as not checked. --lines: a line of JSON for each, to
which a later run adds those that are lacking.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from timing import ROOT

from tests import goldens

sys.path.insert(0, str(ROOT))

from converter.verify import Interpreters, Report, VerifySettings, verify_more  # noqa: E402
from tests.verify.wrong import Wrong, spoiled, wrong_conversions  # noqa: E402

LEVELS: Mapping[str, Mapping[str, Any]] = {
    "default": {},
    "--steps all": {"steps": "all", "timeout": 40.0},
    "--whole": {"whole": True, "timeout": 60.0},
}
Row = dict[str, Any]


def tried(wrong: Wrong, python: str, pool: Interpreters) -> Row:
    """The first level that finds a wrong conversion, and its checks that fail; else what is not checked."""
    found: Row = {"kind": wrong.kind, "fixture": wrong.fixture, "level": "", "checks": [], "open": {}}
    with tempfile.TemporaryDirectory() as work:
        folder = Path(work) / wrong.fixture
        shutil.copytree(goldens.FIXTURES / wrong.fixture, folder)
        multi = folder / "multi.py"
        multi.write_text(spoiled(multi.read_text(), wrong))
        for level, how in LEVELS.items():
            report = verify_more(folder / "single.py", multi, VerifySettings(python=python, **how), None, pool)
            if report.verdict != "passed":
                return {**found, "level": level, "checks": failed(report)}
            found["open"][level] = sorted({entry.what for entry in report.ledger if entry.fate == "unchecked"})
    return found


def failed(report: Report) -> list[str]:
    """The checks that fail, or why nothing could be compared."""
    return [check.name for check in report.checks if check.status == "failed"] or [report.reason]


def chosen(kinds: Iterable[str], each: int, skipped: frozenset[str]) -> Iterator[Wrong]:
    """Of each kind so many wrong conversions."""
    counts: dict[str, int] = {}
    for wrong in wrong_conversions():
        if wrong.fixture in skipped or (kinds and wrong.kind not in kinds):
            continue
        counts[wrong.kind] = counts.get(wrong.kind, 0) + 1
        if counts[wrong.kind] <= each:
            yield wrong


def table(rows: list[Row]) -> Iterator[str]:
    """How many of each kind are found at each level; below it those that none finds."""
    yield "| kind | made | " + " | ".join(LEVELS) + " | by |"
    yield "| --- | " + "--- | " * (len(LEVELS) + 2)
    levels = list(LEVELS)
    totals = [0] * len(levels)
    for kind in dict.fromkeys(row["kind"] for row in rows):
        of = [row for row in rows if row["kind"] == kind]
        numbers = [sum(row["level"] in levels[: at + 1] for row in of) for at in range(len(levels))]
        totals = [total + number for total, number in zip(totals, numbers, strict=True)]
        by = dict.fromkeys(check for row in of for check in row["checks"][:1])
        yield f"| {kind} | {len(of)} | {' | '.join(map(str, numbers))} | {', '.join(by)[:150]} |"
    yield f"| all | {len(rows)} | {' | '.join(map(str, totals))} | |"
    for row in rows:
        if not row["level"]:
            yield f"\nnot found: {row['kind']}, {row['fixture']}; not checked: {', '.join(row['open']['--whole'])}"


def main() -> int:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kinds", nargs="*", help="default: all of them")
    parser.add_argument("--python", default=sys.executable, help="interpreter with TensorFlow")
    parser.add_argument("--each", type=int, default=9, help="at most so many of each kind")
    parser.add_argument("--skip", default="", help="fixtures that are left out")
    parser.add_argument("--lines", default="", help="a file that keeps each result")
    given = parser.parse_args()
    kept = Path(given.lines) if given.lines else None
    rows: list[Row] = [json.loads(line) for line in kept.read_text().splitlines()] if kept and kept.exists() else []
    known = {(row["kind"], row["fixture"]) for row in rows}
    with Interpreters() as pool:
        for wrong in chosen(given.kinds, given.each, frozenset(given.skip.split(","))):
            if (wrong.kind, wrong.fixture) in known:
                continue
            rows.append(tried(wrong, given.python, pool))
            print(rows[-1], file=sys.stderr, flush=True)
            if kept:
                with kept.open("a") as file:
                    file.write(json.dumps(rows[-1]) + "\n")
    print("\n".join(table(rows)))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
