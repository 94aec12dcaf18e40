"""How long the tool takes to find out that a file has nothing to do with TensorFlow.

Usage: python benchmarks/startup.py [--rounds N]
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import scripts
import timing


def figures(folder: Path, rounds: int) -> list[timing.Figure]:
    """The measurements; the script goes into the folder."""
    script = folder / "plain.py"
    script.write_text(scripts.plain(150), encoding="utf-8")
    bare = [sys.executable, "-c", "pass"]
    return [
        timing.Figure(
            f"`convert {mode}`, 150 lines without TensorFlow / `python -c pass`",
            timing.ratios([timing.TOOL, "convert", mode, str(script)], bare, rounds),
            4.0,
        )
        for mode in ("--check", "--in-place")
    ]


def main() -> None:
    """Prints the table."""
    rounds = timing.asked_rounds(__doc__, default=21)
    timing.compile_tool()
    with tempfile.TemporaryDirectory() as folder:
        print(timing.table(figures(Path(folder), rounds)))


if __name__ == "__main__":
    main()
