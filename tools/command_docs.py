"""Writes docs/commands.md from the table of commands: what --help-all says, on one page.

With --check it writes nothing, and exits with 1 if the page is not what the table says.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Collection, Iterator
from pathlib import Path

from converter.cli.command_line.table import COMMANDS, ArgumentRow, CommandRow, Option

PAGE = Path(__file__).resolve().parent.parent / "docs" / "commands.md"
HEAD = """\
# Commands and options

`tf-multigpu COMMAND --help` names the usual options of a command, with examples; `--help-all` explains all of them, as
this page does: what an option takes, what it does, and in parentheses its default.
"""
MANY = 2  # commands that have an option alike: it then stands once, at the end


def page() -> str:
    """The whole page."""
    having: dict[str, list[str]] = {}
    for command in COMMANDS.values():
        for item in map(_item, command.options):
            having.setdefault(item, []).append(command.name)
    common = {item: names for item, names in having.items() if len(names) >= MANY}
    sections = [line for command in COMMANDS.values() for line in _section(command, common)]
    last = [f"{item} Of {', '.join(names)}." for item, names in common.items()]
    return "\n".join([HEAD, *sections, "## Options of several commands", "", *last, ""])


def _section(command: CommandRow, common: Collection[str]) -> Iterator[str]:
    words = "".join(f" {_usage(argument)}" for argument in command.arguments)
    yield from (f"## {command.name}", "", command.help, "")
    yield from ("```", f"tf-multigpu {command.name} [OPTIONS]{words}", "```", "")
    if command.more:
        yield from (command.more, "")
    yield from (f"- `{argument.metavar}`: {argument.help}" for argument in command.arguments)
    if command.arguments:
        yield ""
    for panel in dict.fromkeys(option.panel for option in command.options):
        own = [item for option in command.options if option.panel == panel and (item := _item(option)) not in common]
        if own:
            yield from (f"{panel}:", "", *own, "")
    if command.statuses:
        yield from (f"Exit status: {command.statuses}", "")


def _usage(argument: ArgumentRow) -> str:
    name = argument.metavar + ("..." if argument.many else "")
    return f"[{name}]" if argument.optional else name


def _item(option: Option) -> str:
    flags = ", ".join(f"`{flag}`" for flag in option.flags)
    takes = f" `{option.metavar}`" if option.metavar else ""
    default = f"{option.default:g}" if isinstance(option.default, float) else str(option.default or "")
    return f"- {flags}{takes}: {option.help}" + (f" (`{default}`)" if default else "")


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
