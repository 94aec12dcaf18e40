"""Formatting of a converted file by the settings that its project gives black, ruff and isort.

A file that its project's formatter leaves alone is left alone by it after the conversion too. Quotes, blank lines and
wrapped lines are black's; ruff's formatter writes the same. A file that the formatter would change is not formatted:
the lines of its author stay as they are.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Mapping
from functools import cache

from converter.dataclass import dataclass
from converter.parsing import parse_text
from converter.source.header import HELPERS

FORMATTED = 88  # the line length of black and ruff where a project sets none
UNSET = 100  # for projects without a formatter
SPLIT = "# isort: split"  # isort and ruff sort the imports above and below it by themselves
Trace = tuple[tuple[int, tuple[str, ...]], ...]  # lines from one, each with the rules that it comes from
_SKIP = "fmt: skip"  # a comment by which black and ruff leave a statement as it is
_PARENTHESIS = re.compile(r"\s*with \(")
_STOPS = ("pyproject.toml", "ruff.toml", ".ruff.toml", ".isort.cfg")
_IMPORT = re.compile(r"(?:import|from) |    \w+,\s*$|\)\s*$")  # a line of an import, which may stand on several
_LOOSE = re.compile(r"[\s\"',()]")  # what a formatter may add, take away or write otherwise


@dataclass(frozen=True)
class Style:
    """How a project formats its files.

    width: of its lines, in characters. formatter: "black", "ruff", or "" for none. double: whether strings get double
    quotes. commas: whether a comma behind the last element keeps a list on several lines. preview: black's unstable
    style. targets: the Python versions that black is told, as it names them. sorted_imports: whether isort, or ruff's
    rule I001, sorts imports.
    """

    width: int = UNSET
    formatter: str = ""
    double: bool = True
    commas: bool = True
    preview: bool = False
    targets: tuple[str, ...] = ()
    sorted_imports: bool = False


def style_of(path: str) -> Style:
    """The style of the project that a file belongs to: of the nearest folder above it that has settings."""
    return _style_of_folder(os.path.dirname(os.path.abspath(path)))


@cache
def _style_of_folder(folder: str) -> Style:
    if any(os.path.isfile(os.path.join(folder, name)) for name in _STOPS):
        style = _style(folder)
        if style != Style():
            return style
    parent = os.path.dirname(folder)
    if parent == folder or os.path.isdir(os.path.join(folder, ".git")):
        return Style()
    return _style_of_folder(parent)


def _style(folder: str) -> Style:
    tools = _table(_settings(os.path.join(folder, "pyproject.toml")), "tool")
    own = [_settings(os.path.join(folder, name)) for name in (".ruff.toml", "ruff.toml")]
    ruff = next((found for found in own if found), _table(tools, "ruff"))
    black, form, lint = _table(tools, "black"), _table(ruff, "format"), _table(ruff, "lint")
    rules = [*_words(lint, "select"), *_words(lint, "extend-select"), *_words(ruff, "select")]
    imports = bool("isort" in tools or {"I", "I0", "I00", "I001", "ALL"} & set(rules))
    imports = imports or os.path.isfile(os.path.join(folder, ".isort.cfg"))
    formatter = "black" if "black" in tools else "ruff" if ruff or "ruff" in tools else ""
    used = black if formatter == "black" else ruff
    width = used.get("line-length", ruff.get("line-length", FORMATTED)) if formatter else UNSET
    return Style(
        width=width if isinstance(width, int) and width > 0 else UNSET,
        formatter=formatter,
        double=not black.get("skip-string-normalization") and form.get("quote-style", "double") == "double",
        commas=not black.get("skip-magic-trailing-comma") and not form.get("skip-magic-trailing-comma"),
        preview=bool(black.get("preview")),
        targets=tuple(_words(black, "target-version") or filter(None, [_word(ruff, "target-version")])),
        sorted_imports=imports,
    )


def _table(settings: Mapping[str, object], name: str) -> dict[str, object]:
    found = settings.get(name)
    return found if isinstance(found, dict) else {}


def _word(settings: Mapping[str, object], name: str) -> str:
    found = settings.get(name)
    return found if isinstance(found, str) else ""


def _words(settings: Mapping[str, object], name: str) -> list[str]:
    found = settings.get(name)
    return [word for word in found if isinstance(word, str)] if isinstance(found, list) else []


def _settings(file: str) -> dict[str, object]:
    from converter.source.toml import parsed

    try:
        with open(file, encoding="utf-8") as stream:
            return parsed(stream.read())
    except (OSError, ValueError):  # among them what is no TOML, and no UTF-8
        return {}


def formatted(text: str, style: Style) -> str | None:
    """A text as the formatter writes it; None where there is no formatter, or black cannot read the text."""
    if not style.formatter:
        return None
    from black import format_str
    from black.mode import Mode, TargetVersion
    from black.parsing import InvalidInput

    targets = {TargetVersion[name.upper()] for name in style.targets if name.upper() in TargetVersion.__members__}
    mode = Mode(
        targets,
        line_length=style.width,
        string_normalization=style.double,
        magic_trailing_comma=style.commas,
        preview=style.preview,
    )
    try:
        made = format_str(text, mode=mode)
    except InvalidInput:
        return None
    return _with_skips(made) if style.formatter == "ruff" and not style.targets else made


def _with_skips(text: str) -> str:
    """A text with the comment `fmt: skip` at the tool's `with` statements of several lines.

    Unless a project says which Python it needs, ruff puts their items in parentheses, which Python 3.9 brought.
    """
    lines = text.splitlines(keepends=True)
    for node in ast.walk(parse_text(text)):
        if not isinstance(node, ast.With) or len(node.items) == 1:
            continue
        last = node.items[-1].optional_vars or node.items[-1].context_expr
        line = lines[(last.end_lineno or node.lineno) - 1]
        whole = last.end_lineno == node.lineno or _PARENTHESIS.match(lines[node.lineno - 1])
        if not whole and line.rstrip().endswith("):"):
            lines[(last.end_lineno or node.lineno) - 1] = f"{line.rstrip()}  # {_SKIP}" + line[len(line.rstrip()) :]
    return "".join(lines)


def in_style(original: str | None, text: str, trace: Trace, style: Style) -> tuple[str, Trace]:
    """A converted text, formatted if the formatter leaves the original alone, and its trace by the new lines.

    original: None for a file that the tool writes by itself.
    """
    if style.sorted_imports:
        text, trace = _with_sorted_imports(text, trace)
    if original is not None and formatted(original, style) != original:
        return text, trace
    made = formatted(text, style)
    if made is None or made == text:
        return text, trace
    numbers = _new_lines(text.splitlines(), made.splitlines())
    return made, tuple((numbers.get(line, line), codes) for line, codes in trace)


def _with_sorted_imports(text: str, trace: Trace) -> tuple[str, Trace]:
    """A text whose helpers' imports are left to themselves by isort: apart from others, a blank line below them."""
    lines = text.splitlines(keepends=True)
    begin = next((index for index, line in enumerate(lines) if line.rstrip() == HELPERS), None)
    if begin is None:
        return text, trace
    newline = lines[begin][len(HELPERS) :]
    imports = begin
    while imports + 1 < len(lines) and _IMPORT.match(lines[imports + 1]):
        imports += 1
    added = {begin: [SPLIT + newline]} if begin else {}
    if imports > begin and imports + 1 < len(lines) and lines[imports + 1].strip():
        added[imports + 1] = [newline]
    made = [part for index, line in enumerate(lines) for part in (*added.get(index, ()), line)]
    return "".join(made), tuple((line + sum(index < line for index in added), codes) for line, codes in trace)


def _new_lines(before: list[str], after: list[str]) -> dict[int, int]:
    """For each line of a text, from one, the line of the formatted text on which it ends."""
    from difflib import SequenceMatcher

    found: dict[int, int] = {}
    old, new = ([_LOOSE.sub("", line) for line in lines] for lines in (before, after))
    for _, begin, end, first, last in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        for index in range(begin, end):
            found[index + 1] = last if index == end - 1 else min(first + index - begin + 1, last)
    return found
