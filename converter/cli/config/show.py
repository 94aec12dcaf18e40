"""`tf-multigpu config`: which options are in force, and where each comes from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from os.path import exists, isdir
from typing import Any

from converter.cli.command_line.table import CONVERT, VERIFY, UsageError
from converter.cli.config.file import NAME, Configuration
from converter.cli.config.keys import KEYS, Key, key_of
from converter.cli.config.layers import Layers
from converter.diagnostics import Diagnostic, Refusal

SCHEMA = "tf-multigpu/config/1"
_DEFAULT = "default"


def config_command(*, layers: Layers, paths: Sequence[str], json: bool) -> int:
    """Prints what the nearest configuration of the paths gives, for the project and for each named script.

    Raises:
        UsageError: a path that is not there, or a script that cannot be read.
    """
    layers.check()
    if missing := [path for path in paths if not exists(path)]:
        raise UsageError(f"{missing[0]}: no such file or folder", "PATH")
    scripts = [path for path in paths if not isdir(path)]
    of_project = [""] if json or not scripts else []
    shown = {path: _in_force(layers.file, path) for path in (*of_project, *scripts)}
    comments = {path: _comments(path) for path in scripts}
    if json:
        print(_as_json(layers.file, shown, comments))
    else:
        print("\n".join(_as_text(layers.file, shown, comments)))
    return 0


def _in_force(file: Configuration | None, path: str) -> dict[str, tuple[object, str]]:
    """Each key with its value and the place that it comes from."""
    found: dict[str, tuple[object, str]] = {}
    for command in (VERIFY, CONVERT):
        of_file = Layers(command, {}, file).of_file(path)
        for option in command.options:
            name = option.flags[0].lstrip("-")
            if name in KEYS:
                found[name] = (option.usual, _DEFAULT)
        for field, (value, where) in of_file.items():
            assert file is not None
            found[key_of(field)] = (value, "{}:{}:{}".format(file.path, *file.place(*where)))
    found.setdefault("args", ((), _DEFAULT))
    return {name: found[name] for name in KEYS}


def _comments(path: str) -> list[Diagnostic]:
    """The script's comments for the tool, with their places; they go before what a configuration says."""
    from converter.source import read
    from converter.source.pragmas import pragmas_in
    from converter.source.text import in_cells

    try:
        source = read(path)
    except Refusal as refusal:
        raise UsageError(f"{path}: {refusal.diagnostic.message}", "PATH") from None
    found = (Diagnostic("", path, pragma.line, pragma.column, pragma.text) for pragma in pragmas_in(source.text))
    return [in_cells(comment, source) for comment in found]


def _plain(key: Key, value: object) -> Any:
    """A value as it stands in the file."""
    if isinstance(value, tuple):
        return list(value)
    if isinstance(value, str) and key.as_text and value.isdecimal() and key.whole:
        return int(value)
    return value


def _as_text(
    file: Configuration | None,
    shown: dict[str, dict[str, tuple[object, str]]],
    comments: dict[str, list[Diagnostic]],
) -> Iterator[str]:
    yield f"{NAME} of {file.path}" if file else f"no configuration: no pyproject.toml with {NAME} above"
    for path, values in shown.items():
        yield ""
        yield f"for {path}:" if path else "for the project:"
        lines = [(_written(name, value), place) for name, (value, place) in values.items()]
        width = max(len(text) for text, _ in lines)
        yield from (f"  {text.ljust(width)}  {place}" for text, place in lines)
        yield from (
            f"  # tf-multigpu: {one.message}  {one.path}" + (f": {one.where}" if one.cell else f":{one.line}")
            for one in comments.get(path, ())
        )
    for number, override in enumerate(file.overrides if file else ()):
        assert file is not None
        place = "{}:{}:{}".format(file.path, *file.place("overrides", number))
        yield f"\noverride for {', '.join(override.files)}  {place}"
        yield from (f"  {_written(name, value)}" for name, value in _by_key(override.values).items())
    if file and file.pairs:
        yield "\npairs:"
        yield from (f"  {pair.source} -> {pair.output}" for pair in file.pairs)


def _by_key(values: Mapping[str, object]) -> dict[str, object]:
    return {key_of(name): value for name, value in values.items()}


def _written(name: str, value: object) -> str:
    import json

    plain = _plain(KEYS[name], value)
    return f"{name} = {'(none)' if plain in (None, '') else json.dumps(plain, ensure_ascii=False)}"


def _as_json(
    file: Configuration | None,
    shown: dict[str, dict[str, tuple[object, str]]],
    comments: dict[str, list[Diagnostic]],
) -> str:
    """As JSON; `shown` has the project's options under ""."""
    import json

    def values(of: dict[str, tuple[object, str]]) -> dict[str, Any]:
        return {name: {"value": _plain(KEYS[name], value), "from": place} for name, (value, place) in of.items()}

    overrides = [
        {"files": list(one.files)} | {name: _plain(KEYS[name], value) for name, value in _by_key(one.values).items()}
        for one in (file.overrides if file else ())
    ]
    whole = {
        "schema": SCHEMA,
        "file": file.path if file else None,
        "options": values(shown[""]),
        "scripts": {
            path: {
                "options": values(of),
                "comments": [
                    {"line": one.line, "text": one.message} | ({"cell": one.cell} if one.cell else {})
                    for one in comments.get(path, ())
                ],
            }
            for path, of in shown.items()
            if path
        },
        "overrides": overrides,
        "pairs": [pair._asdict() for pair in (file.pairs if file else ())],
    }
    return json.dumps(whole, indent=2, ensure_ascii=False)
