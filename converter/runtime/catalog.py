"""The helpers by name: their source and what they need."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

MODULES = ("counting", "devices", "sharding", "sharing", "averaging", "gradients")

REASONS = {  # helpers by the rule that asks for them
    "TMG101": ("average_gradients", "add_gradients"),
    "TMG102": ("tower_gradients", "gradients_of_towers", "merge_loss"),
    "TMG103": (
        *("shard", "shard_along", "shard_static", "shard_static_along", "shard_data", "shard_data_along"),
        "map_structure",
    ),
    "TMG104": ("plain_name", "name_without_tower"),
    "TMG105": ("SharedVariables",),
    "TMG106": ("first_tower_updates", "updates_variable", "TowerAverages"),
    "TMG107": ("TowerCollections", "MergedCollections"),
    "TMG108": ("shard_size",),
    "TMG134": ("shard_drawn",),
    "TMG135": ("shard_sparse", "sparse_rows"),
    "TMG109": (
        *("is_variable", "tower_device", "variable_device", "tower_device_gpu_0", "variable_device_gpu_0"),
        *("VARIABLE_BYTES", "tower_device_balanced", "variable_device_balanced"),
        *("FIRST_SLICES", "tower_device_partitioned", "variable_device_partitioned"),
    ),
    "TMG139": ("SLICE_BYTES", "cut_variables", "slice_counts", "slices_of_initial_value", "read_as_one"),
    "TMG112": ("count_gpus",),
    "TMG127": ("enter_tower", "tower_gradients_or_one_gpu", "gradients_of_towers_or_one_gpu"),
    "TMG117": ("weigh_losses",),
    "TMG118": ("TowerOptimizer",),
    "TMG122": ("LayerNames", "keep_names"),
    "TMG138": ("whole_batch", "pad_steps", "concat_steps"),
}


@dataclass(frozen=True)
class Helper:
    """One definition of the runtime: source lines, names (helpers, builtins) and modules that it uses, its rule."""

    name: str
    source: str
    needs: tuple[str, ...]
    imports: tuple[str, ...]
    why: str


@cache
def catalog() -> dict[str, Helper]:
    """All helpers, in the order in which they are written into a script."""
    found: dict[str, Helper] = {}
    for module in MODULES:
        text = (files("converter.runtime") / f"{module}.py").read_text(encoding="utf-8")
        found.update(_helpers(text))
    return found


def _helpers(text: str) -> dict[str, Helper]:
    tree = ast.parse(text)
    lines = text.splitlines()
    modules = {a.name for s in tree.body if isinstance(s, ast.Import) for a in s.names if a.asname is None}
    found, whys = {}, {name: code for code, names in REASONS.items() for name in names}
    for stmt in tree.body:
        if isinstance(stmt, (ast.FunctionDef, ast.ClassDef)):
            name, first = stmt.name, min([stmt.lineno, *(d.lineno for d in stmt.decorator_list)])
        elif (
            isinstance(stmt, ast.Assign) and isinstance(stmt.targets[0], ast.Name) and stmt.targets[0].id != "NUM_GPUS"
        ):
            name, first = stmt.targets[0].id, stmt.lineno
        else:
            continue
        used = {n.id for n in ast.walk(stmt) if isinstance(n, ast.Name)} - {name}
        source = "\n".join(lines[first - 1 : stmt.end_lineno])
        found[name] = Helper(name, source, tuple(sorted(used)), tuple(sorted(used & modules)), whys[name])
    return found
