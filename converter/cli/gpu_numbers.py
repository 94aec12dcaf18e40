"""Reads the value of --gpus for commands that take several numbers of towers: `2,4,8`."""

from __future__ import annotations

from converter.cli.command_line.table import UsageError


def gpu_numbers(text: str) -> tuple[int, ...]:
    """The numbers in a text such as `2,4,8`, each once.

    Raises:
        UsageError: it is no such text.
    """
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isascii() and part.isdecimal() and int(part) for part in parts):
        raise UsageError(f"--gpus: {text!r} is not a list of numbers such as 2,4,8", "--gpus")
    return tuple(dict.fromkeys(map(int, parts)))
