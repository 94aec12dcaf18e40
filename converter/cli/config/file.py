"""Finds the file that has the table, and reads it; errors name their place in the file."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from typing import Any, NamedTuple, NoReturn

from converter.cli.command_line.table import ConfigurationError, Problem
from converter.cli.config.keys import COMMAND_LINE_ONLY, FILES, KEYS, OVERRIDES, PAIRS, TABLE, Key

PYPROJECT = "pyproject.toml"
NAME = "[tool.tf-multigpu]"
# A key of that name, or the beginning or the end of a table's header, but no dependency.
_KEY = re.compile(
    rb"""tf[-_]multigpu["']?\s*(?:[.\]]|=(?!=)) | ^[ \t]*\[+[ \t]*["']?tool["']?[ \t]*\.[ \t]*["']?tf[-_]multigpu""",
    re.MULTILINE | re.VERBOSE,
)

Path = tuple[str | int, ...]  # the keys and numbers that lead to a value, from the top of the file


class Pair(NamedTuple):
    """A source and the output that `convert` makes of it, as they are seen from the process's folder."""

    source: str
    output: str


class Override(NamedTuple):
    """The values for some files: patterns from the file's folder as in .gitignore, and the values by option."""

    files: tuple[str, ...]
    values: dict[str, object]


class Configuration(NamedTuple):
    """One file's table.

    path: of the file. text: all of it. values: of the table itself, by option. overrides: in their order.
    """

    path: str
    text: str
    values: dict[str, object]
    overrides: tuple[Override, ...] = ()
    pairs: tuple[Pair, ...] = ()

    @property
    def folder(self) -> str:
        """The folder that patterns and paths are seen from."""
        return os.path.dirname(os.path.abspath(self.path))

    def place(self, *path: str | int) -> tuple[int, int]:
        """The line and column of a key below the table."""
        from converter.cli.config.places import place_of

        return place_of(self.text, (*TABLE, *path))

    def overriding(self, file: str) -> Iterator[tuple[int, Override]]:
        """The overrides for a file, with their numbers, later ones last: these have the last word."""
        name = os.path.relpath(os.path.abspath(file), self.folder).replace(os.sep, "/")
        if not self.overrides or name.startswith("../"):
            return
        for number, override in enumerate(self.overrides):
            if _patterns(override.files).match_file(name):
                yield number, override


@cache
def _patterns(files: tuple[str, ...]) -> Any:
    from pathspec import GitIgnoreSpec

    return GitIgnoreSpec.from_lines(files)


def nearest(paths: Sequence[str]) -> Configuration | None:
    """The table for these files and folders: that of the nearest pyproject.toml with one, up to the repository's.

    Raises:
        ConfigurationError: TMG033, the table cannot be followed; TMG034, the paths have several.
    """
    found: dict[str, tuple[str, Configuration | None]] = {}
    for path in paths:
        folder = os.path.abspath(path if os.path.isdir(path) else os.path.dirname(path))
        if folder not in found:
            found[folder] = (path, _above(folder))
    several = {one.path if one else "": (path, one) for path, one in found.values()}
    if len(several) > 1:
        said = "; ".join(f"{path}: {one.path if one else 'none'}" for path, one in several.values())
        hint = "give them to separate runs, or name one for all: --config FILE"
        last = next(one.path for _, one in reversed(several.values()) if one)
        message = f"the paths have several configurations ({said})"
        raise ConfigurationError(Problem("TMG034", last, 0, 0, message=message, hint=hint))
    return next((one for _, one in several.values()), None)


def _above(folder: str) -> Configuration | None:
    while True:
        path = os.path.join(folder, PYPROJECT)
        with suppress(OSError), open(path, "rb") as file:
            data = file.read()
            if _may_have_table(data) and (made := load(_shown(path), data)):
                return made
        above = os.path.dirname(folder)
        if above == folder or os.path.exists(os.path.join(folder, ".git")):
            return None
        folder = above


def further(folders: Iterable[str], followed: Configuration | None) -> Iterator[str]:
    """The other files in these folders that have a table, except the one that is followed."""
    for folder in folders:
        path = os.path.join(folder, PYPROJECT)
        if followed and os.path.abspath(path) == os.path.abspath(followed.path):
            continue
        with suppress(OSError), open(path, "rb") as file:
            data = file.read()
            if _may_have_table(data) and _has_table(path, data):
                yield path


def _may_have_table(data: bytes) -> bool:
    """True if the file names the tool: only then is the TOML library imported."""
    return b"multigpu" in data and _KEY.search(data) is not None


def _has_table(path: str, data: bytes) -> bool:
    try:
        return load(path, data) is not None
    except ConfigurationError:
        return True


def _shown(path: str) -> str:
    """A path as it is shortest from the process's folder."""
    relative = os.path.relpath(path)
    return relative if len(relative) <= len(path) else path


def named(path: str) -> Configuration:
    """The table of the file that --config names.

    Raises:
        ConfigurationError: TMG033, it cannot be read, has no such table, or one that cannot be followed.
    """
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError as error:
        raise _wrong(path, f"cannot be read: {error.strerror}") from None
    made = load(path, data)
    if made is None:
        raise _wrong(path, f"there is no table {NAME} in it")
    return made


def _wrong(path: str, message: str, line: int = 0, column: int = 0) -> ConfigurationError:
    return ConfigurationError(Problem("TMG033", path, line, column, message))


def load(path: str, data: bytes) -> Configuration | None:
    """The table of a file; None where it has none.

    Raises:
        ConfigurationError: TMG033.
    """
    from converter.source.toml import TOMLDecodeError, parsed

    try:
        text = data.decode()
        whole = parsed(text)
    except UnicodeDecodeError as error:
        raise _wrong(path, f"is not UTF-8: {error.reason}") from None
    except TOMLDecodeError as error:
        from converter.cli.config.places import place_in

        message, line, column = place_in(str(error), text)
        raise _wrong(path, f"is not TOML: {message}", line, column) from None
    table: Any = whole
    for name in TABLE:
        table = table.get(name) if isinstance(table, dict) else None
    if table is None:
        _check_names(path, text, whole)
        return None
    return _Reader(path, text).read(table)


def _check_names(path: str, text: str, whole: Mapping[str, object]) -> None:
    """Refuses tables such as [tool.tf_multigpu]: a misspelt name would silently have no effect.

    Raises:
        ConfigurationError: TMG033.
    """
    tools = whole.get("tool")
    for where, tables in (((), whole), (("tool",), tools if isinstance(tools, dict) else {})):
        for name, table in tables.items():
            if name.replace("_", "-") == TABLE[-1] and isinstance(table, dict):
                from converter.cli.config.places import place_of

                message = f"the table is called {NAME}, not [{'.'.join((*where, name))}]"
                raise _wrong(path, message, *place_of(text, (*where, name)))


class _Reader:
    """Reads one table, and collects what is wrong with it."""

    def __init__(self, path: str, text: str) -> None:
        self.path, self.text = path, text
        self.folder = os.path.dirname(os.path.abspath(path))
        self.problems: list[Problem] = []

    def read(self, table: object) -> Configuration:
        if not isinstance(table, dict):
            self._wrong((), f"{NAME} is a table, not {_kind(table)}")
            self._end()
        values = self._values({k: v for k, v in table.items() if k not in (OVERRIDES, PAIRS)}, ())
        overrides = [self._override(one, number) for number, one in enumerate(self._list(table, OVERRIDES))]
        pairs = [self._pair(one, number) for number, one in enumerate(self._list(table, PAIRS))]
        if self.problems:
            self._end()
        return Configuration(self.path, self.text, values, tuple(overrides), tuple(pairs))

    def _end(self) -> NoReturn:
        raise ConfigurationError(*self.problems)

    def _list(self, table: Mapping[str, object], key: str) -> list[object]:
        held = table.get(key, [])
        if isinstance(held, list):
            return held
        self._wrong((key,), f"{key} is a list of tables, as [[tool.tf-multigpu.{key}]] begins, not {_kind(held)}")
        return []

    def _values(self, table: Mapping[str, object], where: Path) -> dict[str, object]:
        """The values of the options in a table, as the commands take them."""
        found: dict[str, object] = {}
        for name, held in table.items():
            key = KEYS.get(name)
            if key is None:
                self._unknown((*where, name), [*KEYS, *(() if where else (OVERRIDES, PAIRS))])
            elif where and not key.per_file:
                self._wrong((*where, name), f"{name} holds for a whole run: it stands in {NAME}")
            else:
                value = _value(key, held)
                if value is None:
                    self._wrong((*where, name), f"{name} is {key.expected}, not {_shown_value(held)}")
                else:
                    found[key.field] = self._placed(key, value)
        return found

    def _placed(self, key: Key, value: object) -> object:
        """A path as it is seen from the process's folder."""
        if key.path and isinstance(value, tuple):
            return tuple(self._placed(key, one) for one in value)
        is_path = key.path or (key.name == "python" and os.sep in str(value))
        if not is_path or not isinstance(value, str):
            return value
        end = os.sep if value.endswith(("/", os.sep)) else ""
        return _shown(os.path.normpath(os.path.join(self.folder, value))) + end

    def _override(self, table: object, number: int) -> Override:
        where = (OVERRIDES, number)
        if not isinstance(table, dict):
            self._wrong((OVERRIDES,), f"{OVERRIDES} is a list of tables, not of {_kind(table)}")
            return Override((), {})
        files = table.get(FILES)
        if not (_is_texts(files) and files):
            message = f'an override names its files: {FILES} = ["models/*.py"]'
            self._wrong((*where, FILES) if FILES in table else where, message)
            files = []
        return Override(tuple(files), self._values({k: v for k, v in table.items() if k != FILES}, where))

    def _pair(self, table: object, number: int) -> Pair:
        where, known = (PAIRS, number), Pair._fields
        if not isinstance(table, dict):
            self._wrong((PAIRS,), f"{PAIRS} is a list of tables, not of {_kind(table)}")
            return Pair("", "")
        for name in table:
            if name not in known:
                self._unknown((*where, name), known)
        sides = []
        for name in known:
            held = table.get(name)
            if not (isinstance(held, str) and held):
                message = f'a pair lacks its {name}: {name} = "train.py"'
                self._wrong((*where, name) if name in table else where, message)
                held = ""
            end = os.sep if held.endswith("/") else ""
            sides.append(_shown(os.path.normpath(os.path.join(self.folder, held))) + end)
        return Pair(*sides)

    def _unknown(self, where: Path, known: Sequence[str]) -> None:
        name = str(where[-1])
        if name in COMMAND_LINE_ONLY:
            self._wrong(where, f"{name} is given on the command line alone: {COMMAND_LINE_ONLY[name]}")
            return
        import difflib

        near = difflib.get_close_matches(name.replace("_", "-").lower(), known, 1)
        hint = f"{near[0]} is meant?" if near else "`tf-multigpu config` names all keys"
        self._wrong(where, f"unknown key {name}", hint)

    def _wrong(self, where: Path, message: str, hint: str = "") -> None:
        from converter.cli.config.places import place_of

        place = place_of(self.text, (*TABLE, *where))
        self.problems.append(Problem("TMG033", self.path, *place, message=message, hint=hint))


def _value(key: Key, held: object) -> object:
    """A value as the command line would give it; None where it is none of the key's."""
    if key.many:
        if key.pairs and isinstance(held, dict) and all(type(axis) is int for axis in held.values()):
            return tuple(f"{name}={axis}" for name, axis in held.items())
        return tuple(held) if isinstance(held, list) and _is_texts(held) else None
    match held:
        case bool():
            return held if key.is_bool else None
        case str():
            return held if held and (key.text or held in key.words) else None
        case int() | float() if key.number or (key.whole and isinstance(held, int)):
            number = str(held) if key.as_text else float(held) if key.number else held
            return number if key.least is None or held >= key.least else None
    return None


def _is_texts(held: object) -> bool:
    return isinstance(held, list) and all(isinstance(one, str) and one for one in held)


def _kind(held: object) -> str:
    names = {bool: "true or false", int: "a number", float: "a number", str: "a text", list: "a list", dict: "a table"}
    return names.get(type(held), "a date or time")


def _shown_value(held: object) -> str:
    if isinstance(held, bool):
        return str(held).lower()
    return f'"{held}"' if isinstance(held, str) else str(held) if isinstance(held, (int, float)) else _kind(held)
