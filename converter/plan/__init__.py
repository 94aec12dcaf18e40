"""The plan as plain data: which statements go where, what is added, and why. A plan can be printed, stored and read.

A statement is named by where it begins. A project has one plan for each file that changes.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from converter.dataclass import dataclass
from converter.options import Options


class At(NamedTuple):
    """A place in the source, both numbers as `ast` counts them but with columns in characters.

    line: from 1. column: from 0. path: of another file of the project, "" in the script itself.
    """

    line: int
    column: int
    path: str = ""


NUM_GPUS = "{num_gpus}"  # stands in texts of the loop for the number of towers, until the loop is written
OWN = ("own_inputs", "OwnInputs", "own_batches")  # helpers that give each tower inputs of its own
HowMerged = Literal["concat", "mean", "sum", "first", "shown", "handed"]


@dataclass(frozen=True)
class Replace:
    """Replaces an expression of the script by another; `why` names the rule."""

    at: At
    end: At
    text: str
    why: str


@dataclass(frozen=True)
class Insert:
    """Adds lines beside a statement of the script, at its indentation."""

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
    lead: where the number of rows is read off an input inside a list or a dict, a name for its shard,
        its expression and its axis. data: of arrays, lists and constants, whose length is known when the
        graph is built; there may be fewer rows than towers.
    drawn: for batches that the towers draw themselves, the number of their rows, and whether it is that of the
        whole batch; else of each tower's.
    sparse: whether some of the inputs are sparse tensors. helper: the runtime helper that cuts them, or that counts
        the rows that a tower draws.
    together: of many inputs, the name of one list that holds the whole batches; "" where each has a name of its own.
    parts: then the name of the list of a tower's parts, where one line is too short to unpack it.
    handed: for placeholders that each tower makes, the expression of the one whose rows are counted.
    """

    rows: str
    weight: str
    places: tuple[str, ...] = ()
    saved: tuple[str, ...] = ()
    axes: tuple[int, ...] = ()
    static: bool = False
    lead: tuple[str, str, int] | None = None
    data: bool = False
    drawn: tuple[str, bool] | None = None
    sparse: bool = False
    helper: str = "shard"
    together: str = ""
    parts: str = ""
    handed: str = ""

    @property
    def own(self) -> bool:
        """Whether nothing is cut: each tower has placeholders of its own."""
        return self.helper in OWN


@dataclass(frozen=True)
class Nest:
    """A list, tuple or dict of inputs that the towers read as a whole: each tensor of it is cut.

    optional: for a single input that is there or not, the expression that gives it or None; "" for all others.
    helper: the runtime helper that cuts each tensor.
    """

    place: str
    saved: str
    axis: int
    optional: str = ""
    helper: str = "shard"


@dataclass(frozen=True)
class Regroup:
    """A tuple of inputs: inside the towers it is made anew, of their shards.

    saved: the new name under which the tuple of whole batches stays at hand. text: the expression for the tower's.
    """

    place: str
    saved: str
    text: str


@dataclass(frozen=True)
class Rebind:
    """A number that means the whole batch outside the towers and one shard inside.

    name: of the shard's, where the place is an item of a tuple and cannot be assigned to.
    rows_of: the shard whose rows are counted when the graph runs, as name, axis and type of the number, where it is
        fed; None where it is a number of Python.
    carried: no number, but a merged tensor: each tower goes on with the part that it made in an earlier loop.
    optional: as of a Nest, for a tensor that is there or not.
    """

    place: str
    saved: str
    name: str = ""
    rows_of: tuple[str, int, str] | None = None
    carried: bool = False
    optional: str = ""


@dataclass(frozen=True)
class Reset:
    """A value that a tower changes and the next one would read: each tower begins with the value from before the loop.

    how: "value" re-binds the place, "list" and "dict" restore the contents, "absent" removes the attribute. "iterator":
        what the place holds can be read once; each tower gets an iterator of its own over the same elements.
    early: the value is kept in front of the `with` blocks that are opened in front of the loop: one of them changes it.
    """

    place: str
    saved: str
    how: Literal["value", "list", "dict", "absent", "iterator"]
    early: bool = False


@dataclass(frozen=True)
class Merge:
    """A value that leaves the loop: each tower's part is kept in a list, and the parts are merged after the loop.

    how: "concat" along `axis`, "mean" weighted by the shards' sizes, "sum"; "first" for updates of variables, of which
        only the first tower's are run; "shown" by its form when the graph is built, for a value that is only shown;
        "handed": not merged at all, as only the towers of a later loop read it, each its own.
    towers: the list's name. loss: whether gradients are taken from it.
    packed: several rows for each example. static: no empty shards, nothing to trim.
    op_name: the graph name that the original gave to the tensor.
    nested: a list, tuple or dict, of which each tensor is merged.
    renamed: the merged tensor takes the name that TensorFlow gives to it on one GPU.
    steps: the towers' parts may differ in the number of their steps: shorter ones are padded.
    guard: whether the script has made it at all, as an expression; "" where it always does. unset: the place is bound
        to nothing where it has not, so that each tower has to begin with None there.
    each: for a flat list, names for one of its tensors, and for the towers' parts of it. in_place: the list or dict
        was there before the loop, and other names may stand for it: what it holds is replaced; `keyed` for a dict.
    fed: a run feeds it, so that each tower's own tensor must be at hand.
    written: of a loss without a name in the script, the expression for it; the place is a new name.
    late: it is put in its place behind the statements that are repeated, one of which writes there.
    own: for a value that the towers of a later loop go on with, the name of the list of what each tower made; else "".
    losses: for a loss with rows that is minimised where the towers' names are not seen, the name of the list of the
        towers' losses, which the merged one carries there; else "".
    count: for a mean over what a mask leaves, the expression for the tower's denominator; `per_row`
        if that is a mean over the tower's rows, `counts` the list that keeps it.
    """

    place: str
    towers: str
    how: HowMerged
    axis: int
    shard: int
    loss: bool
    packed: bool
    op_name: str
    cast: bool
    merged: bool = True
    count: str = ""
    per_row: bool = False
    counts: str = ""
    nested: bool = False
    renamed: bool = False
    steps: bool = False
    guard: str = ""
    unset: bool = False
    each: tuple[str, str] | None = None
    in_place: bool = False
    keyed: bool = False
    fed: bool = False
    written: str = ""
    late: bool = False
    own: str = ""
    losses: str = ""


@dataclass(frozen=True)
class Scope:
    """A with block of the towers that is opened in front of the loop and again behind it: it must not get a new name.

    keep: the items of the with in front, under names, "" if it is not opened there; first: a line that it begins with,
    "" for none. enter: the items of the with behind; within: those of the towers, "" for the script's own. `{alone}` in
    them stands for the test whether there are no towers.
    """

    at: At
    keep: str
    first: str
    enter: str
    within: str = ""


@dataclass(frozen=True)
class Rebuild:
    """A tuple that holds merged values: it is rebuilt after the loop.

    text: the expression for it, with `{towers}` in place of what is merged from the list of that name.
    """

    place: str
    text: str
    towers: tuple[str, ...]


@dataclass(frozen=True)
class Gradient:
    """Gradients that every tower computes inside the loop."""

    optimizer: str
    create: str  # the expression that makes the optimizer, "" where the script has made it before
    loss: str  # the towers' list of losses it belongs to
    grads: str


@dataclass(frozen=True)
class Handing:
    """The object that hands each tower its part of the placeholders that it makes.

    name: "" where the towers make none. arguments: what the object is told, with `NUM_GPUS` for the number of towers.
    given_back: places that get the whole placeholder if the script has set them, each with the test for that.
    """

    name: str = ""
    arguments: str = ""
    given_back: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Again:
    """Statements of the towers that are repeated after the loop, on merged values.

    around: the with blocks that are opened once more for them, outermost first.
    """

    ats: tuple[At, ...]
    around: tuple[At, ...]


@dataclass(frozen=True)
class Loop:
    """The tower loop, and the statements of the script around and inside it.

    before and after: statements that stood between those of the towers and are moved out.
    contexts: helpers that are entered beside tf.device and the scopes, each with the name of the object
        that it needs before the loop, "" for a function.
    restore: places that get back what they stood for before the loop, or that of all towers, with `NUM_GPUS`.
    handing: how each tower is handed its part of the placeholders that it makes.
    collections: keys of graph collections whose values are merged, the list of the towers' weights that this
        takes, and a tower's weight.
    """

    before: tuple[At, ...]
    tower: tuple[At, ...]
    after: tuple[At, ...]
    gpu: str
    shards: tuple[Shard, ...]
    nests: tuple[Nest, ...]
    regroups: tuple[Regroup, ...]
    rebinds: tuple[Rebind, ...]
    resets: tuple[Reset, ...]
    merges: tuple[Merge, ...]
    rebuilds: tuple[Rebuild, ...]
    gradient: Gradient | None
    contexts: tuple[tuple[str, str], ...]
    restore: tuple[tuple[str, str], ...]
    splits: tuple[tuple[At, tuple[At, ...]], ...]  # with blocks of the towers, what of them stays in front
    behind: tuple[tuple[At, tuple[At, ...]], ...]  # and what comes after the loop, also of blocks inside of these
    scopes: tuple[Scope, ...]
    again: tuple[Again, ...]  # what is computed once more from merged values
    keep_names: bool  # names of the towers' scopes are taken after the loop, where the script asks for them again
    register: bool  # merged losses carry the towers', for where they are minimised: in another function or file
    collections: tuple[tuple[str, ...], str, str] = ((), "", "")
    kept: tuple[str, ...] = ()  # lists that keep what the first tower computed of the variables made by then
    reused: tuple[str, ...] = ()  # lines that set the scope around the loop to be reused, as the towers did theirs
    hidden: tuple[str, ...] = ()  # Python's builtins whose names mean something else where the loop stands
    dropped: tuple[str, ...] = ()  # attributes of the towers that nothing reads
    handing: Handing = Handing()
    otherwise: tuple[At, ...] = ()  # statements in `behind` that stand in the `else` of a condition
    early: tuple[At, ...] = ()  # of `after`: where there are no towers, they end the function in front of the last ones


@dataclass(frozen=True)
class Plan:
    """Everything that the rewrite does to one file.

    prepared: statements in front of the towers that make batches ready for them, once for all.
    forward: whether the end of a loss is computed after the towers, on their merged outputs.
    statistics: where statistics of each tower's own examples go into a loss, as those of a batch norm.
    path: of another file of the project, "" for the script itself.
    helper_module: the module that carries the helpers where the script does not, with the dots of a relative
        import; the name that it is imported under where it is a package. "" where the script carries them itself.
    helper_folder: the folder of that module, as a path from the script's; "" if it lies beside the script.
    helper_path: the same from the folder of a file that may be run itself, and would not look there; else "".
    num_gpus: the expression for the number of towers; define: the statement that defines it among
        the helpers, "" where a flag does. flag_above: a statement of the script above which that flag has to be known.
    options: as they came out; what the script allows may differ from what was asked for.
    helpers: the runtime helpers to carry, each with its name in the script.
    pinned: runs of statements outside the loop that make variables, as (first, last).
    builtins: the name under which Python's builtins are imported, "" where nothing needs that. hidden: those
        of them that the helpers reach by it, as the file binds their names to something else.
    one_gpu: the condition under which towers are built, where other scripts import the file and go on building
        the model for one GPU; "" where towers are always built.
    modules: modules that the helpers import, each with another name than its own, which the file has bound.
    kept_whole: where large variables are cut, the last parts of the names of those that are not; else None.
    cut_by_rows: the same of tables that are cut along their rows.
    dense: whether the helpers need not know sparse gradients.
    beside: layers outside of the towers that evaluations feed with batches of all towers.
    evaluated: runs of evaluations that keep the script's batch size.
    untrained: where branches begin in which nothing trains, and one tower is built.
    single: where branches begin that set the batch size to 1, and one tower is built.
    counted: where the script counts its training steps by a batch size that grows.
    ended: loops that train until the data ends, after fewer steps as these take more examples.
    schedules: numbers of steps in schedules of the learning rate that stay, while a step takes more examples.
    sizes: where the script reads a multiple of a batch size that grows with the number of towers.
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
    path: str = ""
    helper_module: str = ""
    helper_folder: str = ""
    helper_path: str = ""
    prepared: tuple[At, ...] = ()
    forward: bool = False
    statistics: tuple[At, ...] = ()
    builtins: str = ""
    hidden: tuple[str, ...] = ()
    modules: tuple[tuple[str, str], ...] = ()
    one_gpu: str = ""
    kept_whole: tuple[str, ...] | None = None
    cut_by_rows: tuple[str, ...] = ()
    dense: bool = False
    beside: tuple[At, ...] = ()
    evaluated: tuple[At, ...] = ()
    untrained: tuple[At, ...] = ()
    single: tuple[At, ...] = ()
    counted: tuple[At, ...] = ()
    ended: tuple[At, ...] = ()
    schedules: tuple[At, ...] = ()
    sizes: tuple[At, ...] = ()
    flag_above: At | None = None

    @property
    def shares(self) -> bool:
        """Whether these are of each tower's share of the batch, where the script's are of all of it."""
        return self.options.batch == "total" and bool(self.statistics)

    def places(self) -> list[At]:
        """Where the plan changes something, in the order of the file."""
        edits = [*(r.at for r in self.replaces), *(i.at for i in self.inserts)]
        return sorted([*edits, *(loop.tower[0] for loop in self.loops), *(first for first, _ in self.pinned)])
