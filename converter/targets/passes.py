"""The passes of a target: each takes what is known of a script and adds changes of its text to it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, TypeVar

from converter.dataclass import dataclass
from converter.options import Options
from converter.plan.decisions import Decision
from converter.syntax.changes import Change
from converter.syntax.script import Script

Known = TypeVar("Known", bound="Case")


@dataclass(frozen=True)
class Case:
    """What is known of a script after a pass; a target whose later passes need more has a class below this one.

    script: the script, which also collects what its reader should know (`Script.say`). width: columns that an added
    line may have. changes: what the passes by then change. decisions: what they decided, for whoever runs the tool.
    modules: {name: text} of modules of helpers beside the script. others: changes of other files of its program.
    """

    script: Script
    options: Options
    width: int
    changes: tuple[Change, ...] = ()
    decisions: tuple[Decision, ...] = ()
    modules: tuple[tuple[str, str], ...] = ()
    others: tuple[tuple[Script, Change], ...] = ()

    @property
    def refused(self) -> bool:
        """Whether a pass found an error."""
        return any(finding.severity == "error" for finding in self.script.findings)


def adding(case: Known, changes: Iterable[Change]) -> Known:
    """The case with more changes."""
    return replace(case, changes=(*case.changes, *changes))


@dataclass(frozen=True)
class TargetPass:
    """One pass; `name` says what it settles.

    ends: whether an error that is found by the end of this pass keeps the later ones from running. After other passes
    they run all the same, so that one conversion names all that is in the way.
    """

    name: str
    run: Callable[[Any], Case]
    ends: bool = False


@dataclass(frozen=True)
class Fit:
    """That a target is for a script.

    trains: the call that trains, or makes what trains: messages about the script as a whole stand there.
    """

    trains: ast.AST
    passes: tuple[TargetPass, ...]


def run(case: Case, passes: Iterable[TargetPass]) -> Case:
    """Run passes on a case, and return the last case."""
    for step in passes:
        case = step.run(case)
        if step.ends and case.refused:
            break
    return case
