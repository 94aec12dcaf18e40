"""The values that enter and leave the loop, as planned so far."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import field, replace

from converter.analysis.flow.joined import choices
from converter.analysis.inputs.embedded_data import DATA
from converter.analysis.values import Input, Tensor, Value
from converter.dataclass import dataclass
from converter.diagnostics import Diagnostic
from converter.plan.border import Border, Handing, Known, Rows
from converter.planner.writing.free_names import Branches, TakenNames


@dataclass(frozen=True)
class Traffic:
    """The values that enter and leave the loop, as planned so far.

    Immutable: a function that adds to it returns a new one, and so do the methods that take a new name.
    """

    names: TakenNames = field(default_factory=TakenNames)  # what is taken by now
    border: Border = Border()
    groups: tuple[tuple[Input, ...], ...] = ()  # the inputs of each shard, first the one that its rows are counted on
    handing: Handing = Handing()  # of the placeholders that the towers make
    drawn: int | None = None  # the index of the shard that stands for batches drawn by the towers
    made: Mapping[str, Mapping[str, str]] = field(default_factory=dict)  # of a tuple's items in the towers: new names
    # uid of an input -> the expression for its whole batch, "" for one that the towers make
    whole: Mapping[int, str] = field(default_factory=dict)
    warnings: tuple[Diagnostic, ...] = ()
    globals: tuple[str, ...] = ()
    modules: Mapping[ast.stmt, tuple[str, str]] = field(default_factory=dict)  # by imports: what to import, its name
    loss_lists: Mapping[int, str] = field(default_factory=dict)  # uid of a loss -> name of the towers' list
    counts: Mapping[int, tuple[str, bool]] = field(default_factory=dict)  # by uid of a masked mean: see loss_counts

    def whole_of(self, value: Value, text: str) -> str | None:
        """The expression for the whole batch of the input, or of one of several inputs, whose shard `text` reads.

        None for other values.
        """
        options = choices(value) if isinstance(value, Tensor) else [value]
        found = {self.whole.get(option.uid) for option in options}
        whole = found.pop() if len(found) == 1 else None
        return (self.handing.whole(text) if self.handing.name else text) if whole == "" else whole

    def rows_of(self, value: Value) -> Rows:
        """A tower's rows and weight for a value."""
        return self.border.shards[group_of(self, value)].rows

    def plus(self, more: Border) -> Traffic:
        """The same, with more that crosses the border."""
        return replace(self, border=self.border + more)

    def fresh_rows(self, suffix: str, known: Known = "running") -> tuple[Rows, Traffic]:
        """Names for the rows of a tower, for what is added."""
        number, traffic = self.fresh(f"rows{suffix}", f"tower_rows{suffix}")
        weight, traffic = traffic.fresh(f"weight{suffix}", f"tower_weight{suffix}")
        return Rows(number, weight, known), traffic

    def fresh(self, *candidates: str) -> tuple[str, Traffic]:
        """A new name, for what is added: the first candidate that is free, else one with a number."""
        name, names = self.names.fresh(*candidates)
        return name, replace(self, names=names)

    def again(self, *candidates: str) -> tuple[str, Traffic]:
        """A name for what each loop may bind anew; see `Names.again`."""
        name, names = self.names.again(*candidates)
        return name, replace(self, names=names)

    def numbered(self, name: str, instead: str, branches: Branches) -> tuple[str, Traffic]:
        """A free name that may be used several times with numbers behind it; see `Names.numbered`."""
        name, names = self.names.numbered(name, instead, branches)
        return name, replace(self, names=names)


def group_of(traffic: Traffic, value: Value) -> int:
    """The index of the shard whose leading input a value depends on; of the drawn batch if it depends on no input."""
    if traffic.drawn is not None and not value.roots:
        return traffic.drawn
    # data in the graph is as long as it is, whatever is fed beside it
    for index, group in sorted(enumerate(traffic.groups), key=lambda g: g[1][0].op != DATA):
        if group[0] in value.roots:
            return index
    for index, group in enumerate(traffic.groups):
        if any(i in value.roots for i in group):
            return index
    return 0
