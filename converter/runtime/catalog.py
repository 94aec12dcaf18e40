"""The helpers by name: their source and what they need."""

from __future__ import annotations

import ast
import re
from collections import ChainMap
from collections.abc import Iterator, Mapping, MutableMapping
from dataclasses import replace
from functools import cache
from pkgutil import get_data
from typing import cast

from converter.dataclass import dataclass
from converter.parsing import parse_text

MODULES = ("counting", "stepping", "devices", "sharding", "sharing", "averaging", "gradients")

REASONS = {  # helpers by the rule that asks for them
    "TMG101": ("sum_gradients", "sum_gradients_dense", "average_gradients"),
    "TMG102": ("tower_gradients", "gradients_of_towers", "merge_loss", "keep_losses"),
    "TMG103": (
        *("shard", "shard_along", "shard_static", "shard_static_along", "shard_data", "shard_data_along"),
        *("shard_bounds", "map_structure"),
    ),
    "TMG144": ("keep_parts", "HandedOn", "hand_on", "part_of_tower"),
    "TMG104": ("plain_name", "name_without_tower", "without_tower", "merge_shown"),
    "TMG105": ("SharedVariables", "SharedVariablesOfModels"),
    "TMG106": ("first_tower_updates", "updates_variable", "TowerAverages"),
    "TMG107": ("TowerCollections", "TowerPenalties", "MergedCollections", "scopes_without_towers"),
    "TMG108": ("shard_size",),
    "TMG124": ("TowerInputs",),
    "TMG125": (
        *("own_inputs", "OwnInputs", "OfTowers", "read_for_towers", "feed_for_towers"),
        *("own_batches", "TAKES", "take_again"),
    ),
    "TMG134": ("shard_drawn",),
    "TMG135": ("shard_sparse", "sparse_rows"),
    "TMG109": (
        *("is_variable", "tower_device", "variable_device", "tower_device_gpu_0", "variable_device_gpu_0"),
        *("VARIABLE_BYTES", "tower_device_balanced", "variable_device_balanced"),
        *("FIRST_SLICES", "tower_device_partitioned", "variable_device_partitioned"),
    ),
    "TMG139": ("SLICE_BYTES", "cut_variables", "slice_counts", "slices_of_initial_value", "read_as_one"),
    "TMG112": ("count_gpus",),
    "TMG119": ("fewer_steps",),
    "TMG129": ("check_gpus",),
    "TMG127": ("enter_tower", "tower_gradients_or_one_gpu", "gradients_of_towers_or_one_gpu"),
    "TMG117": ("weigh_losses",),
    "TMG118": ("TowerOptimizer",),
    "TMG123": ("ScopeReuse",),
    "TMG122": ("LayerNames", "keep_names"),
    "TMG138": ("whole_batch", "pad_steps", "concat_steps"),
    "TMG148": ("after_updates",),
    "TMG168": ("rows_of_one_gpu",),
    "TMG131": ("FirstTowerLists", "of_first_tower"),
    "TMG143": ("merge_fed", "feed_towers"),
}

DENSE = "_dense"  # suffix of the helpers for scripts without sparse gradients

_IMPORT = re.compile(r"^import (\w+)$", re.MULTILINE)
# A definition goes on to the next line that is not indented, closes no bracket, and is no `def` below its decorator.
_DEFINITION = re.compile(
    r"^(?:@.*\n)*(?:(?:def|class) (?P<name>\w+)|(?P<constant>\w+) = ).*\n(?:(?:[ \t)}\]].*)?\n)*", re.MULTILINE
)


@dataclass(frozen=True)
class Helper:
    """One definition of the runtime: source lines, names (helpers, builtins) and modules that it uses, its rule."""

    name: str
    source: str
    needs: tuple[str, ...]
    imports: tuple[str, ...]
    why: str


def source_of(module: str) -> str:
    """The text of a module of the runtime, with line feeds at the ends of its lines."""
    data = get_data(__name__, f"{module}.py")
    assert data is not None
    return data.decode().replace("\r\n", "\n")


@cache
def catalog() -> Mapping[str, Helper]:
    """All helpers, in the order in which they are written into a script."""
    return _Catalog()


def for_dense() -> Mapping[str, Helper]:
    """The catalog for a script without sparse gradients: what is shorter for it has the name of what is for all."""
    known = catalog()
    found: dict[str, Helper] = {}
    for name in known:
        if name.endswith(DENSE):
            plain = name.removesuffix(DENSE)
            found[plain] = replace(known[name], name=plain, source=known[name].source.replace(name, plain))
    return ChainMap(found, cast(MutableMapping[str, Helper], known))  # nothing is written into it


class _Catalog(Mapping[str, Helper]):
    """The definitions of the runtime's modules; each is parsed when it is asked for."""

    def __init__(self) -> None:
        self._texts: dict[str, tuple[str, set[str]]] = {}  # each definition, and the modules that its file imports
        self._made: dict[str, Helper] = {}
        for module in MODULES:
            text = source_of(module)
            modules = set(_IMPORT.findall(text))
            for part in _DEFINITION.finditer(text):
                name = part["name"] or part["constant"]
                if name != "NUM_GPUS":
                    self._texts[name] = part[0], modules

    def __getitem__(self, name: str) -> Helper:
        if name not in self._made:
            self._made[name] = _helper(name, *self._texts[name])
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._texts)

    def __len__(self) -> int:
        return len(self._texts)


def _helper(name: str, text: str, modules: set[str]) -> Helper:
    (stmt,) = parse_text(text).body
    used = {n.id for n in ast.walk(stmt) if isinstance(n, ast.Name)} - {name}
    source = "\n".join(text.splitlines()[: stmt.end_lineno])
    why = next(code for code, names in REASONS.items() if name in names)
    return Helper(name, source, tuple(sorted(used)), tuple(sorted(used & modules)), why)
