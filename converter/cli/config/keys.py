"""The keys of the table, made from the options of the commands: an option that is new there is a key here."""

from __future__ import annotations

from typing import NamedTuple

from converter.cli.command_line.table import CONFIG_FLAGS, CONVERT, VERIFY, WHAT, Option

TABLE = ("tool", "tf-multigpu")


def key_of(name: str) -> str:
    """The key for what the commands' functions call by this name."""
    return name.replace("_", "-")


PAIRS, OVERRIDES, FILES, ARGS = "pairs", "overrides", "files", "args"
# The key for the arguments that `verify` takes behind --.
SCRIPT_ARGUMENTS = Option(("--args",), "Arguments for both scripts that verify runs.", str, "ARG", many=True)
# Options of a single run, with the reason that a wrong key is answered with.
COMMAND_LINE_ONLY = {
    "hook": "it says who runs the command",
    "force": "it would take the protection of your files away from every run",
    "json": 'write output-format = "json"',
    "color": "it is for whoever reads what is printed",
} | {key_of(option.name): "it names the file" for option in CONFIG_FLAGS}
# What may differ from file to file, beside what changes the converted text.
_OF_A_FILE = {"strict", "refused", "max_lines"}
_PATHS = {"output", "output_dir", "html", "data_dir"}


class Key(NamedTuple):
    """A key of the table.

    text: whether any text is a value; words: the only texts otherwise. whole, number: whether a whole number, or any
    number, is one. least: the smallest number. many: whether the value is a list of such texts; pairs: whether it may
    be a table of names and whole numbers, too. per_file: whether an override may have it.
    path: whether it is a path, seen from the file's folder. as_text: whether the command takes numbers as texts.
    """

    name: str
    help: str
    is_bool: bool = False
    text: bool = False
    words: tuple[str, ...] = ()
    whole: bool = False
    number: bool = False
    least: float | None = None
    many: bool = False
    pairs: bool = False
    per_file: bool = False
    path: bool = False
    as_text: bool = False

    @property
    def field(self) -> str:
        """The key as a parameter of the commands' functions."""
        return self.name.replace("-", "_")

    @property
    def expected(self) -> str:
        """The allowed values, as an error message names them."""
        if self.many:
            kinds = ["a list of texts", *(["a table such as {x = 1}"] if self.pairs else [])]
            return " or ".join(kinds)
        kinds = ["true or false"] if self.is_bool else []
        least = f" from {self.least:g} up" if self.least is not None else ""
        kinds += [f"a whole number{least}"] if self.whole else [f"a number{least}"] if self.number else []
        kinds += ["a text"] if self.text else [f'"{word}"' for word in self.words]
        return " or ".join(kinds) if len(kinds) < 3 else "one of " + ", ".join(kinds)


def _key(option: Option) -> Key:
    """The key of an option; what its value may be follows from the option's type, choices and placeholder."""
    name, placeholders = option.flags[0].lstrip("-"), option.metavar.split("|")
    numbers = option.kind is str and "N" in placeholders
    fraction = option.kind is str and "FRACTION" in placeholders
    words = option.choices or tuple(word for word in placeholders if word.islower())
    return Key(
        name,
        option.help,
        is_bool=option.kind is bool,
        text=option.kind is str and (not (words or numbers or fraction) or "N,N" in placeholders),
        words=words,
        whole=numbers or option.kind is int,
        number=fraction or option.kind is float,
        least=1 if numbers else option.least,
        many=option.many,
        pairs=option.metavar == "NAME=K",
        per_file=option.panel == WHAT or option.name in _OF_A_FILE or option.name in _VERIFY_ONLY,
        path=option.name in _PATHS,
        as_text=option.kind is str,
    )


_VERIFY_ONLY = {option.name for option in (*VERIFY.options, SCRIPT_ARGUMENTS)} - {
    option.name for option in CONVERT.options
}


def _keys() -> dict[str, Key]:
    found: dict[str, Key] = {}
    for option in (*CONVERT.options, *VERIFY.options, SCRIPT_ARGUMENTS):
        key = _key(option)
        if key.name not in COMMAND_LINE_ONLY:
            found.setdefault(key.name, key)
    return found


KEYS = _keys()
