"""`convert --trace`: observes the results of calls that the analysis does not follow, in a run of the script."""

from __future__ import annotations

import ast
import time
from collections.abc import Sequence
from pathlib import Path

from converter.conversion import CallSite
from converter.source import Source, encode, parse
from converter.source.project.above import start_of
from converter.source.python2 import restored
from converter.source.viewed import viewed
from converter.verify.processes.answer import Stopped, clean, expect, find_interpreter
from converter.verify.processes.child_process import Limits, environment
from converter.verify.processes.family import memory_of_machine
from converter.verify.processes.interpreters import Interpreters, opened
from converter.verify.processes.layout import copied
from converter.verify.processes.runner import Runner
from converter.verify.processes.workspace import work_folder
from converter.verify.runs.data_outside import data_beside

MEMORY = 0.75  # of the machine's


def trace_calls(
    source: Source,
    sites: Sequence[CallSite],
    python: str | None = None,
    timeout: float = 600.0,
    pool: Interpreters | None = None,
) -> tuple[tuple[tuple[str, str], ...], str]:
    """Runs a script up to its first training step: ((place, fact), ...) as in Options.traced, and why there are none.

    Raises:
        VerifyError: it cannot begin. Stopped: the script does not come to a training step.
    """
    script = Path(source.path).resolve()
    limits = Limits(time.monotonic() + timeout, int(memory_of_machine() * MEMORY))
    with opened(pool) as pool, work_folder(pool.guard) as work:
        start = start_of(str(script))
        copy = copied(script, work / "original", start, data_beside(script, start))
        copy.script.write_bytes(encode(source, marked(source, sites)))
        job = {"role": "trace", "title": "the script", **copy.job((), work), "gpus": 1}
        runner = Runner(pool, find_interpreter(python), limits)
        try:
            bounded = runner.bounded("no result in time", "too much for this machine")
            with bounded, runner.begin(job, environment(1)) as child:
                expect(child, "started")
                answer = expect(child, "traced")
        except Stopped as problem:
            raise Stopped(clean(problem.reason, work), clean(problem.log, work)) from None
    return tuple(answer["facts"].items()), answer["why"] or ""


def marked(source: Source, sites: Sequence[CallSite]) -> str:
    """The script with its calls wrapped in the probe; line numbers stay. Calls inside of strings stay as they are."""
    source = viewed(source)
    lines = source.text.encode().splitlines(keepends=True)
    within = {
        (call.end_lineno, call.end_col_offset)
        for string in ast.walk(parse(source))
        if isinstance(string, ast.JoinedStr)
        for call in ast.walk(string)
        if isinstance(call, ast.Call)
    }
    inserts: dict[tuple[int, int], list[bytes]] = {}
    for site in sorted(sites, key=lambda site: site.end, reverse=True):
        if site.end not in within:
            begin = f"__tmg_end__(__tmg_begin__({site.place!r}), ".encode()
            inserts.setdefault(site.begin, []).append(begin)  # of calls that begin together, the longest first
            inserts.setdefault(site.end, []).append(b")")
    for line, column in sorted(inserts, reverse=True):
        old = lines[line - 1]
        lines[line - 1] = old[:column] + b"".join(inserts[line, column]) + old[column:]
    return restored(b"".join(lines).decode())
