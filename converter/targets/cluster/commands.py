"""The commands that start what was converted for a cluster."""

from __future__ import annotations

import shlex

from converter.plan.decisions import Command


def commands(path: str, source: str, gpus: int | None) -> tuple[Command, ...]:
    """On this machine, and on several. path: of the converted script."""
    script = shlex.quote(path)
    return (
        Command("here", f"tf-multigpu launch --local 2 -- {script}"),
        Command("on hosts", f"tf-multigpu launch --hosts HOST:PORT,HOST:PORT -- {script}"),
    )
