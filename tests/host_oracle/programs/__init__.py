"""Host programs as training scripts have them: loaders, samplers, memories, configurations, schedules.

Each file has those of one kind: what a person scales and the tool does, too; what a person scales and the tool keeps at
total (`kept`); what no number of rows makes N batches of, or what must be told (`others`). A program begins with `## `
and its name.
"""

from __future__ import annotations

import re
from pathlib import Path

from tests.host_oracle.judge import Program

FIRST_STEPS = "(four steps)"  # in the name of a program whose later steps begin anew


def programs(kind: str) -> dict[str, Program]:
    """The programs of a kind by their names."""
    text = (Path(__file__).parent / f"{kind}.txt").read_text()
    named = (part.partition("\n") for part in re.split(r"^## ", text, flags=re.MULTILINE)[1:])
    return {name: Program(host, sequential=4 if FIRST_STEPS in name else None) for name, _, host in named}
