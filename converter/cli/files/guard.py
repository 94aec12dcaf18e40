"""Protects files that the tool did not write, or that were edited since, from being written over."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import field

from converter.dataclass import dataclass
from converter.diagnostics import Refusal, refusal_of
from converter.source import from_bytes, load
from converter.source.header import BEGIN, is_as_written
from converter.source.text import sha256

RECORD = ".tf-multigpu.sha256"  # in an output folder: of all files that were written into it, as sha256sum writes it


@dataclass
class OutputRecord:
    """The files that this and earlier runs wrote into one output folder.

    digests: of files by their paths from the folder, with slashes. changed: whether entries were added since.
    """

    folder: str
    digests: dict[str, str] = field(default_factory=dict)
    changed: bool = False

    def knows(self, path: str, data: bytes) -> bool:
        """Whether a file still holds what was written into it."""
        return self.digests.get(self._name(path)) == sha256(data)

    def add(self, path: str, data: bytes) -> None:
        """Remembers what was written into a file of the folder."""
        name, digest = self._name(path), sha256(data)
        self.changed = self.changed or self.digests.get(name) != digest
        self.digests[name] = digest

    def save(self) -> None:
        """Writes the record into its folder."""
        if not self.changed:
            return
        from converter.source import write

        kept = [(name, self.digests[name]) for name in sorted(self.digests) if self._is_there(name)]
        text = "".join(f"{digest}  {name}\n" for name, digest in kept if "\n" not in name)
        write(os.path.join(self.folder, RECORD), text.encode("utf-8", "surrogateescape"))
        self.changed = False

    def _is_there(self, name: str) -> bool:
        return os.path.lexists(os.path.join(self.folder, name))

    def _name(self, path: str) -> str:
        return os.path.relpath(os.path.abspath(path), os.path.abspath(self.folder)).replace(os.sep, "/")


def record_of(folder: str) -> OutputRecord:
    """The record in an output folder, an empty one where there is none, or none that can be read."""
    digests = {}
    with suppress(OSError), open(os.path.join(folder, RECORD), "rb") as file:
        for line in file.read().decode("utf-8", "surrogateescape").split("\n"):
            digest, _, name = line.partition("  ")
            if name:
                digests[name] = digest
    return OutputRecord(folder, digests)


def check_overwriting(target: str, data: bytes, record: OutputRecord | None, advice: str = "") -> None:
    """Refuses to write over a file that no conversion wrote, or over a conversion that was edited since.

    data: what is to be written. record: of the output folder, None outside of one. advice: instead of the usual.

    Raises:
        Refusal: TMG020.
    """
    if not os.path.isfile(target):
        return
    held = load(target)
    if held == data or not held.strip() or (record is not None and record.knows(target, held)):
        return
    why = _whose(target, held)
    if not why and target.endswith(".ipynb") and _holds_results(held, data):
        why = "holds results (outputs of its cells) that would be lost"
    if why:
        hint = advice or "name another output; --force writes over it"
        raise refusal_of("TMG020", target, f"the output {target} {why}", hint)


def _holds_results(held: bytes, data: bytes) -> bool:
    """Whether a notebook has outputs that another one lacks."""
    from converter.source.notebook import results_in

    return bool(results_in(held) - results_in(data))


def _whose(target: str, held: bytes) -> str:
    """Why a file must not be overwritten; "" if it is unchanged since a conversion wrote it."""
    try:
        text = from_bytes(target, held).text
    except Refusal:
        return "is there already, and not from tf-multigpu"
    as_written = is_as_written(text)
    if as_written:
        return ""
    if as_written is None:
        return "is from an earlier version, which did not note how it left the file: it may have been edited since"
    return (
        "was edited by hand since it was converted"
        if BEGIN[:-1] in text
        else ("is there already, and not from tf-multigpu")
    )
