"""Writes docs/commands.md from the table of commands: what --help-all says, on one page.

With --check it writes nothing, and exits with 1 if the page is not what the table says.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from converter.cli.command_line.table import COMMANDS, Argument, Command, Option

PAGE = Path(__file__).resolve().parent.parent / "docs" / "commands.md"
HEAD = """\
# Commands and options

`tf-multigpu COMMAND --help` names the usual options of a command, `--help-all` explains all of them, as this page does.
"""


def page() -> str:
    """The whole page."""
    return "\n".join([HEAD, *(line for command in COMMANDS.values() for line in _section(command))])


def _section(command: Command) -> Iterator[str]:
    words = "".join(f" {_usage(argument)}" for argument in command.arguments)
    yield from (f"## {command.name}", "", command.help, "")
    yield from ("```", f"tf-multigpu {command.name} [OPTIONS]{words}", "```", "")
    if command.more:
        yield from (command.more, "")
    yield from (f"- `{argument.metavar}`: {argument.help}" for argument in command.arguments)
    if command.arguments:
        yield ""
    for panel in dict.fromkeys(option.panel for option in command.options):
        options = [option for option in command.options if option.panel == panel]
        yield from (f"| {panel} | | default |", "| --- | --- | --- |", *map(_row, options), "")
    if command.examples:
        yield from ("```", *(_example(*example) for example in command.examples), "```", "")
    if command.statuses:
        yield from (f"Exit status: {command.statuses}", "")


def _usage(argument: Argument) -> str:
    name = argument.metavar + ("..." if argument.many else "")
    return f"[{name}]" if argument.optional else name


def _row(option: Option) -> str:
    flags = ", ".join(f"`{flag}`" for flag in option.flags)
    takes = f" `{option.metavar}`".replace("|", "\\|") if option.metavar else ""
    default = f"{option.default:g}" if isinstance(option.default, float) else str(option.default or "")
    return f"| {flags}{takes} | {option.help} | {default} |"


def _example(line: str, purpose: str) -> str:
    return f"{line}    # {purpose}" if purpose else line


def main() -> int:
    """Writes the page, or checks it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    if not parser.parse_args().check:
        PAGE.write_text(page(), encoding="utf-8")
        return 0
    if PAGE.is_file() and PAGE.read_text(encoding="utf-8") == page():
        return 0
    print("docs/commands.md is not what the commands take; run `make docs`", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
