"""Answers for files that train nothing, as hooks name them, before anything that takes time is imported.

A hook that runs over a project meets mostly files that name neither TensorFlow nor another library that trains. What
this module does not answer it leaves to Typer and the command, so that an answer from here is the one that the command
would have given.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from converter.cli.command_line.table import CONVERT, ConfigurationError, Option, UsageError
from converter.source.project.leading import may_train
from converter.source.quick_checks import SCRIPTS, scripts_in

_MODES = ("in_place", "check")
# Options that change nothing for a file that trains nothing, as long as their values are good.
_OF_NO_ACCOUNT = frozenset(
    ("layers", "sources", "quiet", "color", "skip_non_training", "hook", "refused", "strict", "jobs", "max_lines")
    + ("batch", "loss", "variables", "scale_lr", "scale_steps", "eval_batch")
)
_USUAL = {option.name: option.usual for option in CONVERT.options}
_FLAGS = {flag: option for option in CONVERT.options for flag in option.flags}


def nothing_to_do(arguments: Sequence[str]) -> bool:
    """True if a command line is a `convert --in-place` or `--check` of files that all train nothing."""
    given = _given(arguments)
    return given is not None and _is_passed_over(given)


def _given(arguments: Sequence[str]) -> dict[str, object] | None:
    """The values of a `convert` with paths and complete flags; None for any other command line, which Typer reads."""
    if not arguments or arguments[0] != CONVERT.name or os.name == "nt":  # where Typer expands * and ~
        return None
    given: dict[str, object] = {}
    paths: list[str] = []
    words = iter(arguments[1:])
    for word in words:
        flag, equals, value = word.partition("=")
        option = _FLAGS.get(flag)
        if option is None and word[:1] not in ("", "-"):
            paths.append(word)
        elif option is not None and option.kind is bool and not equals:
            given[option.name] = True
        elif option is not None and _is_good(option, value := value if equals else next(words, "")):
            given[option.name] = value
        else:
            return None
    return given | {"sources": tuple(paths)}


def _is_good(option: Option, value: str) -> bool:
    """True if `value` is one of the option's choices, or a number of GPUs: the options that a hook may give here."""
    return value in option.choices if option.choices else option.name == "num_gpus" and _is_number_of_gpus(value)


def _is_passed_over(given: dict[str, object]) -> bool:
    from converter.cli.config.layers import completed

    try:
        values = completed(CONVERT, given)
    except (UsageError, ConfigurationError):
        return False  # the command says what is wrong
    paths = values["sources"]
    said = {name for name, value in values.items() if name not in _OF_NO_ACCOUNT and value != _USUAL[name]}
    modes = said.intersection(_MODES)
    said -= modes
    if len(modes) != 1 or not said <= {"num_gpus"} or not _is_number_of_gpus(str(values["num_gpus"])):
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
