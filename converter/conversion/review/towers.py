"""Records of the helpers that the walk of a converted text met: what was cut, merged and averaged, and when."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import field

from converter.analysis.tensors.sparse import PART
from converter.analysis.values import Input, Number, Origin, Tensor, Value
from converter.dataclass import dataclass

MODULES = ("tower_helpers", "tf_multigpu_runtime")  # how the names of modules begin that have the helpers
TOWERS = 2  # that are walked; what two of them do to each other, any number does

SHARD = PART
ROWS, WEIGHT, TRIM, SHARE, MERGE = (
    "tower rows",
    "tower weight",
    "tower trim",
    "tower share",
    "tower merge",
)
WHOLE, COUNTED = "tower whole batch", "tower weighed"
REUSES = "reuse"  # stands beside the helpers around a tower whose later turns find the variables of the first
GROWN = "grown"  # the last entry of the key of an origin whose number was multiplied with the number of towers


@dataclass(frozen=True)
class TowerPart:
    """A tower's part of a batch: which tower's, along which axis, and with what others it was cut."""

    whole: Value
    gpu: int | None
    axis: int
    group: int
    static: bool


@dataclass(frozen=True)
class Merged:
    """The towers' parts under one name: `how` is "concat" along an axis, or "add"."""

    parts: tuple[Value, ...]
    how: str
    axis: int = 0


@dataclass
class HandedParts:
    """Hands a tower that is walked its parts of placeholders.

    axes, size: the arguments that the helper was given. made: the first tower's. turn: how many are handed.
    """

    axes: Value | None
    size: Value | None
    made: list[Input] = field(default_factory=list)
    gpu: int = 0
    turn: int = 0


@dataclass(frozen=True)
class Averaged:
    """The average of the towers' gradients: of their losses, each by its optimizer, for its variables."""

    losses: tuple[Value, ...]
    optimizers: tuple[Value | None, ...]
    variables: tuple[Value | None, ...]


@dataclass
class TowerRecords:
    """Records of the helpers that the walk of a converted text met, by the uids of values.

    turns: when towers were built, by the clock of the walk, in order: begin, end, which.
    """

    origin: Origin
    helpers: dict[str, str]
    cuts: dict[int, TowerPart] = field(default_factory=dict)
    merges: dict[int, Merged] = field(default_factory=dict)
    collected: dict[int, Merged] = field(default_factory=dict)  # by the first tower's value
    averages: dict[int, Averaged] = field(default_factory=dict)
    sizes: dict[int, Value] = field(default_factory=dict)  # of one shard: that of the whole batch
    grown: dict[int, Value] = field(default_factory=dict)  # a number times the number of towers: the number
    products: list[Number] = field(default_factory=list)  # the numbers that were multiplied, as they are then
    counted: dict[int, int] = field(default_factory=dict)  # when a file has set the number of towers, by its frame
    optimizers: dict[int, tuple[Value, Value]] = field(default_factory=dict)  # TowerOptimizer: its own, the losses
    turns: list[tuple[int, int, int]] = field(default_factory=list)
    entered: list[tuple[int, int, set[str]]] = field(default_factory=list)  # begin, end, the helpers around a tower
    parts: dict[int, list[Value]] = field(default_factory=dict)  # of a merged value: what each tower made
    losses: dict[int, list[Value]] = field(default_factory=dict)  # of a merged loss with rows: those of the towers
    handing: HandedParts | None = None  # while a tower is walked that is handed its placeholders
    whole: dict[int, Input] = field(default_factory=dict)  # of parts of these: the placeholder
    listed: list[Value] | None = None  # while towers are walked: what the first one got of of_first_tower
    left: list[Value] | None = None  # and what a later one has not got yet
    unread: list[str] = field(default_factory=list)
    missing: list[tuple[Value, ast.AST]] = field(default_factory=list)  # lists, and what reads an entry they have not

    def gpus(self) -> Number:
        """The number of towers; one, so that the numbers of a text stay those of the original."""
        origins = frozenset((self.origin,))
        return Number(1, origins, origins)


def in_towers(towers: TowerRecords, value: Value) -> bool:
    """Whether a value was made while a tower was built."""
    return turn_of(towers, value.time) is not None


def turn_of(towers: TowerRecords, time: int) -> int | None:
    """The number of the tower that was being built at a time of the walk; None outside of the towers."""
    return next((gpu for begin, end, gpu in towers.turns if begin < time <= end), None)


def behind(value: Value) -> Iterator[Value]:
    """A value, and those that one of the tool's own expressions makes from it."""
    todo, depth = [value], 0
    while todo and depth < 30:
        depth += 1
        one = todo.pop(0)
        yield one
        if not isinstance(one, Input) and not (isinstance(one, Tensor) and one.op == SHARD):
            todo += one.inputs


def helper_of(node: ast.AST, helpers: dict[str, str]) -> str | None:
    """The helper that an expression calls, by its name or as one of its module; None for any other expression."""
    called = node.func if isinstance(node, ast.Call) else None
    if isinstance(called, ast.Name):
        return helpers.get(called.id)
    if not isinstance(called, ast.Attribute):
        return None
    module = getattr(called.value, "id", getattr(called.value, "attr", ""))
    return helpers.get(called.attr) if module.startswith(MODULES) else None  # not of `data.shard(2, 0)`
