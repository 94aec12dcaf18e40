"""What a rule is: a code, a title, its reason, and the pattern before and after."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import field
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType
from typing import Literal

from converter.dataclass import dataclass

Kind = Literal["conversion", "refusal", "warning", "input", "lint"]


KINDS: dict[str, Kind] = {  # by the hundreds of a code
    "0": "input",
    "1": "conversion",
    "2": "refusal",
    "3": "warning",
    "4": "lint",
}
HAPPENS: dict[Kind, str] = {  # what the tool does about a rule of each kind
    "input": "A finding about the file itself.",
    "conversion": "The pattern is converted.",
    "refusal": "The file is refused: nothing is written, and the exit status is 2.",
    "warning": "The file is converted, with a warning that leaves something to decide.",
    "lint": "`tf-multigpu lint` finds it in scripts that build their towers themselves.",
}


@dataclass(frozen=True)
class Rule:
    """One thing the tool knows, as `explain` and the generated docs show it.

    code: TMG0xx input that cannot be read or written, TMG1xx patterns that are converted,
        TMG2xx refusals, TMG3xx warnings, TMG4xx findings of `lint`.
    before, after: a whole small script and what becomes of it; the test suite converts `before`
        and looks for every line of `after` in the result, in order. For a refusal or a warning
        `before` is a script that causes it and `after` the script with the advice followed.
    file: the name that the example has, which tells scripts from configurations.
    """

    code: str
    title: str
    why: str
    before: str = ""
    after: str = ""
    references: tuple[str, ...] = field(default=())
    options: tuple[str, ...] = field(default=())
    file: str = "train.py"

    @property
    def reason(self) -> str:
        """The why, and what the examples are converted with."""
        used = f" The example is converted with {' '.join(self.options)}." if self.options else ""
        return self.why.strip() + used

    @property
    def does(self) -> str:
        """The title as a sentence, and what happens to a script with this pattern."""
        return f"{self.title[:1].upper()}{self.title[1:]}. {HAPPENS[self.kind]}"

    @property
    def kind(self) -> Kind:
        """What sort of thing the rule knows, as its code says."""
        return KINDS[self.code[3]]


# Where the files are that references name, by how their paths begin.
_SOURCES = {
    "tensorflow/": "https://github.com/tensorflow/tensorflow/blob/v1.15.5/",
    "tensorflow_estimator/": "https://github.com/tensorflow/estimator/blob/v1.15.1/",
    "research/": "https://github.com/tensorflow/models/blob/master/",
}
_LINKED = re.compile(r"https://[^\s,;)]+|TMG\d{3}|\b(tensorflow/|tensorflow_estimator/|research/)[\w/]+\.(?:py|h|proto)\b")


def with_links(reference: str) -> Iterator[tuple[str, str]]:
    """A reference in pieces: each a text and its address, a rule's code for the page of a rule, "" for plain text."""
    done = 0
    for found in _LINKED.finditer(reference):
        yield reference[done : found.start()], ""
        yield found[0], _SOURCES[found[1]] + found[0] if found[1] else found[0]
        done = found.end()
    yield reference[done:], ""


def with_changes(text: str, changes: Sequence[str]) -> str:
    """An example with some texts in place of others: old, new, old, new."""
    for old, new in zip(changes[::2], changes[1::2], strict=True):
        assert old in text
        text = text.replace(old, new)
    return text


@cache
def all_rules() -> tuple[Rule, ...]:
    """Every rule below `rules.checks`, `rules.edits` and `rules.lint`, found by walking, ordered by code."""
    pages = (
        rule
        for folder in ("checks", "edits", "lint")
        for module in rule_modules(folder)
        for rule in getattr(module, "RULES", ())
    )
    return tuple(sorted(pages, key=lambda rule: rule.code))


def rule_modules(folder: str) -> tuple[ModuleType, ...]:
    """Every module in a folder of `rules` and in the folders inside it, imported, in the order of their names."""
    import rules

    return modules_below(f"{rules.__name__}.{folder}")  # the package has another name where it is installed


@cache
def modules_below(package: str) -> tuple[ModuleType, ...]:
    """Every module of a package and of the packages inside it, imported, in the order of their names."""
    found: list[ModuleType] = []
    for info in iter_modules(import_module(package).__path__, f"{package}."):
        found += modules_below(info.name) if info.ispkg else [import_module(info.name)]
    return tuple(found)
