"""Answers for files that train nothing before anything that takes time is imported.

A hook that runs over a project meets mostly files that name neither TensorFlow nor another library that trains. What
this module does not answer it leaves to the command, so that an answer from here is the one that the command would
have given.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

from converter.cli.command_line.table import CONVERT
from converter.source.look import SCRIPTS, scripts_in
from converter.source.project.leading import may_train

_MODES = ("in_place", "check")
# Options that change nothing for a file that trains nothing, as long as their values are good.
_OF_NO_ACCOUNT = {
    "layers",
    "sources",
    "quiet",
    "color",
    "skip_non_training",
    "hook",
    "refused",
    "strict",
    "jobs",
    "max_lines",
    "batch",
    "loss",
    "variables",
    "scale_lr",
    "scale_steps",
    "eval_batch",
}
_USUAL = {option.name: option.usual for option in CONVERT.options}


def nothing_to_do(values: Mapping[str, object]) -> bool:
    """True if `convert` passes over files that train nothing in this mode, and all files are such."""
    paths = values["sources"]
    given = {name for name, value in values.items() if name not in _OF_NO_ACCOUNT and value != _USUAL[name]}
    modes = given.intersection(_MODES)
    given -= modes
    if len(modes) != 1 or not given <= {"num_gpus"} or not _is_number_of_gpus(str(values["num_gpus"])):
        return False
    return isinstance(paths, tuple) and bool(paths) and all(_trains_nothing(path) for path in paths)


def _is_number_of_gpus(value: str) -> bool:
    return value == "auto" or (value.isascii() and value.isdecimal() and bool(value.strip("0")))


def _trains_nothing(path: str) -> bool:
    try:
        return not any(may_train(name, data) for name, data in _contents(path))
    except (OSError, ValueError):
        return False


def _contents(path: str) -> Iterator[tuple[str, bytes]]:
    files = [path]
    if os.path.isdir(path):
        files = [os.path.join(path, name) for name in scripts_in(path, None, SCRIPTS)]
        if not files:
            raise ValueError("a folder without scripts is refused")
    for name in files:
        with open(name, "rb") as file:
            yield name, file.read()
