"""Writes the report of a verification as a page, and says beforehand why none could be written."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path

from converter.diagnostics import Refusal
from converter.source import read, write
from converter.verify.data import Report

NEEDED = ("jinja2", "matplotlib")


def problem_with_page(page: str) -> str:
    """One line that says why no page could be written here; "" if nothing is known to prevent it."""
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        return f"--html needs {' and '.join(missing)}: pip install {' '.join(missing)}"
    folder = os.path.dirname(os.path.abspath(page))
    if not os.path.isdir(folder):
        return f"--html {page}: the folder does not exist; make it first"
    if os.path.isdir(page):
        return f"--html {page}: this is a folder; name a file"
    return ""


def write_page(report: Report, single: Path, multi: Path, page: str, name: str = "") -> None:
    """Writes the page of a report on two scripts; `name` is what the second is called in it.

    Raises:
        Refusal: TMG007, the file cannot be written.
    """
    from converter.report.page.html import Scripts, render_html

    scripts = Scripts(str(single), name or str(multi), _text(single), _text(multi))
    write(page, render_html(report, scripts).encode())


def _text(path: Path) -> str:
    """A script's text, also of one that Python itself would not read."""
    try:
        return read(str(path)).text
    except Refusal:
        return path.read_bytes().decode("utf-8", "replace")
