"""What the walk found out: plain records for the planner."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from converter.analysis.frames import Access, Frame, Site
from converter.analysis.values import Host, Input, Number, Origin, Tensor, Typed, Value, Variable


@dataclass(frozen=True)
class TrainStep:
    """Where gradients are taken: a `minimize`, `compute_gradients` or `tf.gradients` call."""

    kind: str  # "minimize" | "compute_gradients" | "gradients" | other functions' names
    loss: Tensor
    optimizer: Value | None
    call: ast.Call
    site: Site
    time: int
    loss_node: ast.expr | None
    variables: Value | None
    result: Tensor


@dataclass(frozen=True)
class RunCall:
    """A `session.run`, or what amounts to one."""

    call: ast.Call
    site: Site
    fetches: tuple[Value, ...]
    feeds: tuple[tuple[Value, Value], ...]
    time: int


@dataclass(frozen=True)
class SessionSite:
    """A call that makes a session, and the config it is given."""

    call: ast.Call
    site: Site
    name: str
    config: Value | None
    config_node: ast.expr | None


@dataclass(frozen=True)
class Effect:
    """Something done to the graph beside returning a value."""

    kind: str  # "collection" | "update" | "inline update" | "reuse" | "variable" | "device" | "placeholder" | …
    name: str
    value: Value | None
    node: ast.AST
    site: Site
    time: int


@dataclass(frozen=True)
class FlagDefinition:
    """`parser.add_argument('--batch_size', …)`, `tf.app.flags.DEFINE_integer('batch_size', …)`."""

    name: str
    call: ast.Call
    site: Site
    style: str  # "argparse" | "flags"
    parser: Value | None = None


@dataclass
class Facts:
    """The whole of what the planner may know of a script."""

    path: str
    tree: ast.Module
    module: Frame
    imports: dict[str, str] = field(default_factory=dict)  # name -> TensorFlow's dotted name ("" is the top)
    accesses: list[Access] = field(default_factory=list)
    tensors: list[Tensor] = field(default_factory=list)
    variables: list[Variable] = field(default_factory=list)
    inputs: list[Input] = field(default_factory=list)
    train_steps: list[TrainStep] = field(default_factory=list)
    runs: list[RunCall] = field(default_factory=list)
    sessions: list[SessionSite] = field(default_factory=list)
    effects: list[Effect] = field(default_factory=list)
    flags: list[FlagDefinition] = field(default_factory=list)
    namespaces: list[tuple[Typed, Site]] = field(default_factory=list)  # parsed argparse results
    batch_sizes: list[tuple[Number | Host, str, ast.AST]] = field(default_factory=list)  # value, why, where
    origin_names: dict[tuple[object, ...], set[str]] = field(default_factory=dict)
    foreign: dict[ast.AST, str] = field(default_factory=dict)  # nodes of other files of the project -> path

    def names_of(self, origin: Origin) -> set[str]:
        """The names in the script under which a number is known."""
        return self.origin_names.get(origin.key, set())
