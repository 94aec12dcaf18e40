"""What crosses the border of the tower loop.

How each value leaves it, in `Merge.how`: rows are concatenated (`Concat`, or `Fed` where a run feeds them), means and
sums are added up (`Mean`, `MaskedMean`, `Sum`), of updates the first tower's are run (`First`), what is only shown is
merged by its form (`Shown`), and what only the towers of a later loop read is handed on as it is (`Handed`).
"""

from __future__ import annotations

from typing import Literal

from converter.dataclass import dataclass


@dataclass(frozen=True)
class Rows:
    """The names of a tower's number of rows and of its weight.

    known: when both are: tensors while the graph runs, numbers of Python where it is built. "fixed": no batch has
    another size, so that no tower is without rows.
    """

    number: str
    weight: str
    known: Literal["running", "building", "fixed"] = "running"


# -- out -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Concat:
    """Rows, put together along an axis.

    packed: several rows for each example. steps: the towers' parts may differ in the number of their steps: shorter
    ones are padded.
    """

    rows: Rows
    axis: int = 0
    packed: bool = False
    steps: bool = False


@dataclass(frozen=True)
class Fed:
    """Rows that a run feeds, so that each tower's own tensor must be at hand."""

    rows: Rows


@dataclass(frozen=True)
class Mean:
    """A mean over the examples, weighted by the towers' rows.

    cast: the weight is cast to the type of the value.
    """

    rows: Rows
    cast: bool = False


@dataclass(frozen=True)
class MaskedMean:
    """A mean over what a mask leaves, weighted by its denominator in each tower.

    count: the expression for the denominator; per_row: that is a mean over the tower's rows. counts: the name of the
    list that keeps it.
    """

    rows: Rows
    count: str
    counts: str
    per_row: bool = False


@dataclass(frozen=True)
class Sum:
    """A sum over the examples."""

    rows: Rows


@dataclass(frozen=True)
class First:
    """What is free of the batch, such as updates of variables: only the first tower's is run."""


@dataclass(frozen=True)
class Shown:
    """What is only shown, by its form when the graph is built."""

    rows: Rows


@dataclass(frozen=True)
class Handed:
    """What only the towers of a later loop read, each its own: it is not merged at all."""


How = Concat | Fed | Mean | MaskedMean | Sum | First | Shown | Handed


@dataclass(frozen=True)
class Structure:
    """A list, tuple or dict, of which each tensor is merged.

    each: for a flat list, names for one of its tensors, and for the towers' parts of it; None where a helper maps.
    kept: a list or dict from before the loop, for which other names may stand: what it holds is replaced.
    """

    each: tuple[str, str] | None = None
    kept: Literal["list", "dict"] | None = None


@dataclass(frozen=True)
class Guard:
    """A value that the script does not always make.

    test: whether it has, as an expression. unset: the place is bound to nothing where it has not, so that each tower
    has to begin with None there.
    """

    test: str
    unset: bool = False


@dataclass(frozen=True)
class Loss:
    """The part of a merge that gradients need: they are taken from the towers' list.

    merged: something else reads it, too. written: where it has no name in the script, the expression for it; the place
    is a new name. late: it is put in its place behind the statements that are repeated, one of which writes there.
    carried: merged, it carries the towers' losses, for where it is minimised: in another function or file.
    """

    merged: bool = True
    written: str = ""
    late: bool = False
    carried: bool = False


# The name of a merged tensor for which the script asks: the one that TensorFlow gives to it on one GPU.
AS_ON_ONE_GPU = ""

_HELPERS: dict[type, tuple[str, ...]] = {
    Fed: ("merge_fed", "feed_towers"),
    MaskedMean: ("weigh_losses",),
    Shown: ("merge_shown",),
    Handed: ("hand_on",),
}


@dataclass(frozen=True)
class Merge:
    """A value that leaves the loop: each tower's part is kept in a list, and the parts are merged after the loop.

    towers: the list's name. name: the graph name of the merged tensor, or `AS_ON_ONE_GPU`; None for any.
    own: for a value that the towers of a later loop go on with, the name of the list of what each tower made; else "".
    losses: for a loss with rows that is minimised where the towers' names are not seen, the name of the list of the
        towers' losses, which the merged one carries there; else "".
    """

    place: str
    towers: str
    how: How
    name: str | None = None
    structure: Structure | None = None
    guard: Guard | None = None
    loss: Loss | None = None
    own: str = ""
    losses: str = ""

    @property
    def merged(self) -> bool:
        """Whether something reads the merged value, beside the gradients that are taken from the towers' parts."""
        return self.loss is None or self.loss.merged

    @property
    def helpers(self) -> tuple[str, ...]:
        """The runtime helpers that the lines of the loop call for it."""
        called = {
            "map_structure": self.structure is not None and self.structure.each is None,
            "concat_steps": isinstance(self.how, Concat) and self.how.steps,
            "plain_name": self.name == AS_ON_ONE_GPU,
            "keep_parts": bool(self.own),
            "keep_losses": bool(self.losses),
        }
        return (*_HELPERS.get(type(self.how), ()), *(helper for helper, needed in called.items() if needed))


@dataclass(frozen=True)
class Rebuild:
    """A tuple that holds merged values: it is rebuilt after the loop.

    text: the expression for it, with `{towers}` in place of what is merged from the list of that name.
    """

    place: str
    text: str
    towers: tuple[str, ...]
