"""The help of the program and of its commands, from the table of options."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterable, Iterator
from functools import partial
from textwrap import wrap as wrapped

from converter.cli.command_line.table import COMMANDS, HELP, HELP_ALL, PROGRAM, Argument, Command, Option
from converter.cli.terminal import has_color

wrap = partial(wrapped, break_on_hyphens=False)  # an option keeps its name in one piece
_NARROWEST, _WIDEST = 40, 100
SHOWN_EXAMPLES = 2  # where not all is asked for
_FIRST = 32  # columns that flags get at most before what they do begins on the next line


def help_text(command: Command | None = None, whole: bool = False) -> str:
    """What --help shows of a command, or of the program: as wide as the terminal, with headings in bold on one.

    whole: whether options that are seldom needed are explained too; else they are named.
    """
    width = max(_NARROWEST, min(shutil.get_terminal_size().columns, _WIDEST))
    shown = command or PROGRAM
    lines = [*_head(shown, width), *_body(shown, width, whole)]
    if not whole:
        lines += _rare(shown, width)
    if command is None:
        lines += _panel("Commands", [(one.name, one.help) for one in COMMANDS.values()], width)
    lines += _tail(shown, width, whole)
    return "\n".join(lines)


def _head(command: Command, width: int) -> Iterator[str]:
    words = ["[OPTIONS]", *map(_usage, command.arguments)] if command.name else ["[OPTIONS]", "COMMAND", "[ARGS]..."]
    yield from wrap(" ".join(["Usage: tf-multigpu", *filter(None, [command.name]), *words]), width)
    yield ""
    yield from wrap(" ".join(filter(None, (command.help, command.more))), width)


def _usage(argument: Argument) -> str:
    shown = f"{argument.metavar}..." if argument.many else argument.metavar
    return f"[{shown}]" if argument.optional else shown


def _body(command: Command, width: int, whole: bool) -> Iterator[str]:
    if command.arguments:
        yield from _panel("Arguments", [(one.metavar, one.help) for one in command.arguments], width)
    panels: dict[str, list[Option]] = {}
    for option in (*(one for one in command.options if whole or not one.rare), HELP):
        panels.setdefault(option.panel, []).append(option)
    for heading, options in panels.items():
        yield from _panel(heading, [(_flags(option), _meaning(option, whole)) for option in options], width)


def _rare(command: Command, width: int) -> Iterator[str]:
    names = sorted(option.flags[0] for option in command.options if option.rare)
    if names:
        yield ""
        yield from wrap(f"More ({HELP_ALL.flags[0]}): {', '.join(names)}.", width)


def _flags(option: Option) -> str:
    short = [flag for flag in option.flags if not flag.startswith("--")]
    long = [flag for flag in option.flags if flag.startswith("--")]
    names = ", ".join(short + long) if short else "    " + ", ".join(long)
    return f"{names} {option.metavar}".rstrip()


def _meaning(option: Option, whole: bool) -> str:
    """What an option does, and its default."""
    does = option.help if whole or not option.brief else option.brief
    if option.default in (None, ""):
        return does
    return f"{does} [default: {option.default:g}]" if isinstance(option.default, float) else (
        f"{does} [default: {option.default}]"
    )


def _panel(heading: str, rows: Iterable[tuple[str, str]], width: int) -> Iterator[str]:
    """Two columns under a heading; what is too long for the first gets a line of its own."""
    pairs = list(rows)
    column = max(len(name) for name, _ in pairs if len(name) <= _FIRST) + 4
    yield ""
    yield _bold(heading + ":")
    for name, text in pairs:
        told = wrap(text, width - column) or [""]
        if len(name) > column - 4 and len(name) + len(text) + 4 <= width:
            yield f"  {name}  {text}"
            continue
        if len(name) > column - 4:
            yield "  " + name
        else:
            yield ("  " + name.ljust(column - 2) + told.pop(0)).rstrip()
        yield from (" " * column + line for line in told)


def _tail(command: Command, width: int, whole: bool) -> Iterator[str]:
    if command.examples:
        yield ""
        yield _bold("Examples:")
        for line, purpose in command.examples if whole else command.examples[:SHOWN_EXAMPLES]:
            if len(line) + len(purpose) + 4 <= width:
                yield f"  {line}  {purpose}".rstrip()
                continue
            yield "  " + line
            yield from wrap(purpose, width, initial_indent="      ", subsequent_indent="      ")
    if command.statuses:
        yield ""
        yield from wrap(f"Exit status: {command.statuses}", width)


def _bold(text: str) -> str:
    return f"\x1b[1m{text}\x1b[0m" if has_color(sys.stdout) else text
