"""Writes docs/schema: of what --output-format json prints, and of the table [tool.tf-multigpu].

With --check it writes nothing, names the files that differ, and exits with 1. A schema's number grows when something is
removed or means another thing; what is added keeps it, so readers have to pass over names that they do not know.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
import types
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from converter.cli.config.keys import FILES, KEYS, OVERRIDES, PAIRS, Key
from converter.plan import decisions
from converter.report import data
from converter.report.results import FileResult
from converter.verify.data import Report

Json = dict[str, Any]
LEFT_OUT = {"fix", "original", "converted", "origin"}  # texts and traces
# Pairs that JSON has as objects.
MAPPINGS = {"versions": {"type": "string"}, "neutralised": {"type": "integer"}}
PLAIN: dict[object, Json] = {
    str: {"type": "string"},
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    type(None): {"type": "null"},
    # JSON has no number for these three.
    float: {"anyOf": [{"type": "number"}, {"enum": ["nan", "inf", "-inf"]}]},
}


def schemas() -> dict[str, Json]:
    """Each file's name with what is in it."""
    version = {"type": "string", "description": "of tf-multigpu"}
    files = {"type": "array", "items": _object(FileResult)}
    status = {"enum": [0, 1, 2, 3, 4], "description": "exit status: that of the worst file"}
    run = {"version": version, "exit_code": status, "files": files}
    report = _object(Report)["properties"]
    return {
        "convert.json": _whole(data.CONVERT, "tf-multigpu convert --output-format json", run),
        "verify.json": _whole(data.VERIFY, "tf-multigpu verify --output-format json", {"version": version, **report}),
        "pyproject.json": _table(),
    }


def _table() -> Json:
    """The table as editors check it: of what schemastore.org has for other tools."""
    text = {"type": "string", "minLength": 1}
    files = {"type": "array", "minItems": 1, "items": text, "description": "Patterns as in .gitignore, from this file."}
    override = {key.name: _key(key) for key in KEYS.values() if key.per_file}
    pair = {"source": text | {"description": "A script or a folder."}, "output": text | {"description": "Made of it."}}
    lists = {
        PAIRS: {"type": "array", "items": _closed(pair, *pair), "description": "Made by convert, held by --check."},
        OVERRIDES: {
            "type": "array",
            "items": _closed({FILES: files, **override}, FILES),
            "description": "Other values for some scripts; later ones go before earlier ones.",
        },
    }
    head = {"$schema": "http://json-schema.org/draft-07/schema#", "title": "[tool.tf-multigpu] of pyproject.toml"}
    return head | _closed({key.name: _key(key) for key in KEYS.values()} | lists)


def _closed(properties: Json, *required: str) -> Json:
    more = {"required": list(required)} if required else {}
    return {"type": "object", "additionalProperties": False, "properties": properties, **more}


def _key(key: Key) -> Json:
    """What a value of a key may be."""
    text: Json = {"type": "string", "minLength": 1}
    kinds: list[Json] = [{"type": "array", "items": text}] if key.many else []
    kinds += [{"type": "object", "additionalProperties": {"type": "integer", "minimum": 0}}] if key.pairs else []
    kinds += [{"type": "boolean"}] if key.is_bool else []
    least = {} if key.least is None else {"minimum": key.least}
    kinds += [{"type": "integer", **least}] if key.whole else [{"type": "number", **least}] if key.number else []
    kinds += [{"enum": list(key.words)}] if key.words else [text] if key.text and not key.many else []
    return {"description": key.help, **(kinds[0] if len(kinds) == 1 else {"anyOf": kinds})}


def _whole(name: str, title: str, properties: Json) -> Json:
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": title,
        "type": "object",
        "required": ["schema", *properties],
        "properties": {"schema": {"const": name}, **properties},
    }


def _object(kind: type) -> Json:
    hints = get_type_hints(kind, localns=vars(decisions))
    properties = {
        field.name: _mapping(field.name) if field.name in MAPPINGS else _type(hints[field.name])
        for field in dataclasses.fields(kind)
        if field.name not in LEFT_OUT
    }
    return {"type": "object", "required": list(properties), "properties": properties}


def _mapping(name: str) -> Json:
    return {"type": "object", "additionalProperties": MAPPINGS[name]}


def _type(hint: Any) -> Json:
    if hint in PLAIN:
        return PLAIN[hint]
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        return _object(hint)
    arguments = get_args(hint)
    if get_origin(hint) is Literal:
        return {"enum": list(arguments)}
    if get_origin(hint) is tuple and arguments[1:] == (...,):
        return {"type": "array", "items": _type(arguments[0])}
    if get_origin(hint) is tuple:
        return {"type": "array", "prefixItems": [_type(one) for one in arguments], "items": False}
    if get_origin(hint) in (Union, types.UnionType):
        return {"anyOf": [_type(one) for one in arguments]}
    raise TypeError(f"no schema for {hint}")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--check", action="store_true")
    asked = parser.parse_args()
    texts = {name: json.dumps(schema, indent=2) + "\n" for name, schema in schemas().items()}
    if not asked.check:
        asked.folder.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            (asked.folder / name).write_text(text)
        return 0
    differ = [name for name, text in texts.items() if _held(asked.folder / name) != text]
    for name in differ:
        print(f"{asked.folder / name}: not what the program prints; run: python tools/schemas.py {asked.folder}")
    return 1 if differ else 0


def _held(path: Path) -> str:
    return path.read_text() if path.exists() else ""


if __name__ == "__main__":
    sys.exit(main())
