"""What passes through the busiest device in a step, for each placement of the variables.

    traffic.py [--gpus 2,4,8] [--python INTERPRETER ...] [SCRIPT ...]

Parameters and gradients in one direction, in units of the parameters' bytes, by the shapes of the tensors that cross
devices in the partitioned graph of an executed step; towers on virtual CPU devices. The budget of `partitioned` is
1.05 times what any all-reduce must move, 2(N-1)/N; exit status 1 where it is missed. Default: the scripts of
fixtures/partitioned, on this TensorFlow and on that of .venv-tf1.15 where there is one.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import get_args

from timing import ROOT

from converter.choices import Variables
from converter.conversion import convert
from converter.options import Options
from converter.source import read
from converter.verify.processes.interpreters import Interpreters
from converter.verify.profile import Profile, ProfileSettings, profile
from converter.verify.profile.data import EXCHANGED

SCRIPTS = sorted((ROOT / "fixtures/partitioned").glob("*/single.py"))
OTHER = ROOT / ".venv-tf1.15/bin/python"
BUDGET = 1.05


def measured(script: Path, placement: Variables, gpus: tuple[int, ...], python: str, pool: Interpreters) -> Profile:
    """One step of a script's conversion on each of these numbers of towers."""
    conversion = convert(read(str(script)), Options(variables=placement))
    assert conversion.text is not None, conversion.diagnostics
    with TemporaryDirectory() as folder:
        multi = Path(folder, "multi.py")
        multi.write_text(conversion.text, encoding="utf-8")
        return profile(script, multi, ProfileSettings(gpus, python=python), pool)


def rows(script: Path, gpus: tuple[int, ...], python: str, pool: Interpreters) -> tuple[list[str], bool]:
    """A row of the table for each placement, and whether the budget is kept."""
    found, kept = [], True
    for placement in get_args(Variables):
        result = measured(script, placement, gpus, python, pool)
        factors = [one.busiest(*EXCHANGED)[1] / result.parameters for one in result.measured]
        within = [factor <= BUDGET * 2 * (n - 1) / n for n, factor in zip(gpus, factors, strict=True)]
        verdict = ("pass" if all(within) else "FAIL") if placement == "partitioned" else ""
        kept &= verdict != "FAIL"
        version = dict(result.versions).get("TensorFlow", "")
        cells = " | ".join(f"{factor:.2f}" for factor in factors)
        found.append(f"| {script.parent.name} | {version} | {placement} | {cells} | {verdict} |")
        print(found[-1], file=sys.stderr, flush=True)
    return found, kept


def report(scripts: Sequence[Path], gpus: tuple[int, ...], pythons: Sequence[str]) -> bool:
    """Prints the table; whether every figure keeps its budget."""
    head = ["script", "TensorFlow", "--variables", *(f"N = {n}" for n in gpus), ""]
    bound = " | ".join(f"{BUDGET * 2 * (n - 1) / n:.2f}" for n in gpus)
    lines = [f"| {' | '.join(head)} |", "|" + " --- |" * len(head), f"| | | budget of partitioned | {bound} | |"]
    kept = True
    for python in pythons:
        with Interpreters() as pool:
            for script in scripts:
                more, within = rows(script, gpus, python, pool)
                lines, kept = lines + more, kept and within
    print("\n".join(lines))
    return kept


def main() -> int:
    """Measures what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scripts", nargs="*", type=Path, help="default: fixtures/partitioned/*/single.py")
    parser.add_argument("--gpus", default="2,4,8", help="numbers of towers")
    parser.add_argument("--python", action="append", help="interpreter with TensorFlow, may be repeated")
    given = parser.parse_args()
    pythons = given.python or [sys.executable, *([str(OTHER)] if OTHER.exists() else [])]
    gpus = tuple(int(part) for part in given.gpus.split(","))
    return 0 if report([s.resolve() for s in given.scripts] or SCRIPTS, gpus, pythons) else 1


if __name__ == "__main__":
    raise SystemExit(main())
