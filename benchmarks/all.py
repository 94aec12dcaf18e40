"""Runs all benchmarks, one after the other, and tells at the end which ones miss a budget.

Usage: python benchmarks/all.py [name ...]
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

# Each prints a table, and exits with 1 where a figure misses its budget.
BENCHMARKS = {
    "startup": [],
    "convert": [],
    "scaling": [],
    "folder": [],
    "traffic": [],
    "steps": [],
    "published": [],
    "cluster": ["--workers", "2,4"],
    "verify": ["--rounds", "5", "--repeats", "0", "logistic_regression", "layers_cnn"],
}


def main() -> None:
    """Prints all tables; the exit status is 1 where one of them has a figure over its budget."""
    names = sys.argv[1:] or list(BENCHMARKS)
    missed = []
    for name in names:
        print(f"\n## {name}\n", flush=True)
        command = [sys.executable, str(Path(__file__).with_name(f"{name}.py")), *BENCHMARKS.get(name, [])]
        if subprocess.run(command).returncode:
            missed.append(name)
    if missed:
        sys.exit(f"\nover budget, or failed: {', '.join(missed)}")


if __name__ == "__main__":
    main()
