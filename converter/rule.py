"""What a rule is: a code, a title, its reason, and the pattern before and after.

Each rule is a page below `rules`, `TMG254.md`: front matter, the reason, and the sections Messages, Before, After and
References.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import field
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType
from typing import Literal

from converter.dataclass import dataclass
from converter.diagnostics import Severity

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
class Message:
    """What a finding says and advises, with {fields} in place of what the code that finds it tells of the place.

    name: of this message among those of its page; "" for the only one. said: the severity that the page says, "" for
        that of the code's kind.
    """

    code: str
    name: str
    text: str
    advice: str
    said: str = ""

    @property
    def key(self) -> str:
        """By what findings name it: "TMG341", "TMG207 counts_rows", and SIZE_NOT_FOUND for a case that a pass finds."""
        return self.name if self.name.isupper() else f"{self.code} {self.name}".strip()

    @property
    def severity(self) -> Severity:
        """A warning for a code of warnings or of lint, an error for others, unless the page says otherwise."""
        return "warning" if self.said == "warning" or (not self.said and self.code[3] in "34") else "error"

    def of(self, about: dict[str, object]) -> tuple[str, str]:
        """What is said, and what is advised, of a place. about: the fields."""
        return self.text.format(**about), self.advice.format(**about)


@dataclass(frozen=True)
class Rule:
    """One thing the tool knows, as `explain` and the generated docs show it.

    code: TMG0xx input that cannot be read or written, TMG1xx patterns that are converted,
        TMG2xx refusals, TMG3xx warnings, TMG4xx findings of `lint`.
    before, after: a whole small script and what becomes of it; the test suite converts `before`
        and looks for every line of `after` in the result, in order. For a refusal or a warning
        `before` is a script that causes it and `after` the script with the advice followed.
    file: the name that the example has, which tells scripts from configurations.
    messages: what its findings say.
    """

    code: str
    title: str
    why: str
    before: str = ""
    after: str = ""
    references: tuple[str, ...] = field(default=())
    options: tuple[str, ...] = field(default=())
    file: str = "train.py"
    messages: tuple[Message, ...] = ()

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
        """The kind of rule, by the hundreds of its code."""
        return KINDS[self.code[3]]


# Where the files are that references name, by how their paths begin.
_SOURCES = {
    "tensorflow/": "https://github.com/tensorflow/tensorflow/blob/v1.15.5/",
    "tensorflow_estimator/": "https://github.com/tensorflow/estimator/blob/v1.15.1/",
    "research/": "https://github.com/tensorflow/models/blob/master/",
}
_LINKED = re.compile(
    r"https://[^\s,;)]+|TMG\d{3}|\b(tensorflow/|tensorflow_estimator/|research/)[\w/]+\.(?:py|h|proto)\b"
)


def with_links(reference: str) -> Iterator[tuple[str, str]]:
    """A reference in pieces: each a text and its address, a rule's code for the page of a rule, "" for plain text."""
    done = 0
    for found in _LINKED.finditer(reference):
        yield reference[done : found.start()], ""
        yield found[0], _SOURCES[found[1]] + found[0] if found[1] else found[0]
        done = found.end()
    yield reference[done:], ""


_RULES = Path(__file__).parent.parent / "rules"
_HEADINGS = ("Messages", "Before", "After", "References")
_LABEL = re.compile(r"(?:`(\w+)` ?)?(?:\((error|warning)\))?: ")  # of a message: its name, its severity


@cache
def all_rules() -> tuple[Rule, ...]:
    """Every rule that has a page below `rules`, ordered by code."""
    return tuple(map(rule_on, sorted(_RULES.rglob("TMG*.md"), key=lambda page: page.name)))


def find_rule(code: str) -> Rule | None:
    """The rule with this code; no other page is read."""
    known = re.fullmatch(r"TMG\d{3}", code)
    return next(map(rule_on, _RULES.rglob(f"{code}.md")), None) if known else None


@cache
def message(key: str) -> Message:
    """The message with this key; of other pages than its own no more is looked at than whether they name it.

    Raises:
        KeyError: no page has it.
    """
    code, _, name = key.partition(" ") if key.startswith("TMG") else ("TMG*", "", key)
    for page, text in _texts(code):
        for found in messages_in(page, text) if name in text else ():
            if found.key == key:
                return found
    raise KeyError(key)


@cache
def _texts(code: str) -> tuple[tuple[str, str], ...]:
    """The code and the text of a page, or of all pages for "TMG*"."""
    return tuple((page.stem, page.read_text(encoding="utf-8")) for page in _RULES.rglob(f"{code}.md"))


def messages_in(code: str, page: str) -> tuple[Message, ...]:
    """The messages in the text of a page: items of a list, each with its advice as the one item of a list in it.

    Raises:
        ValueError: an item has another form.
    """
    section = page.partition("\n## Messages\n\n")[2].partition("\n## ")[0].strip()
    return tuple(_message(code, item) for item in section.split("\n- ")) if section else ()


def _message(code: str, item: str) -> Message:
    text, _, advice = item.removeprefix("- ").partition("\n  - ")
    label = _LABEL.match(text)
    name, severity = label.groups("") if label else ("", "")
    text = text[label.end() :] if label else text
    if not advice or "\n  - " in advice:
        raise ValueError(f"{code} has a message of another form: {item}")
    return Message(code, name, " ".join(text.split()), " ".join(advice.split()), severity)


def rule_on(page: Path) -> Rule:
    """The rule that a page describes.

    Raises:
        ValueError: the page has another form, or a code that is not its name.
    """
    rule = rule_in(page.read_text(encoding="utf-8"))
    if rule.code != page.stem:
        raise ValueError(f"{page} describes {rule.code}")
    return rule


def rule_in(text: str) -> Rule:
    """The rule that a page's text describes.

    Raises:
        ValueError: the page has a section that is not one of Messages, Before, After and References, or lacks its
            front matter.
    """
    front, body = text.removeprefix("---\n").split("\n---\n", 1)
    about = dict(line.split(": ", 1) for line in front.splitlines())
    why, *parts = body.split("\n## ")
    sections = dict(part.split("\n\n", 1) for part in parts)
    if unknown := sections.keys() - set(_HEADINGS):
        raise ValueError(f"{about['code']} has sections of other names: {', '.join(sorted(unknown))}")
    return Rule(
        about["code"],
        about["title"],
        why=" ".join(why.split()),
        before=_fenced(sections.get("Before", "")),
        after=_fenced(sections.get("After", "")),
        references=tuple(line.removeprefix("- ") for line in sections.get("References", "").splitlines()),
        options=tuple(about.get("options", "").split()),
        file=about.get("file", "train.py"),
        messages=messages_in(about["code"], text),
    )


def _fenced(section: str) -> str:
    """The text in a section's block of code, "" where there is no section."""
    return section.split("\n", 1)[1].rpartition("```")[0] if section else ""


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
