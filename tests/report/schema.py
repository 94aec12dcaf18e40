"""Holds values against JSON schemas: the few keywords that the schemas of docs/schema use."""

from __future__ import annotations

from typing import Any

TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
}
KEYWORDS = {
    "$schema",
    "title",
    "description",
    "type",
    "required",
    "properties",
    "additionalProperties",
    "items",
    "prefixItems",
    "enum",
    "const",
    "anyOf",
}


def problems(value: Any, schema: dict[str, Any], place: str = "$") -> list[str]:
    """What is wrong with a value, each with its place; none where it is valid."""
    assert not schema.keys() - KEYWORDS, schema.keys() - KEYWORDS
    if "anyOf" in schema:
        ways = [problems(value, one, place) for one in schema["anyOf"]]
        return [] if any(not way for way in ways) else [f"{place}: none of {len(ways)} alternatives"]
    if "const" in schema and value != schema["const"]:
        return [f"{place}: {value!r} is not {schema['const']!r}"]
    if "enum" in schema and value not in schema["enum"]:
        return [f"{place}: {value!r} is none of {schema['enum']}"]
    kind = schema.get("type")
    if kind and (not isinstance(value, TYPES[kind]) or (isinstance(value, bool) and kind != "boolean")):
        return [f"{place}: {value!r} is no {kind}"]
    found = []
    if isinstance(value, dict):
        found += [f"{place}: no {name}" for name in schema.get("required", ()) if name not in value]
        for name, item in value.items():
            below = schema.get("properties", {}).get(name, schema.get("additionalProperties", {}))
            found += [f"{place}: {name} is unknown"] if below is False else problems(item, below, f"{place}.{name}")
    if isinstance(value, list):
        first = schema.get("prefixItems", [])
        if schema.get("items") is False and len(value) != len(first):
            found.append(f"{place}: {len(value)} items, not {len(first)}")
        for number, item in enumerate(value):
            below = first[number] if number < len(first) else schema.get("items", {})
            found += problems(item, below, f"{place}[{number}]") if below else []
    return found
