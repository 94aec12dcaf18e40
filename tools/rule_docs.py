"""Writes docs/rules from the rules themselves: a page for each and a table of all.

With --check it writes nothing, names the pages that differ, and exits with 1.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from converter.rule import Kind, Rule, all_rules, with_links

HEADINGS: dict[Kind, str] = {
    "input": "Input",
    "conversion": "Conversions",
    "refusal": "Refusals",
    "warning": "Warnings",
    "lint": "Lint",
}


def page(rule: Rule) -> str:
    """The Markdown page of one rule."""
    sections = {
        "What it does": rule.does,
        "Why": rule.reason,
        "Before": _block(rule, rule.before),
        "After": _block(rule, rule.after),
        "References": "\n".join(f"- {_linked(reference)}" for reference in rule.references),
    }
    parts = [
        f"# {rule.code}: {rule.title}",
        *(f"## {head}\n\n{body}" for head, body in sections.items() if body),
    ]
    return "\n\n".join(parts) + "\n"


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
    """File name -> text of everything in docs/rules."""
    return {"README.md": index(rules), **{f"{rule.code}.md": page(rule) for rule in rules}}


def differing(folder: Path, wanted: dict[str, str]) -> list[str]:
    """The names of files that are missing, out of date, or left over from a rule that is gone."""
    present = {path.name: path.read_text(encoding="utf-8") for path in folder.glob("*.md")}
    return sorted(name for name in present.keys() | wanted.keys() if present.get(name) != wanted.get(name))


def write(folder: Path, wanted: dict[str, str]) -> None:
    """Makes the folder hold exactly these files."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in differing(folder, wanted):
        if name in wanted:
            (folder / name).write_text(wanted[name], encoding="utf-8")
        else:
            (folder / name).unlink()


def main() -> int:
    """Writes or checks the folder named on the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    wanted = pages(all_rules())
    if not options.check:
        write(options.folder, wanted)
        return 0
    names = differing(options.folder, wanted)
    for name in names:
        print(f"{options.folder / name} is not what the rules say; run `make docs`", file=sys.stderr)
    return 1 if names else 0


if __name__ == "__main__":
    sys.exit(main())
