"""The result of a run for one file: every report is made from these."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from converter.dataclass import dataclass
from converter.diagnostics import Diagnostic

if TYPE_CHECKING:  # a file without TensorFlow has a result, and no plan
    from converter.plan.decisions import Command, Decision

Outcome = Literal[
    "converted",
    "added",
    "copied",
    "linked",
    "unchanged",
    "left out",
    "up to date",
    "would change",
    "stale",
    "refused",
    "unverified",
    "failed",
    "clean",
    "found",
]

EXIT_CODES: dict[Outcome, int] = {
    "converted": 0,
    "added": 0,
    "copied": 0,
    "linked": 0,
    "unchanged": 0,
    "left out": 0,
    "up to date": 0,
    "clean": 0,
    "would change": 1,
    "stale": 1,
    "found": 1,
    "refused": 2,
    "unverified": 3,
    "failed": 4,
}


@dataclass(frozen=True)
class Fix:
    """The change that would make a file what it should be: both texts, without byte order marks."""

    path: str
    before: str
    after: str


@dataclass(frozen=True)
class FileResult:
    """What became of one file.

    outcome: "added" is the module that carries the helpers of several files; "copied", "linked" and "left out" are
        what else of a folder goes into an output folder, or does not; "unverified" says that the proof failed, "stale"
        that a converted file no longer belongs to its source; "clean" and "found" are what `lint` says.
    output: the file that was written, or would be; None where none is.
    written: whether it was.
    text: the converted script, where it goes to standard output, with its byte order mark.
    diff: the unified diff, where one was asked for.
    encoding: the codec in which text and diff are bytes of the file.
    report: what verification found, as text.
    traceback: of an internal error; crash: a report of it without any text of the script.
    fix: for a file that would change.
    decisions: what the conversion decided.
    commands: what to run with the converted file, where another program has to be told the number of GPUs.
    passes: whether a refusal fails nothing, as the user asked.
    again: the command that writes the output of a run with --check; "" for other results.
    """

    path: str
    outcome: Outcome
    diagnostics: tuple[Diagnostic, ...] = ()
    output: str | None = None
    written: bool = False
    text: str | None = None
    diff: str | None = None
    encoding: str = "utf-8"
    report: str = ""
    traceback: str = ""
    crash: str = ""
    fix: Fix | None = None
    decisions: tuple[Decision, ...] = ()
    commands: tuple[Command, ...] = ()
    passes: bool = False
    again: str = ""


def exit_code(results: Sequence[FileResult]) -> int:
    """The exit status of a run: that of its worst file."""
    return max((EXIT_CODES[result.outcome] for result in results if not result.passes), default=0)
