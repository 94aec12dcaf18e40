"""The decision as plain data: what goes where, and why. A plan can be printed, stored and read.

Places in the source are given as (line, column), both as `ast` counts them but with columns in
characters; a statement is named by where it begins.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from converter.options import Options

At = tuple[int, int]  # line from 1, column from 0


@dataclass(frozen=True)
class Replace:
    """An expression of the script gives way to another; `why` names the rule."""

    at: At
    end: At
    text: str
    why: str


@dataclass(frozen=True)
class Insert:
    """Lines beside a statement of the script, at its indentation."""

    at: At
    lines: tuple[str, ...]
    where: Literal["before", "after", "top"]  # "top" of the block that the statement stands in
    why: str


@dataclass(frozen=True)
class Shard:
    """Inputs that are cut together: they share the number of rows and the weight of each tower.

    places: what the towers read the inputs by, as written in the script ("X", "self.images").
    saved: the new names under which the whole batches stay at hand.
    axes: the batch axis of each. static: whether the number of rows is known when the graph is built.
    """

    places: tuple[str, ...]
    saved: tuple[str, ...]
    axes: tuple[int, ...]
    rows: str
    weight: str
    static: bool


@dataclass(frozen=True)
class Rebind:
    """A number that means the whole batch outside the towers and one shard inside."""

    place: str
    saved: str


@dataclass(frozen=True)
class Merge:
    """What leaves the loop under a name: each tower's part is kept in a list and put together after it.

    how: "concat" along `axis`, "mean" weighted by the shards' sizes, "sum".
    towers: the list's name. loss: whether gradients are taken from it.
    packed: several rows for each example. static: no empty shards, nothing to trim.
    op_name: the graph name that the original gave to the tensor.
    """

    place: str
    towers: str
    how: Literal["concat", "mean", "sum"]
    axis: int
    shard: int
    loss: bool
    packed: bool
    op_name: str
    cast: bool
    merged: bool = True


@dataclass(frozen=True)
class Gradient:
    """Gradients that every tower computes inside the loop."""

    optimizer: str
    create: str  # the expression that makes the optimizer, "" where the script has made it before
    loss: str  # the towers' list of losses it belongs to
    grads: str


@dataclass(frozen=True)
class Loop:
    """The tower loop, and the statements of the script around and inside it.

    before and after: statements that stood between those of the towers and are moved out.
    contexts: helpers that are entered beside tf.device and the scopes, each with the name of the object
        that it needs before the loop, "" for a function.
    restore: places that get back what they stood for before the loop.
    """

    before: tuple[At, ...]
    tower: tuple[At, ...]
    after: tuple[At, ...]
    gpu: str
    shards: tuple[Shard, ...]
    rebinds: tuple[Rebind, ...]
    merges: tuple[Merge, ...]
    gradient: Gradient | None
    contexts: tuple[tuple[str, str], ...]
    restore: tuple[tuple[str, str], ...]
    splits: tuple[tuple[At, tuple[At, ...]], ...]  # with blocks of the towers, what of them stays in front
    behind: tuple[tuple[At, tuple[At, ...]], ...]  # and what comes after the loop
    layer_names: str  # the object that goes on counting layers' default names after the loop, "" for none
    register: bool  # losses are looked up by the merged one where they are minimised elsewhere


@dataclass(frozen=True)
class Plan:
    """Everything that the rewrite does to a script.

    num_gpus: the expression for the number of towers; define: the statement that defines it among
        the helpers, "" where a flag does.
    options: as they came out; what the script allows may differ from what was asked for.
    helpers: the runtime helpers to carry, each with its name in the script.
    pinned: runs of statements outside the loop that make variables, as (first, last).
    """

    loops: tuple[Loop, ...]
    replaces: tuple[Replace, ...]
    inserts: tuple[Insert, ...]
    pinned: tuple[tuple[At, At], ...]
    helpers: tuple[tuple[str, str], ...]
    tensorflow: str
    import_tensorflow: bool
    num_gpus: str
    define: str
    options: Options
