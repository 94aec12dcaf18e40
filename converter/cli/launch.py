"""`tf-multigpu launch`: starts a script that was converted for a cluster."""

from __future__ import annotations

import os
import shutil
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

from converter.cli.command_line.table import RESTARTS, UsageError
from converter.cli.endings import ended_in_order

_WRITING = threading.Lock()


def launch_command(
    *,
    script: str,
    args: Sequence[str],
    local: str | None,
    hosts: str | None,
    restarts: int | None,
    timeout: float,
    python: str | None,
) -> int:
    """Runs all tasks here, or prints the command for each host; returns the exit status."""
    from converter.verify.launch.run import LaunchSettings, run
    from converter.verify.launch.tasks import commands, count, named_hosts

    if (local is None) == (hosts is None):
        raise UsageError("either --local or --hosts says where the tasks run", "--local")
    if hosts is not None and timeout:
        raise UsageError("is for --local: each host's own command ends by itself", "--timeout")
    if hosts is not None and restarts is not None:
        raise UsageError("is for --local: each host's own command is started again by whoever runs it", "--restarts")
    if local is not None and python is not None and shutil.which(python) is None:
        raise UsageError(f"{python}: no such interpreter", "--python")
    _check(Path(script))
    try:
        workers = count(local) if local is not None else 0
        named = named_hosts(hosts) if hosts is not None else []
    except ValueError as error:
        raise UsageError(str(error), "--local" if local is not None else "--hosts") from None
    paths, started = started_by(script)
    if hosts is not None:
        first = [f"PYTHONPATH={os.pathsep.join(map(os.path.relpath, paths))}"] if paths else []
        words = [*(["env", *first] if first else []), python or "python", *started, *args]
        for host, line in commands(named, words):
            print(f"# on {host}\n{line}")
        return 0
    with ended_in_order():
        words = [python or sys.executable, *started, *args]
        if paths:
            held_before = [os.environ["PYTHONPATH"]] if os.environ.get("PYTHONPATH") else []
            os.environ["PYTHONPATH"] = os.pathsep.join([*paths, *held_before])
        deadline = time.monotonic() + timeout if timeout else None
        return run(
            LaunchSettings(tuple(words), workers, RESTARTS if restarts is None else restarts, deadline), _show, _say
        )


def started_by(script: str) -> tuple[list[str], list[str]]:
    """The folders that a script needs on Python's path beside its own, and what follows the interpreter's name."""
    from converter.source.project.above import start_of

    start = start_of(script)
    if start.package:
        return list(start.folders), ["-m", f"{start.package}.{Path(script).stem}"]
    return list(start.folders), [script]


def _check(script: Path) -> None:
    from converter.source.header import HeaderError, find_header

    try:
        header = find_header(script.read_bytes().decode("utf-8", "replace"))
    except OSError as error:
        raise UsageError(f"{script}: {error.strerror}", "SCRIPT") from None
    except HeaderError:
        header = None
    if header is None or header.options.target != "cluster":
        raise UsageError(f"{script} was not converted with --target cluster", "SCRIPT")


def _show(line: str) -> None:
    _write(sys.stdout, line)


def _say(line: str) -> None:
    _write(sys.stderr, f"tf-multigpu: {line}")


def _write(stream: TextIO, line: str) -> None:
    """Writes a whole line: each task has a thread that shows its lines, and print() writes the end of one by itself."""
    with _WRITING:
        stream.write(f"{line}\n")
        stream.flush()
