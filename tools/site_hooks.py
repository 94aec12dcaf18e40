"""Called by MkDocs: puts the conversions of fixtures into the gallery and makes the pages of rules.

A page names a conversion by `<!-- conversion: NAME -->`: a folder of fixtures, below `projects/` for one of several
files.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from converter.report.diff import lines_of, unified
from converter.rewrite.helper_text import BEGIN, END
from converter.rule import Kind, Rule, all_rules, with_links
from converter.source.notebook.json_text import scan
from tests.goldens import FIXTURES

HEADINGS: dict[Kind, str] = {
    "input": "Input",
    "conversion": "Conversions",
    "refusal": "Refusals",
    "warning": "Warnings",
    "lint": "Lint",
}
_WANTED = re.compile(r"<!-- conversion: ([\w/]+) -->")
_HELPERS = re.compile(rf"^{re.escape(BEGIN)}\n.*?^{re.escape(END)}\n", re.MULTILINE | re.DOTALL)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """The files of the site with a page for each rule."""
    for name, text in pages(all_rules()).items():
        files.append(File.generated(config, f"rules/{name}", content=text))
    return files


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


def page(rule: Rule) -> str:
    """The Markdown page of one rule."""
    sections = {
        "What it does": rule.does,
        "Why": rule.reason,
        "Before": _block(rule, rule.before),
        "After": _block(rule, rule.after),
        "Messages": _said(rule),
        "References": "\n".join(f"- {_linked(reference)}" for reference in rule.references),
    }
    parts = [
        f"# {rule.code}: {rule.title}",
        *(f"## {head}\n\n{body}" for head, body in sections.items() if body),
    ]
    return "\n\n".join(parts) + "\n"


def _said(rule: Rule) -> str:
    """The messages as a block of text, each with its advice below it."""
    lines = [
        textwrap.fill(text, 96, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False)
        for said in rule.messages
        for text, indent in ((said.text, ""), (said.advice, "    "))
    ]
    return "\n".join(["```text", *lines, "```"]) if lines else ""


def _linked(reference: str) -> str:
    """A reference whose address can be followed on the page."""
    return "".join(map(_link, *zip(*with_links(reference), strict=True)))


def _link(text: str, address: str) -> str:
    if not address:
        return text
    page = f"{address}.md" if address.startswith("TMG") else address
    return f"<{page}>" if text == page else f"[{text}]({page})"


def _block(rule: Rule, example: str) -> str:
    """An example as a block of code, "" for none."""
    language = "python" if rule.file.endswith(".py") else "text"
    return example and f"```{language}\n{example.strip()}\n```"


def index(rules: tuple[Rule, ...]) -> str:
    """The page that lists all rules, one table for each kind."""
    parts = ["# Rules and diagnostics", "`tf-multigpu explain CODE` prints the same on the command line."]
    for kind, heading in HEADINGS.items():
        rows = [f"| [{rule.code}]({rule.code}.md) | {rule.title} |" for rule in rules if rule.kind == kind]
        if rows:
            parts += [f"## {heading}", "\n".join(["| code | |", "| --- | --- |", *rows])]
    return "\n\n".join(parts) + "\n"


def pages(rules: tuple[Rule, ...]) -> dict[str, str]:
    """File name -> text of every page of the site's folder `rules`."""
    return {"README.md": index(rules), **{f"{rule.code}.md": page(rule) for rule in rules}}
