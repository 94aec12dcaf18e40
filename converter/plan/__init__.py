"""The plan as plain data: which statements go where, what is added, and why. A plan can be printed, stored and read.

A statement is named by where it begins. A project has one plan for each file that changes.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from converter.dataclass import dataclass
from converter.options import Options
from converter.plan.border import Border, Handing


class At(NamedTuple):
    """A place in the source, both numbers as `ast` counts them but with columns in characters.

    line: from 1. column: from 0. path: of another file of the project, "" in the script itself.
    """

    line: int
    column: int
    path: str = ""


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
class Gradient:
    """Gradients that every tower computes inside the loop."""

    optimizer: str
    create: str  # the expression that makes the optimizer, "" where the script has made it before
    loss: str  # the towers' list of losses it belongs to
    grads: str


@dataclass(frozen=True)
class Collections:
    """Collections of the graph whose values are merged.

    held: the name of the object that has seen what each tower adds. keys: expressions for theirs. weights: the name of
    the list of the towers' weights. weight: a tower's.
    """

    held: str
    keys: tuple[str, ...]
    weights: str
    weight: str


@dataclass(frozen=True)
class Block:
    """A block of the towers that is opened once more around those of its statements that stay out of the loop.

    orelse: those of them that stand in the `else` of a condition.
    """

    at: At
    body: tuple[At, ...]
    orelse: tuple[At, ...] = ()

    @property
    def stmts(self) -> tuple[At, ...]:
        """All of these statements."""
        return (*self.body, *self.orelse)


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
    handing: how each tower is handed its part of the placeholders that it makes.
    """

    before: tuple[At, ...]
    tower: tuple[At, ...]
    after: tuple[At, ...]
    gpu: str
    border: Border
    gradient: Gradient | None
    contexts: tuple[tuple[str, str], ...]
    splits: tuple[Block, ...]  # with blocks of the towers, what of them stays in front
    behind: tuple[Block, ...]  # and what comes after the loop, also of blocks inside of these
    scopes: tuple[Scope, ...]
    again: tuple[Again, ...]  # what is computed once more from merged values
    keep_names: bool  # names of the towers' scopes are taken after the loop, where the script asks for them again
    collections: Collections | None = None
    reused: tuple[str, ...] = ()  # lines that set the scope around the loop to be reused, as the towers did theirs
    hidden: tuple[str, ...] = ()  # Python's builtins whose names mean something else where the loop stands
    dropped: tuple[str, ...] = ()  # attributes of the towers that nothing reads
    handing: Handing = Handing()
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
    averaged: optimizers that average the variables, which lie on the first GPU for that.
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
    averaged: tuple[At, ...] = ()
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
