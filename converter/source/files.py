"""The scripts that files and folders on a command line stand for."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from functools import partial

from converter.dataclass import dataclass
from converter.diagnostics import Diagnostic, whole_file
from converter.source.ignored import NOTHING, Excluded, Ignored
from converter.source.quick_checks import SCRIPTS, scripts_in


@dataclass(frozen=True)
class InputFile:
    """One script to work on.

    path: where it is. relative: its place below the folder that was named, or its bare name.
    named: whether the user named it, rather than a folder that holds it.
    """

    path: str
    relative: str
    named: bool


def expand(
    paths: Sequence[str], leave_out: str | None = None, exclude: Excluded = NOTHING, skip: bool = False
) -> tuple[tuple[InputFile, ...], tuple[Diagnostic, ...]]:
    """The scripts that files and folders stand for, each once, and TMG006 for folders without one.

    leave_out: a folder below the named ones that is not looked into. exclude: what of folders is left out, beside
    what .gitignore names. skip: whether a project's patterns leave out named files, too.
    """
    scripts: dict[str, InputFile] = {}
    empty = []
    for path in paths:
        if not os.path.isdir(path):
            if skip and exclude.takes(path):
                continue
            scripts.setdefault(os.path.realpath(path), InputFile(path, os.path.basename(path), True))
            continue
        ignored = Ignored(path, exclude)
        found = [name for name in scripts_in(path, leave_out, SCRIPTS) if not ignored.why(name)]
        if not found:
            message = "no Python script and no notebook in this folder"
            hint = "hidden folders, and what .gitignore or --exclude names, are not looked into"
            empty.append(whole_file("TMG006", path, message, hint))
        # A script comes under its own name, not under that of a link to it.
        for name in sorted(found, key=partial(_is_link, path)):
            inside = os.path.join(path, name)
            scripts.setdefault(os.path.realpath(inside), InputFile(inside, name, False))
    return tuple(scripts.values()), tuple(empty)


def _is_link(folder: str, name: str) -> bool:
    return os.path.islink(os.path.join(folder, name))


def same_file(one: str, other: str) -> bool:
    """Whether two paths lead to one file, or would if it were there."""
    with suppress(OSError, ValueError):
        return os.path.samefile(one, other)
    return os.path.realpath(one) == os.path.realpath(other)
