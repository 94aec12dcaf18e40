"""Called by MkDocs: puts the conversions of fixtures into the gallery, as they are when the site is built.

A page names one by `<!-- conversion: NAME -->`: a folder of fixtures, below `projects/` for one of several files.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from converter.report.diff import lines_of, unified
from converter.rewrite.helper_text import BEGIN, END
from converter.source.notebook.json_text import scan

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures"
_WANTED = re.compile(r"<!-- conversion: ([\w/]+) -->")
_HELPERS = re.compile(rf"^{re.escape(BEGIN)}\n.*?^{re.escape(END)}\n", re.MULTILINE | re.DOTALL)


def on_page_markdown(markdown: str, **_: Any) -> str:
    """A page with the diffs that it names."""
    return _WANTED.sub(lambda found: conversion(found[1]), markdown)


def conversion(name: str) -> str:
    """The diffs of all files that a conversion changes; lines that are only indented, and helpers, are left out."""
    folder = FIXTURES / name
    blocks = []
    for before, after in _pairs(folder):
        text = after.read_text(encoding="utf-8")
        helpers = _HELPERS.search(text)
        if helpers:
            text = text.replace(helpers[0], f"# ({helpers[0].count(chr(10))} lines: the helpers)\n")
        diff = unified(before.read_text(encoding="utf-8"), text, after.name, ignore_space=True)
        blocks.append(f"```diff\n{diff.rstrip()}\n```")
    blocks += _cells(folder)
    if not blocks:
        raise ValueError(f"fixtures/{name} holds no conversion")
    return "\n\n".join(blocks)


def _cells(folder: Path) -> Iterator[str]:
    """Each cell that the conversion of a notebook changes."""
    if not (folder / "single.ipynb").exists():
        return
    pair = [scan((folder / name).read_text(encoding="utf-8")).cells for name in ("single.ipynb", "multi.ipynb")]
    for before, after in zip(*pair, strict=True):
        text = after.source + "\n"
        if helpers := _HELPERS.search(text):
            text = text.replace(helpers[0], f"# ({helpers[0].count(chr(10))} lines: the helpers)\n")
        if before.source != after.source:
            lines = lines_of(unified(before.source + "\n", text, "cell", ignore_space=True))[2:]
            yield f"Cell {after.number}:\n\n```diff\n{''.join(lines).rstrip()}\n```"


def _pairs(folder: Path) -> Iterator[tuple[Path, Path]]:
    """Each file that a conversion changes, before and after."""
    if (folder / "single.py").exists():
        yield folder / "single.py", folder / "multi.py"
    for after in sorted((folder / "multi").rglob("*.py")):
        before = folder / "single" / after.relative_to(folder / "multi")
        if before.exists() and before.read_bytes() != after.read_bytes():
            yield before, after
