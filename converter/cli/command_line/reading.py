"""Reads a correct command line without Typer, which takes time to import.

What is not plain (an unknown flag, a value out of range, several short flags in one) is not read here at all:
Typer, which is made from the same table, reads it from its beginning and says what is wrong.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from converter.cli.command_line.table import COMMANDS, Command, Option


class _Unclear(Exception):
    """This command line is left to Typer."""


def read(arguments: Sequence[str]) -> tuple[Command, dict[str, object]] | None:
    """The command of a command line and the values that it gives; None where Typer has to read it."""
    command = COMMANDS.get(arguments[0]) if arguments else None
    if command is None or os.name == "nt":  # where Typer expands * and ~
        return None
    flags = {flag: option for option in command.options for flag in option.flags}
    values: dict[str, object] = {}
    try:
        words = list(_words(iter(arguments[1:]), flags, values))
        return command, _placed(command, words) | values
    except _Unclear:
        return None


def _words(rest: Iterator[str], flags: dict[str, Option], values: dict[str, object]) -> Iterator[str]:
    """The words that belong to no flag; the values of flags are put where they belong."""
    for word in rest:
        if word == "-" or word[:1] not in ("-", ""):
            yield word
            continue
        if word == "--":
            yield from rest
            return
        flag, equals, given = word.partition("=") if word[:2] == "--" else (word[:2], word[2:], word[2:])
        option = flags.get(flag)
        if option is None or (equals and option.kind is bool) or given[:1] == "=":
            raise _Unclear
        if option.kind is bool:
            values[option.name] = True
            continue
        value = _value(option, given if equals else next(rest, ""))
        held = values.get(option.name, ())
        values[option.name] = (*held, value) if option.many and isinstance(held, tuple) else value


def _value(option: Option, text: str) -> object:
    if not text or (text != "-" and text[0] == "-") or (option.choices and text not in option.choices):
        raise _Unclear
    if option.kind is str:
        return text
    whole, point, decimals = text.partition(".")
    if not whole.isascii() or not whole.isdecimal() or len(text) > 9:
        raise _Unclear
    if point and (option.kind is int or not decimals.isascii() or not decimals.isdecimal()):
        raise _Unclear
    number: float = option.kind(text)
    if option.least is not None and number < option.least:
        raise _Unclear
    return number


def _placed(command: Command, words: list[str]) -> dict[str, object]:
    """The arguments by name, as many words as there are places; one that takes many is the last."""
    values: dict[str, object] = {}
    for argument in command.arguments:
        if not words and not argument.optional:
            raise _Unclear
        if words:
            values[argument.name] = tuple(words) if argument.many else words.pop(0)
        words = [] if argument.many else words
    if words or "" in values.values() or any("" in value for value in values.values() if isinstance(value, tuple)):
        raise _Unclear
    return values
