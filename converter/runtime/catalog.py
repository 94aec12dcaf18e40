"""The helpers by name: their source and what they need."""

from __future__ import annotations

import ast
import re
from collections import ChainMap
from collections.abc import Collection, Iterator, Mapping, MutableMapping
from dataclasses import replace
from functools import cache
from pkgutil import get_data
from typing import cast

from converter.dataclass import dataclass
from converter.parsing import parse_text

MODULES = ("counting", "devices", "sharding", "sharing", "averaging", "gradients")

REASONS = {  # helpers by the rule that asks for them
    "TMG101": ("average_gradients", "average_gradients_dense"),
    "TMG102": ("tower_gradients", "gradients_of_towers", "merge_loss"),
    "TMG103": (
        *("shard", "shard_along", "shard_static", "shard_static_along", "shard_data", "shard_data_along"),
        *("shard_bounds", "map_structure"),
    ),
    "TMG104": ("plain_name", "name_without_tower", "without_tower"),
    "TMG105": ("SharedVariables", "SharedVariablesOfModels"),
    "TMG106": ("first_tower_updates", "updates_variable", "TowerAverages"),
    "TMG107": ("TowerCollections", "MergedCollections", "scopes_without_towers"),
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
    "TMG129": ("check_gpus",),
    "TMG127": ("enter_tower", "tower_gradients_or_one_gpu", "gradients_of_towers_or_one_gpu"),
    "TMG117": ("weigh_losses",),
    "TMG118": ("TowerOptimizer",),
    "TMG123": ("ScopeReuse",),
    "TMG122": ("LayerNames", "keep_names"),
    "TMG138": ("whole_batch", "pad_steps", "concat_steps"),
    "TMG143": ("merge_fed", "feed_towers"),
}

DENSE = "_dense"  # suffix of the helpers for scripts without sparse gradients

_HEAD = re.compile(r"def \w+\((.*)\):")
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

    def call(self) -> re.Pattern[str]:
        """A call of a function in a line of its own, with arguments that are called as its parameters are."""
        head = _HEAD.match(self.source)  # none for a class or a constant
        called = rf"^    (?:return )?{self.name}\({re.escape(head[1])}\)$" if head else r"(?!)"
        return re.compile(called, re.MULTILINE)

    def statements(self) -> str:
        """The lines of a function below its docstring."""
        return _below_docstring(self.source)


@cache
def _below_docstring(source: str) -> str:
    (stmt,) = parse_text(source).body
    assert isinstance(stmt, ast.FunctionDef)
    return "\n".join(source.splitlines()[stmt.body[1].lineno - 1 :])


def written_out(chosen: Collection[str], called: Collection[str]) -> frozenset[str]:
    """Helpers whose statements can stand where another one calls them, in place of a function of their own.

    chosen: the helpers of a script. called: those that its other lines call.
    """
    known = catalog()
    users = {
        name: [known[user] for user in chosen if name in known[user].needs] for name in chosen if name not in called
    }
    return frozenset(name for name, by in users.items() if len(by) == 1 and known[name].call().search(by[0].source))


def with_statements(
    helper: Helper, chosen: Collection[str], known: Mapping[str, Helper]
) -> tuple[Helper, dict[int, str]]:
    """A helper with the statements of those that it calls and that are not among the chosen; their lines' rules."""
    source, rules = helper.source, dict[int, str]()
    needs, imports = set(helper.needs), set(helper.imports)
    for other in (known[name] for name in helper.needs if name in known and name not in chosen):
        found = other.call().search(source)
        if found is not None:
            first, statements = source.count("\n", 0, found.start()), other.statements()
            rules.update((first + index, other.why) for index in range(statements.count("\n") + 1))
            source = source[: found.start()] + statements + source[found.end() :]
            needs |= set(other.needs)
            imports |= set(other.imports)
    return Helper(helper.name, source, tuple(sorted(needs)), tuple(sorted(imports)), helper.why), rules


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
            data = get_data(__name__, f"{module}.py")
            assert data is not None
            text = data.decode().replace("\r\n", "\n")
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
