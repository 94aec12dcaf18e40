"""What the GitHub action runs: holds the project's pairs in step, and verifies them; see action.yml.

It is asked by environment variables (TF_MULTIGPU_*), and runs in the project's folder. The tool itself annotates lines
and writes the job's summary.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

TRUE, FALSE = "true", "false"
# Files of which every pair may depend.
OF_ALL = {"pyproject.toml"}


@dataclass(frozen=True)
class Asked:
    """The inputs of the action."""

    tool: str
    paths: tuple[str, ...]
    verify: bool
    changed_only: bool
    base: str
    python: str


@dataclass(frozen=True)
class Pair:
    """A source and the output that is made of it."""

    source: str
    output: str


class Stop(Exception):
    """What ends the step at once."""


def asked() -> Asked:
    """The inputs from the environment.

    Raises:
        Stop: a switch that is neither true nor false.
    """
    paths = tuple(line.strip() for line in os.environ.get("TF_MULTIGPU_PATHS", ".").splitlines() if line.strip())
    return Asked(
        os.environ.get("TF_MULTIGPU", "tf-multigpu"),
        paths,
        _switch("verify"),
        _switch("changed-only"),
        os.environ.get("TF_MULTIGPU_BASE", ""),
        os.environ.get("TF_MULTIGPU_PYTHON", ""),
    )


def _switch(name: str) -> bool:
    value = os.environ.get("TF_MULTIGPU_" + name.upper().replace("-", "_"), FALSE).strip().lower() or FALSE
    if value not in (TRUE, FALSE):
        raise Stop(f"the input {name} is true or false, not {value}")
    return value == TRUE


def pairs_of(tool: str) -> list[Pair]:
    """The pairs of the project's configuration.

    Raises:
        Stop: it cannot be followed.
    """
    done = subprocess.run([tool, "config", "--json"], stdout=subprocess.PIPE, text=True)
    if done.returncode:
        raise Stop("the configuration cannot be followed, as said above")
    return [Pair(**pair) for pair in json.loads(done.stdout)["pairs"]]


def changed_since(base: str) -> set[str] | None:
    """The files that have changed, from the current folder; None, and why is said, where that cannot be told."""
    commit = base or _base_of_event()
    if not commit:
        print("::notice::all pairs are looked at: the event names no commit to compare with; give the input base")
        return None
    done = subprocess.run(
        ["git", "diff", "--name-only", "--relative", "-z", f"{commit}...HEAD"], capture_output=True, text=True
    )
    if done.returncode:
        why = " ".join(done.stderr.split())
        print(
            f"::warning::all pairs are looked at: git cannot compare with {commit} ({why}); "
            "actions/checkout takes the history with fetch-depth: 0"
        )
        return None
    return {name for name in done.stdout.split("\0") if name}


def _base_of_event() -> str:
    """The commit before the event: a pull request's base, or what was pushed onto."""
    path = os.environ.get("GITHUB_EVENT_PATH", "")
    event = json.loads(Path(path).read_text(encoding="utf-8")) if path and Path(path).is_file() else {}
    base = event.get("pull_request", {}).get("base", {}).get("sha") or event.get("before", "")
    return "" if set(base) <= {"0"} else base  # zeros: a branch that is new


def touched(pairs: Iterable[Pair], changed: set[str] | None) -> list[Pair]:
    """The pairs that a change may have brought out of step."""
    if changed is None or changed & OF_ALL:
        return list(pairs)
    return [pair for pair in pairs if any(_may_matter(pair, name) for name in changed)]


def _may_matter(pair: Pair, name: str) -> bool:
    """Whether a file is one of a pair's, or a module beside or below its source, which may import it."""
    for side in (pair.source, pair.output):
        path = os.path.normpath(side)
        if name == path or path == "." or name.startswith(path + "/"):
            return True
    beside = os.path.dirname(os.path.normpath(pair.source))
    return name.endswith(".py") and (not beside or name.startswith(beside + "/"))


def run(tool: str, arguments: Sequence[str], title: str) -> int:
    """Runs the tool with GitHub's format; its annotations name files from the repository's folder."""
    print(f"::group::{title}", flush=True)
    done = subprocess.run([tool, *arguments, "--output-format", "github"], stdout=subprocess.PIPE, text=True)
    folder = os.path.relpath(os.getcwd(), os.environ.get("GITHUB_WORKSPACE") or os.getcwd())
    for line in done.stdout.splitlines():
        print(re.sub(r"^(::\w+ file=)([^,:]+)", lambda found: found[1] + _from(folder, found[2]), line))
    print("::endgroup::", flush=True)
    if done.returncode and not done.stdout.strip():
        print(
            f"::error::tf-multigpu {' '.join(arguments)} ended with status {done.returncode}; see the log", flush=True
        )
    return done.returncode if done.returncode >= 0 else 128 - done.returncode


def _from(folder: str, path: str) -> str:
    """A path of an annotation, where the tool ran in this folder of the repository."""
    return os.path.normpath(os.path.join(folder, path))


def verify(asked: Asked, pair: Pair) -> int:
    """Verifies one pair."""
    python = ["--python", asked.python] if asked.python else []
    return run(asked.tool, ["verify", pair.source, pair.output, *python], f"verify {pair.source} {pair.output}")


def main() -> int:
    """Does all that is asked for; returns the worst exit status."""
    try:
        wanted = asked()
        every = pairs_of(wanted.tool)
    except Stop as stop:
        print(f"::error::{stop}")
        return _told(2, 0, 0)
    pairs = touched(every, changed_since(wanted.base)) if wanted.changed_only and every else every
    print(f"{len(pairs)} of {len(every)} pairs of the configuration are looked at")
    statuses = [run(wanted.tool, ["convert", "--check", *wanted.paths], "converted files")] if wanted.paths else []
    for pair in pairs:
        words = ["convert", "--check", pair.source, "-o", pair.output]
        statuses.append(run(wanted.tool, words, f"{pair.source} -> {pair.output}"))
    verified = 0
    for pair in pairs if wanted.verify else ():
        status = verify(wanted, pair)
        statuses.append(status)
        verified += status == 0
    if not (statuses or every):
        print("::warning::there is nothing to check: no pairs in pyproject.toml, and no paths")
    return _told(max(statuses, default=0), len(pairs), verified)


def _told(status: int, checked: int, verified: int) -> int:
    """Notes the outputs of the step."""
    if path := os.environ.get("GITHUB_OUTPUT"):
        with open(path, "a", encoding="utf-8") as file:
            file.write(f"status={status}\nchecked={checked}\nverified={verified}\n")
    return status


if __name__ == "__main__":
    sys.exit(main())
