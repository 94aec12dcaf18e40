"""The quick way out, before anything that takes time is imported.

A hook that runs over a project meets mostly files without TensorFlow, and building the command line
alone takes longer than reading them. What this module does not know it leaves to the command line, so
that an answer from here is the one that the command line would have given.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from converter.source.look import leads_to_tensorflow, scripts_in

_MODES = {"--in-place", "--check"}
_SWITCHES = {"--quiet", "-q", "--skip-non-training"}
_CHOICES = {
    "--batch": {"per-gpu", "total"},
    "--variables": {"cpu", "gpu:0", "balanced"},
    "--scale-lr": {"none", "linear", "sqrt"},
}


def nothing_to_do(arguments: Sequence[str]) -> bool:
    """Whether this is `convert` in a mode that passes over files without TensorFlow, and all are such."""
    if not arguments or arguments[0] != "convert":
        return False
    paths = _paths(arguments[1:])
    return bool(paths) and all(_is_without_tensorflow(path) for path in paths)


def _paths(arguments: Sequence[str]) -> list[str]:
    """The files and folders among the arguments; none where an argument is not understood."""
    paths, modes = [], []
    rest = iter(arguments)
    for argument in rest:
        if argument in _MODES:
            modes.append(argument)
        elif argument == "--num-gpus":
            value = next(rest, "")
            if value != "auto" and not (value.isascii() and value.isdecimal() and value.strip("0")):
                return []
        elif argument in _CHOICES:
            if next(rest, "") not in _CHOICES[argument]:
                return []
        elif argument.startswith("-"):
            if argument not in _SWITCHES:
                return []
        else:
            paths.append(argument)
    return paths if len(set(modes)) == 1 else []


def _is_without_tensorflow(path: str) -> bool:
    try:
        return not any(leads_to_tensorflow(name, data) for name, data in _contents(path))
    except (OSError, ValueError):
        return False


def _contents(path: str) -> Iterator[tuple[str, bytes]]:
    files = [path]
    if os.path.isdir(path):
        files = [os.path.join(path, name) for name in scripts_in(path)]
        if not files:
            raise ValueError("a folder without scripts is refused")
    for name in files:
        with open(name, "rb") as file:
            yield name, file.read()
