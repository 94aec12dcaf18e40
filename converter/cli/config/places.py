"""Where a key stands in a TOML file, which the library's values do not say."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

_PLACE = re.compile(r"\s*\(at (?:line (\d+), column (\d+)|end of document)\)$")
_STAND_IN = "tf-multigpu-stand-in"  # a key that no file has


def place_in(message: str, text: str) -> tuple[str, int, int]:
    """The library's message without its place, and the place."""
    found = _PLACE.search(message)
    if found is None:
        return message, 0, 0
    if found[1] is None:
        lines = text.split("\n")
        return message[: found.start()], len(lines), len(lines[-1]) + 1
    return message[: found.start()], int(found[1]), int(found[2])


@cache
def place_of(text: str, path: tuple[str | int, ...]) -> tuple[int, int]:
    """The line and column, from one, of the key that a path leads to; of the nearest one above, else zeros.

    Each place where the key's name stands is tried: with another name there, the key is gone and the other one is in
    its place. So neither strings, comments nor other tables are taken for it.
    """
    while path:
        found = _line_of_key(text, path)
        if found is not None:
            before = text[:found]
            return before.count("\n") + 1, found - (before.rfind("\n") + 1) + 1
        path = path[:-1]
    return 0, 0


def _line_of_key(text: str, path: tuple[str | int, ...]) -> int | None:
    number = path[-1] if isinstance(path[-1], int) else 0
    parent = path[:-2] if isinstance(path[-1], int) else path[:-1]
    key = path[-2] if isinstance(path[-1], int) else path[-1]
    here = []
    for match in re.finditer(rf"""(?<![\w"'-])(["']?){re.escape(str(key))}\1(?![\w"'-])""", text):
        tried = text[: match.start()] + _STAND_IN + text[match.end() :]
        if _STAND_IN in _at(tried, parent):
            here.append(match.start())
    # A list of tables has its name once for each of them, or once in all.
    return here[min(number, len(here) - 1)] if here else None


def _at(text: str, path: tuple[str | int, ...]) -> Any:
    """The table that a path leads to; an empty one where there is none."""
    from converter.source.toml import TOMLDecodeError, parsed

    try:
        held: Any = parsed(text)
        for part in path:
            held = held[part]
    except (TOMLDecodeError, KeyError, IndexError, TypeError):
        return {}
    return held if isinstance(held, dict) else {}
