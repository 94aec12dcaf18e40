"""What crosses the border of the tower loop.

Into the towers go rows, in `Border.shards`: of inputs (`Cut`), of batches that they draw (`Drawn`), of placeholders
that they make (`HandedOut`). In `Border.bound` are names that mean something else inside: collections of inputs
(`CutEach`), an input that need not be there (`CutOptional`), a tuple (`Remake`), the batch size (`Resize`), a tower's
part of an earlier loop's result (`Keep`), and what a tower would pass on to the next (`Reset`, `Remove`).

How a value leaves them is in `Merge.how`: rows are concatenated (`Concat`, or `Fed` where a run feeds them), means and
sums are added up (`Mean`, `MaskedMean`, `Sum`), of updates the first tower's are run (`First`), what is only shown is
merged by its form (`Shown`), and what only the towers of a later loop read is handed on as it is (`Handed`).
"""

from __future__ import annotations

from dataclasses import fields
from typing import Literal

from converter.dataclass import dataclass

NUM_GPUS = "{num_gpus}"  # stands in texts of the loop for the number of towers, until the loop is written
Known = Literal["running", "building", "fixed"]
OWN = ("own_inputs", "OwnInputs", "own_batches")  # helpers that give each tower inputs of its own


@dataclass(frozen=True)
class Rows:
    """The names of a tower's number of rows and of its weight.

    known: when both are: tensors while the graph runs, numbers of Python where it is built. "fixed": no batch has
    another size, so that no tower is without rows.
    """

    number: str
    weight: str
    known: Known = "running"


# -- in --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class CutInput:
    """An input: what the towers read it by ("X", "self.images"), the name of the whole batch, and the batch axis."""

    place: str
    saved: str
    axis: int = 0


@dataclass(frozen=True)
class Cut:
    """Inputs that are cut together: they share the number of rows and the weight of each tower.

    helper: the runtime helper that cuts them, or gives each tower inputs of its own.
    lead: where the number of rows is read off an input inside a list or a dict: that, under a name for its shard.
    lists: of many inputs, the names of one list that holds the whole batches, and of one of a tower's parts, where a
        line is too short to unpack it.
    """

    rows: Rows
    inputs: tuple[CutInput, ...]
    helper: str = "shard"
    lead: CutInput | None = None
    lists: tuple[str, str] | None = None

    @property
    def all(self) -> tuple[CutInput, ...]:
        """The inputs, first the one that rows are counted on."""
        return (self.lead, *self.inputs) if self.lead else self.inputs


@dataclass(frozen=True)
class Drawn:
    """Rows of batches that the towers draw themselves, and `total`, the number of those that all towers draw."""

    rows: Rows
    total: str
    helper: str = "shard_drawn"


@dataclass(frozen=True)
class HandedOut:
    """Rows of placeholders that each tower makes, counted on the one in this place; `helper` hands them out."""

    rows: Rows
    place: str
    helper: str


Shard = Cut | Drawn | HandedOut


@dataclass(frozen=True)
class Handing:
    """The object that hands each tower its part of the placeholders that it makes.

    name: "" where the towers make none. helper: its class.
    axes: by the names of placeholders of which their shape does not tell it: the batch axis, None for one that is not
        cut.
    size: the expression for the number of rows of a whole batch, where shapes have a tower's number; "" for none.
    guarded: places that hold a part after the towers if the script has set them, each with the test for that.
    """

    name: str = ""
    helper: str = ""
    axes: tuple[tuple[str, int | None], ...] = ()
    size: str = ""
    guarded: tuple[tuple[str, str], ...] = ()

    @property
    def arguments(self) -> str:
        """What the object is told, with `NUM_GPUS` for the number of towers."""
        axes = f"{{{', '.join(f'{name!r}: {axis}' for name, axis in self.axes)}}}" if self.axes else ""
        return ", ".join(filter(None, (axes, self.size and f"size={self.size}")))

    def whole(self, text: str) -> str:
        """The expression for the whole batch of a part."""
        return f"{self.name}.whole({text})"


@dataclass(frozen=True)
class CutEach:
    """A list, tuple or dict of inputs that the towers read as a whole: `helper` cuts each tensor of it."""

    place: str
    saved: str
    axis: int
    helper: str


@dataclass(frozen=True)
class CutOptional:
    """A single input that is there or not; source: the expression that gives it or None."""

    place: str
    saved: str
    axis: int
    helper: str
    source: str


@dataclass(frozen=True)
class Remake:
    """A tuple of inputs: inside the towers it is made anew, of their shards, by the expression `text`."""

    place: str
    saved: str
    text: str


@dataclass(frozen=True)
class Resize:
    """A number that means the whole batch outside the towers and one shard inside.

    name: of the shard's, where the place is an item of a tuple and cannot be assigned to.
    rows_of: the shard whose rows are counted when the graph runs, as name, axis and type of the number, where it is
        fed; None where it is a number of Python.
    """

    place: str
    saved: str
    name: str = ""
    rows_of: tuple[str, int, str] | None = None


@dataclass(frozen=True)
class Keep:
    """A merged tensor: each tower goes on with the part that it made in an earlier loop.

    source: for one that is there or not, the expression that gives it or None; else "".
    """

    place: str
    saved: str
    source: str = ""


@dataclass(frozen=True)
class Reset:
    """A value that a tower changes and the next one would read: each tower begins with the value from before the loop.

    how: "value" re-binds the place, "list" and "dict" restore the contents. "iterator": what the place holds can be
        read once; each tower gets an iterator of its own over the same elements.
    early: the value is kept in front of the `with` blocks that are opened in front of the loop: one of them changes it.
    source: an expression that is None where the object is of a kind that has no such attribute.
    """

    place: str
    saved: str
    how: Literal["value", "list", "dict", "iterator"]
    early: bool = False
    source: str = ""


@dataclass(frozen=True)
class Remove:
    """An attribute that is not there before the loop: each tower makes its own."""

    place: str
    saved: str = ""


Bound = CutEach | CutOptional | Remake | Resize | Keep | Reset | Remove


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


@dataclass(frozen=True)
class Rebuild:
    """A tuple that holds merged values: it is rebuilt after the loop.

    text: the expression for it, with `{towers}` in place of what is merged from the list of that name.
    """

    place: str
    text: str


@dataclass(frozen=True)
class Border:
    """All that goes into a tower loop and comes out of it, in the order in which it was planned.

    restore: places that get back what they stood for before the loop, or that of all towers, with `NUM_GPUS`.
    """

    shards: tuple[Shard, ...] = ()
    bound: tuple[Bound, ...] = ()
    restore: tuple[tuple[str, str], ...] = ()
    merges: tuple[Merge, ...] = ()
    rebuilds: tuple[Rebuild, ...] = ()

    def __add__(self, more: Border) -> Border:
        return Border(*(getattr(self, field.name) + getattr(more, field.name) for field in fields(self)))

    @property
    def cuts(self) -> tuple[Cut, ...]:
        """Of the shards, the inputs that are cut."""
        return tuple(shard for shard in self.shards if isinstance(shard, Cut))

    @property
    def rebound(self) -> dict[str, str]:
        """Places that mean a tower's part of a number or of a merged tensor, with the names of the whole ones."""
        return {one.place: one.saved for one in self.bound if isinstance(one, Resize | Keep)}

    @property
    def helpers(self) -> tuple[str, ...]:
        """The runtime helpers that the lines of the loop call."""
        return tuple(helper for one in (*self.shards, *self.bound, *self.merges) for helper in helpers_of(one))


def helpers_of(one: Shard | Bound | Merge) -> tuple[str, ...]:
    """The runtime helpers that the loop's lines call for something that crosses the border."""
    match one:
        case Cut() | Drawn() | HandedOut() | CutOptional():
            return (one.helper,)
        case CutEach():
            return (one.helper, "map_structure")
        case Keep():
            return ("part_of_tower",)
        case Resize(rows_of=None):
            return ("shard_size",)
        case Merge():
            called = {
                "merge_fed": isinstance(one.how, Fed),
                "feed_towers": isinstance(one.how, Fed),
                "weigh_losses": isinstance(one.how, MaskedMean),
                "merge_shown": isinstance(one.how, Shown),
                "hand_on": isinstance(one.how, Handed),
                "concat_steps": isinstance(one.how, Concat) and one.how.steps,
                "map_structure": one.structure is not None and one.structure.each is None,
                "plain_name": one.name == AS_ON_ONE_GPU,
                "keep_parts": one.own,
                "keep_losses": one.losses,
            }
            return tuple(helper for helper, needed in called.items() if needed)
    return ()
