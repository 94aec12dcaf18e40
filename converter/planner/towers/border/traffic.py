"""What goes through the border of the loop, as it is found."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, field, fields, replace

from converter.analysis.values import Input
from converter.diagnostics import Diagnostic
from converter.plan import Merge, Nest, Rebind, Rebuild, Regroup, Reset, Shard
from converter.planner.questions.structures import Part
from converter.planner.writing.free_names import Names


@dataclass
class Traffic:
    """What goes through the border of the loop."""

    tensorflow: str = "tf"  # TensorFlow's name where the loop stands
    alone: bool = False  # batches may be of a single example: no tower is sure to have one
    one_gpu: bool = False  # without towers, where other scripts import the model
    names: Names = field(default_factory=Names)  # what is taken by now
    shards: list[Shard] = field(default_factory=list)
    groups: list[list[Input]] = field(default_factory=list)
    drawn: int | None = None  # the index of the shard that stands for batches drawn by the towers
    nests: list[Nest] = field(default_factory=list)
    rebinds: list[Rebind] = field(default_factory=list)
    resets: list[Reset] = field(default_factory=list)
    rebuilds: list[Rebuild] = field(default_factory=list)
    regroups: list[Regroup] = field(default_factory=list)
    made: dict[str, dict[str, str]] = field(default_factory=dict)  # of a tuple's items in the towers: new names
    merges: list[Merge] = field(default_factory=list)
    restore: list[tuple[str, str]] = field(default_factory=list)
    whole: dict[int, str] = field(default_factory=dict)  # uid of an input -> the expression for its whole batch
    inputs_out: dict[str, Part] = field(default_factory=dict)  # inputs in structures of the towers that are read later
    warnings: list[Diagnostic] = field(default_factory=list)
    globals: list[str] = field(default_factory=list)
    loss_lists: dict[int, str] = field(default_factory=dict)  # uid of a loss -> name of the towers' list
    counts: dict[int, tuple[str, bool]] = field(default_factory=dict)  # by uid of a masked mean: see loss_counts

    def fresh(self, *candidates: str) -> str:
        """A new name, for what is added: the first candidate that is free, else one with a number."""
        name, self.names = self.names.fresh(*candidates)
        return name

    def again(self, *candidates: str) -> str:
        """A name for what each loop may bind anew; see `Names.again`."""
        name, self.names = self.names.again(*candidates)
        return name

    def numbered(self, name: str, instead: str) -> str:
        """A new name of which a script may need several; see `Names.numbered`."""
        name, self.names = self.names.numbered(name, instead)
        return name

    def copy(self) -> Traffic:
        """The same, for a pass to add to: what it was given stays as it is."""
        return replace(self, **{f.name: copy(getattr(self, f.name)) for f in fields(self)})
