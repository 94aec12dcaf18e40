"""Two texts as a unified diff that `patch` and `git apply` take."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterator

_COLOURS = {"+": "\x1b[32m", "-": "\x1b[31m", "@": "\x1b[36m"}
_BOLD, _RESET = "\x1b[1m", "\x1b[0m"
_UNFINISHED = "\n\\ No newline at end of file\n"
_ESCAPES = {chr(code): f"\\{code:03o}" for code in (*range(32), ord('"'), ord("\\"))}


def unified(before: str, after: str, path: str, is_new: bool = False, ignore_space: bool = False) -> str:
    """The unified diff from one text to another, empty where they are equal.

    Only newlines end a line, as for `patch`: a carriage return or a form feed stays part of its line.

    path: named behind `a/` and `b/`, as `git apply` expects. is_new: whether there is no file at `path` yet.
    ignore_space: whether lines that differ only in whitespace count as equal, as for `diff -w`; the second text's
        are shown. Such a diff is for readers: it cannot be applied.
    """
    old, new = lines_of(before), lines_of(after)
    keys = [["".join(line.split()) for line in lines] for lines in (old, new)] if ignore_space else [old, new]
    lines: list[str] = []
    for group in difflib.SequenceMatcher(None, keys[0], keys[1]).get_grouped_opcodes():
        (_, first, _, start, _), (_, _, last, _, end) = group[0], group[-1]
        lines.append(f"@@ -{_range(first, last)} +{_range(start, end)} @@\n")
        for tag, i, i_end, j, j_end in group:
            if tag == "equal":
                lines += [" " + line for line in new[j:j_end]]
            else:
                lines += ["-" + line for line in old[i:i_end]]
                lines += ["+" + line for line in new[j:j_end]]
    if not lines:
        return ""
    head = [f"--- {'/dev/null' if is_new else _name('a', path)}\n", f"+++ {_name('b', path)}\n"]
    return "".join(line if line.endswith("\n") else line + _UNFINISHED for line in head + lines)


def _range(first: int, last: int) -> str:
    """Lines as a hunk's head has them: from one, and for none the line before them."""
    count = last - first
    return f"{first + 1}" if count == 1 else f"{first + 1 if count else first},{count}"


def _name(side: str, path: str) -> str:
    """A path as `git diff` writes it: relative where it can be, quoted or ended by a tab where it has to be.

    Of an absolute path elsewhere, `patch -p1 -d /` finds the file.
    """
    inside = os.path.relpath(path) if os.path.isabs(path) else os.path.normpath(path)
    shown = f"{side}/{path.lstrip('/') if inside.startswith(os.pardir) else inside.replace(os.sep, '/')}"
    if any(letter in '"\\' or ord(letter) < 32 for letter in shown):
        return '"' + "".join(_ESCAPES.get(letter, letter) for letter in shown) + '"'
    return shown + "\t" * (" " in shown)


def coloured(diff: str) -> str:
    """A diff with ANSI colours: additions green, removals red, file names bold."""
    return "".join(_paint(line, number) for number, line in enumerate(lines_of(diff)))


def lines_of(text: str) -> list[str]:
    """The lines of a text with their ends; only newlines end one."""
    return list(_split(text))


def _split(text: str) -> Iterator[str]:
    start = 0
    while start < len(text):
        end = text.find("\n", start) + 1 or len(text)
        yield text[start:end]
        start = end


def _paint(line: str, number: int) -> str:
    colour = _BOLD if number < 2 else _COLOURS.get(line[:1])
    body = line.rstrip("\r\n")
    return f"{colour}{body}{_RESET}{line[len(body) :]}" if colour else line
