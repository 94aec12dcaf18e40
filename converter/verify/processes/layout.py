"""The folders that two scripts need around them, and the copies of these in which they run."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from converter.dataclass import dataclass
from converter.source.project.above import Start, start_of
from converter.verify.processes.workspace import copy_folder, lay_over


@dataclass(frozen=True)
class Copy:
    """A script in a copy of the folder around it and all that it imports.

    root: that copy. start: how the script is started there. notes: what was left out.
    """

    script: Path
    root: Path
    start: Start
    notes: tuple[str, ...] = ()

    @property
    def job(self) -> dict[str, Any]:
        """What a job says of the script, and of how it is started."""
        told: dict[str, Any] = {"script": str(self.script), "root": str(self.root)}
        if not self.start.is_plain:
            told |= {"path": list(self.start.path), "at": self.start.at, "package": self.start.package}
        return told

    def again(self, folder: Path) -> Copy:
        """A copy of this copy, for a run that must not meet the files of another one."""
        shutil.copytree(self.root, folder)
        script = folder / self.script.relative_to(self.root)
        return replace(self, script=script, root=folder, start=self.start.moved(str(script), str(folder)))


@dataclass(frozen=True)
class Layout:
    """Where an original and its conversion lie.

    start: how the original is started. root: the folder of the conversion that is laid out as the original's, or the
    part of it in which the converted script lies. place: of this folder in a copy of the original's.
    """

    single: Path
    multi: Path
    start: Start
    root: Path
    place: str = ""

    def original(self, folder: Path) -> Copy:
        """A copy of the original."""
        return copied(self.single, folder, self.start)

    def converted(self, folder: Path, parts: Mapping[str, bytes]) -> Copy:
        """A copy of the conversion, with files in place of some of it; what it lacks is the original's.

        parts: by their paths from the converted script's folder.
        """
        script, notes = copy_folder(self.multi, folder / self.place, root=self.root)
        if self.multi.parent != self.single.parent:
            copy_folder(self.single, folder, fill=True, root=Path(self.start.root))
        lay_over(script.parent, parts)
        return Copy(script, folder, self.start.moved(str(script), str(folder)), tuple(notes))


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


def copied(script: Path, folder: Path, start: Start | None = None) -> Copy:
    """A copy of a script with the folder that it needs; start: how it is started, if that is known."""
    start = start or start_of(str(script))
    copy, notes = copy_folder(script, folder, root=Path(start.root))
    return Copy(copy, folder, start.moved(str(copy), str(folder)), tuple(notes))
