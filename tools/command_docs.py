"""Writes docs/commands.md from the table of commands: what --help-all says, on one page.

With --check it writes nothing, and exits with 1 if the page is not what the table says.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from converter.cli.command_line.table import COMMANDS, Argument, Command, Option

PAGE = Path(__file__).resolve().parent.parent / "docs" / "commands.md"
HEAD = """\
# Commands and options

`tf-multigpu COMMAND --help` names the usual options of a command, `--help-all` explains all of them, as this page does.
"""
COMMON = "Options of several commands"
MANY = 3  # commands that have an option alike: it then stands once, at the end


def page() -> str:
    """The whole page."""
    having = Counter(map(_item, (option for command in COMMANDS.values() for option in command.options)))
    common = [item for item, times in having.items() if times >= MANY]
    sections = [line for command in COMMANDS.values() for line in _section(command, common)]
    return "\n".join([HEAD, *sections, f"## {COMMON}", "", *common, ""])


def _section(command: Command, common: list[str]) -> Iterator[str]:
    words = "".join(f" {_usage(argument)}" for argument in command.arguments)
    yield from (f"## {command.name}", "", command.help, "")
    yield from ("```", f"tf-multigpu {command.name} [OPTIONS]{words}", "```", "")
    if command.more:
        yield from (command.more, "")
    yield from (f"- `{argument.metavar}`: {argument.help}" for argument in command.arguments)
    if command.arguments:
        yield ""
    for panel in dict.fromkeys(option.panel for option in command.options):
        own = [option for option in command.options if option.panel == panel and _item(option) not in common]
        if own:
            yield from (f"{panel}:", "", *map(_item, own), "")
    others = [option.flags[0] for option in command.options if _item(option) in common]
    if others:
        named = ", ".join(f"`{flag}`" for flag in others)
        yield from (f"And [as other commands](#{COMMON.lower().replace(' ', '-')}): {named}.", "")
    if command.examples:
        yield from ("```", *(_example(*example) for example in command.examples), "```", "")
    if command.statuses:
        yield from (f"Exit status: {command.statuses}", "")


def _usage(argument: Argument) -> str:
    name = argument.metavar + ("..." if argument.many else "")
    return f"[{name}]" if argument.optional else name


def _item(option: Option) -> str:
    flags = ", ".join(f"`{flag}`" for flag in option.flags)
    takes = f" `{option.metavar}`" if option.metavar else ""
    default = f"{option.default:g}" if isinstance(option.default, float) else str(option.default or "")
    return f"- {flags}{takes}: {option.help}" + (f" Default: `{default}`." if default else "")


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
