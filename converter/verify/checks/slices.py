"""Joins the slices of variables that a conversion has cut, to compare them with the original's whole variables.

Slices that overlap, or leave a part of the whole out, stay what they are: variables that the original does not have.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any

from converter.verify.checks.figures import Facts, listing
from converter.verify.data import CheckResult


def wholes_in(mine: Facts, theirs: Facts) -> dict[str, list[str]]:
    """The original's variables that the conversion has in slices: {name: the slices, in their order}."""
    own = {row["name"] for row in mine["variables"]}
    found: dict[str, list[str]] = {}
    for name, info in sorted(theirs["slices"].items(), key=lambda pair: pair[1]["offset"]):
        if info["whole"] in own and name not in own:
            found.setdefault(info["whole"], []).append(name)
    return {whole: names for whole, names in found.items() if _fill([theirs["slices"][name] for name in names])}


def _fill(infos: list[Mapping[str, Any]]) -> bool:
    """Whether slices, in their order, fill their whole along one axis, each part once."""
    whole = infos[0]["whole_shape"]
    axes = [axis for axis in range(len(whole)) if any(info["offset"][axis] for info in infos)] or [0]
    if len(axes) > 1 or any(info["whole_shape"] != whole for info in infos):
        return False
    axis, place = axes[0], 0
    for info in infos:
        across = [size for other, size in enumerate(info["shape"]) if other != axis]
        if info["offset"][axis] != place or across != [size for other, size in enumerate(whole) if other != axis]:
            return False
        place += info["shape"][axis]
    return bool(place == whole[axis])


def join_slices(theirs: Facts, wholes: Mapping[str, list[str]]) -> Facts:
    """What is known of the conversion, with one variable for the slices of each of these wholes."""
    if not wholes:
        return theirs
    named = {name: whole for whole, names in wholes.items() for name in names}
    rows = {row["name"]: row for row in theirs["variables"]}
    kept = [row for row in theirs["variables"] if row["name"] not in named]
    for whole, names in wholes.items():
        parts = [rows[name] for name in names if name in rows]
        if len(parts) == len(names):
            trainable = all(part["trainable"] for part in parts)
            shape = theirs["slices"][names[0]]["whole_shape"]
            kept.append({"name": whole, "shape": shape, "dtype": parts[0]["dtype"], "trainable": trainable})
        else:
            kept += parts
    return {
        **theirs,
        "variables": sorted(kept, key=lambda row: row["name"]),
        "writes": _writes(theirs["writes"], wholes),
        "collections": {key: theirs["counted"].get(key, count) for key, count in theirs["collections"].items()},
    }


def _writes(writes: Mapping[str, int], wholes: Mapping[str, list[str]]) -> dict[str, int]:
    """How often each variable is written; one whose slices are not written alike stays in slices."""
    found = dict(writes)
    for whole, names in wholes.items():
        operations = [name.partition(":")[0] for name in names]
        counts = {writes.get(operation, 0) for operation in operations}
        if len(counts) == 1:
            for operation in operations:
                found.pop(operation, None)
            found.update({whole.partition(":")[0]: count for count in counts if count})
    return found


def check_slices(theirs: Facts, wholes: Mapping[str, list[str]], gpus: int) -> list[CheckResult]:
    """Where the slices of variables are: each of a variable on a device of its own. Nothing where none are cut."""
    if not wholes:
        return []
    trained = {row["name"] for row in theirs["variables"] if row["trainable"]} & set(wholes) or set(wholes)
    infos = {whole: [theirs["slices"][name] for name in wholes[whole]] for whole in sorted(trained)}
    places = {whole: {part["device"] for part in parts} for whole, parts in infos.items()}
    crowded = [whole for whole, parts in infos.items() if len(places[whole]) < min(len(parts), gpus)]
    worst = max(crowded or infos, key=lambda whole: prod(infos[whole][0]["whole_shape"]))
    if crowded:
        where = f"{len(infos[worst])} of {worst} on {listing(sorted(places[worst]))}"
        return [CheckResult("slices", "failed", f"slices of {listing(crowded)} share devices: {where}")]
    parts = f"the largest, {worst}, into {len(infos[worst])} on {len(places[worst])} devices"
    return [CheckResult("slices", "passed", f"{len(trained)} trained variables are cut, {parts}")]
