"""How long the tool takes to begin: to show its help, and to find out that a file has nothing to do with TensorFlow.

Usage: python benchmarks/startup.py [--rounds N]

All figures are over `python -c pass`. A file without TensorFlow has 150 lines, and is given in each of the ways that a
user or a hook gives one; a folder has a hundred of them, and its figure is for each file.
"""

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path

import scripts
import timing

BARE = [sys.executable, "-c", "pass"]
SHOWN, READ, PLAIN = 12.0, 20.0, 4.0  # times `python -c pass`
HOOK = re.compile(r"--check|--in-place(?! --num)")  # what is answered before Typer is imported
FILES = 100


def shown(rounds: int) -> list[timing.Figure]:
    """The version, and the help."""
    asked = (["--version"], ["--help"], ["convert", "--help"], ["verify", "--help"])
    return [
        timing.Figure(f"`{' '.join(words)}`", timing.ratios([timing.TOOL, *words], BARE, rounds), SHOWN)
        for words in asked
    ]


def plain(folder: Path, rounds: int) -> list[timing.Figure]:
    """One file without TensorFlow in all ways. Where its conversion is asked for, that there is none is status 2."""
    script, out = folder / "plain.py", folder / "out.py"
    script.write_text(scripts.plain(150), encoding="utf-8")
    tool, path = [timing.TOOL, "convert"], str(script)
    ways: dict[str, timing.Command] = {
        "`convert f.py`": timing.Run([*tool, path], 2),
        "`-o out.py`": timing.Run([*tool, path, "-o", str(out)], 2),
        "`-o out/`": timing.Run([*tool, path, "-o", str(folder / "out") + "/"], 2),
        "`--diff`": [*tool, path, "--diff"],
        "`--check`": [*tool, path, "--check"],
        "`--in-place`": [*tool, path, "--in-place"],
        "`--in-place --num-gpus=4 -v`": [*tool, path, "--in-place", "--num-gpus=4", "-v"],
        "`--in-place --skip-non-training`, a hook": [*tool, "--in-place", "--skip-non-training", path],
        "standard input": timing.Run([*tool, "-"], 2, script),
        "`python -m tf_multigpu --check`": [sys.executable, "-m", "tf_multigpu", "convert", "--check", path],
    }
    project = folder / "project"
    project.mkdir()
    (project / "pyproject.toml").write_text("[tool.tf-multigpu]\nnum-gpus = 4\nstrict = true\n", encoding="utf-8")
    (project / "plain.py").write_text(scripts.plain(150), encoding="utf-8")
    ways["`--check`, in a project with a configuration"] = [*tool, str(project / "plain.py"), "--check"]
    return [
        timing.Figure(
            f"without TensorFlow: {way}", timing.ratios(command, BARE, rounds), PLAIN if HOOK.search(way) else READ
        )
        for way, command in ways.items()
    ]


def folders(folder: Path, rounds: int) -> list[timing.Figure]:
    """A folder of such files, for each file."""
    many = folder / "many"
    many.mkdir()
    for number in range(FILES):
        (many / f"plain_{number}.py").write_text(scripts.plain(150), encoding="utf-8")
    ways = {"`--check`": ["--check"], "`-o out/`": ["-o", str(folder / "copies")]}
    return [
        timing.Figure(
            f"a folder of {FILES} without TensorFlow, each: {way}",
            tuple(
                ratio / FILES
                for ratio in timing.ratios([timing.TOOL, "convert", str(many), *words], BARE, max(1, rounds // 3))
            ),
            PLAIN,
        )
        for way, words in ways.items()
    ]


def main() -> None:
    """Prints the table."""
    rounds = timing.asked_rounds(__doc__, default=21)
    timing.compile_tool()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        sys.exit(timing.report([*shown(rounds), *plain(folder, rounds), *folders(folder, rounds)]))


if __name__ == "__main__":
    main()
