"""The folders that two scripts need around them, and the copies of these in which they run."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from converter.dataclass import dataclass
from converter.source.project.above import Start, start_of
from converter.verify.processes.workspace import copy_data, copy_folder, lay_over


@dataclass(frozen=True)
class Copy:
    """A script in a copy of the folder around it and all that it imports.

    root: that copy. start: how the script is started there. notes: what was left out. top: the folder that holds the
    root and copies of data outside of it; None for the root itself.
    """

    script: Path
    root: Path
    start: Start
    notes: tuple[str, ...] = ()
    top: Path | None = None

    def job(self, args: Iterable[str], work: Path) -> dict[str, Any]:
        """What a job says of the script, of how it is started, and of the folder for what it leaves."""
        told: dict[str, Any] = {"script": str(self.script), "root": str(self.root)}
        if not self.start.is_plain:
            told |= {"path": list(self.start.path), "at": self.start.at, "package": self.start.package}
        return {**told, "args": list(args), "work": str(work), "log": str(work / "log")}

    def again(self, folder: Path) -> Copy:
        """A copy of this copy, for a run that must not meet the files of another one."""
        top = self.top or self.root
        shutil.copytree(top, folder)
        script, root = folder / self.script.relative_to(top), folder / self.root.relative_to(top)
        return replace(self, script=script, root=root, start=self.start.moved(str(script), str(root)), top=folder)


@dataclass(frozen=True)
class Layout:
    """Where an original and its conversion lie.

    start: how the original is started. root: the folder of the conversion that is laid out as the original's, or the
    part of it in which the converted script lies. place: of this folder in a copy of the original's. data: what the
    original finds outside of its root, for both. set_up: makes changes in the root of each copy.
    """

    single: Path
    multi: Path
    start: Start
    root: Path
    place: str = ""
    data: tuple[Path, ...] = ()
    set_up: Callable[[Path], None] | None = None

    def original(self, folder: Path) -> Copy:
        """A copy of the original."""
        return self._set_up(copied(self.single, folder, self.start, self.data))

    def _set_up(self, copy: Copy) -> Copy:
        if self.set_up is not None:
            self.set_up(copy.root)
        return copy

    def converted(self, folder: Path, parts: Mapping[str, bytes]) -> Copy:
        """A copy of the conversion, with files in place of some of it; what it lacks is the original's.

        parts: by their paths from the converted script's folder.
        """
        original = Path(self.start.root)
        root = _root_in(folder, original, self.data)
        script, notes = copy_folder(self.multi, root / self.place, root=self.root)
        if self.multi.parent != self.single.parent:
            copy_folder(self.single, root, fill=True, root=original)
        lay_over(script.parent, parts)
        notes += copy_data(self.data, original, root)
        return self._set_up(Copy(script, root, self.start.moved(str(script), str(root)), tuple(notes), folder))


def layout_of(single: Path, multi: Path) -> Layout:
    """Where an original and its conversion lie; both paths are absolute."""
    start = start_of(str(single))
    if not start.below:
        return Layout(single, multi, start, multi.parent)
    if multi.parent == single.parent:
        return Layout(single, multi, start, Path(start.root))
    ending = os.path.join(os.sep, start.below)
    if str(multi.parent).endswith(ending):
        root = Path(str(multi.parent).removesuffix(ending) or os.sep)
        found = start_of(str(multi))
        if str(root) in (found.root, *found.path) or (root / ".tf-multigpu.sha256").is_file():
            return Layout(single, multi, start, root)
    return Layout(single, multi, start, multi.parent, start.below)


def copied(script: Path, folder: Path, start: Start, data: tuple[Path, ...] = ()) -> Copy:
    """A copy of a script with the folder that it needs; start: how it is started. data: as of `Layout`."""
    original = Path(start.root)
    root = _root_in(folder, original, data)
    copy, notes = copy_folder(script, root, root=original)
    notes += copy_data(data, original, root)
    return Copy(copy, root, start.moved(str(copy), str(root)), tuple(notes), folder)


def _root_in(folder: Path, root: Path, data: tuple[Path, ...]) -> Path:
    """Where the copy of a root goes, so that the copies of data outside of it lie in the folder, too.

    Seen from the copy, `../data` is where it is as seen from the root: as many folders of the root's path are kept.
    """
    if not data:
        return folder
    around = os.path.commonpath([str(root), *(str(path.parent) for path in data)])
    return folder / os.path.relpath(root, around)
