"""Files of a project that change together in place: all of them change, also where the run is killed midway.

Before the first file is written, a journal lies beside the script with what each file held and is to hold. The next
run finds it there and writes what is missing.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

from converter.dataclass import dataclass
from converter.diagnostics import Refusal, refusal_of
from converter.source import load, write
from converter.source.text import sha256

JOURNAL = ".tf-multigpu-journal.json"


@dataclass(frozen=True)
class FileChange:
    """One file to replace: its present content (None if it does not exist) and its new content."""

    path: str
    before: bytes | None
    after: bytes


@contextmanager
def all_or_none(script: str, changes: Sequence[FileChange], journal: bool) -> Iterator[None]:
    """While the block runs, files change that belong together: if it is refused, all are as they were before.

    journal: whether what a killed run leaves half done is finished by the next one.

    Raises:
        Refusal: TMG007, the journal cannot be written; TMG023, another run is at work here.
    """
    path = begin(script, changes) if journal and len(changes) > 1 else ""
    try:
        yield
    except Refusal:
        for change in changes:
            _undo(change)
        _end(path)
        raise
    _end(path)


def _undo(change: FileChange) -> None:
    """Gives a file back what it held, if it holds what it was to be given."""
    with suppress(OSError, Refusal):
        if change.before == change.after or _state(change.path) != sha256(change.after):
            return
        if change.before is None:
            os.unlink(change.path)
        else:
            write(change.path, change.before)


def begin(script: str, changes: Sequence[FileChange]) -> str:
    """Writes the journal for the files that change with a script; its path. Raises what `all_or_none` raises."""
    folder = os.path.dirname(os.path.abspath(script))
    path = os.path.join(folder, JOURNAL)
    files = [
        {
            "path": os.path.relpath(os.path.abspath(change.path), folder).replace(os.sep, "/"),
            "before": None if change.before is None else sha256(change.before),
            "after": change.after.decode("latin-1"),
        }
        for change in changes
    ]
    text = json.dumps({"process": os.getpid(), "script": os.path.basename(script), "files": files})
    write(path, text.encode("ascii"), before=None)
    return path


def _end(journal: str) -> None:
    """Takes the journal away, if there is one: everything is written, or as it was before."""
    if journal:
        with suppress(FileNotFoundError):
            os.unlink(journal)


def interrupted(folder: str, may_finish: bool) -> list[str]:
    """Finishes what a killed run left half done in a folder; the files that were written for it.

    may_finish: whether this run writes in place; else it only says what is the matter.

    Raises:
        Refusal: TMG023, it is not to be finished now.
    """
    journal = os.path.join(folder or ".", JOURNAL)
    if not os.path.exists(journal):
        return []
    from converter.source.writing import is_alive

    try:
        held = json.loads(load(journal))
        process, script = int(held["process"]), str(held["script"])
        files = [
            (os.path.join(folder, row["path"]), row["before"], row["after"].encode("latin-1")) for row in held["files"]
        ]
    except (ValueError, KeyError, TypeError, AttributeError):
        raise _refusal(journal, "cannot be read", "restore the scripts from version control, and remove it") from None
    if process != os.getpid() and is_alive(process):
        raise _refusal(
            journal,
            f"belongs to process {process}, which is still at work",
            "wait for it; where that process is something else, remove the journal",
        )
    again = f"tf-multigpu convert --in-place {os.path.join(folder, script)}"
    if not may_finish:
        raise _refusal(
            journal,
            "is from a run that was stopped midway: some files are converted, and some are not",
            f"this finishes it: {again}",
        )
    edited = [path for path, before, after in files if _state(path) not in (before, sha256(after))]
    if edited:
        raise _refusal(
            journal,
            f"is from a run that was stopped midway, and {edited[0]} was edited since",
            "restore that file from version control, and run this again; or restore all files and remove the journal",
        )
    written = []
    for path, before, after in files:
        if _state(path) == before:
            write(path, after)
            written.append(path)
    _end(journal)
    return written


def _state(path: str) -> str | None:
    return sha256(load(path)) if os.path.isfile(path) else None  # what a device or a pipe holds may never end


def _refusal(journal: str, what: str, hint: str) -> Refusal:
    return refusal_of("TMG023", journal, f"the journal of a conversion in place {what}", hint)
