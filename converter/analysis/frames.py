"""Where the walk is: frames of execution, and the statement being executed in each."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count

from converter.analysis.values import Value

_uids = count(1)


class Frame:
    """One execution of a function body, or of the module's."""

    __slots__ = (
        "began", "bound", "call_site", "closure", "function", "globals", "locals", "node", "owner", "returns", "uid",
    )  # fmt: skip

    def __init__(
        self,
        node: ast.AST,
        closure: Frame | None,
        call_site: Site | None,
        function: Value | None = None,
        began: int = 0,
    ) -> None:
        self.uid = next(_uids)
        self.node = node
        self.closure = closure
        self.call_site = call_site
        self.function = function
        self.owner: Value | None = None
        self.locals: dict[str, Value] = {}
        self.began = began  # the walk's clock when this execution began
        self.bound: dict[str, int] = {}  # and when a name was bound to what it stands for
        self.globals: set[str] = set()  # names declared global or nonlocal
        self.returns: list[Value] = []

    @property
    def module(self) -> Frame:
        """The frame of the module that this one was defined in."""
        frame = self
        while frame.closure is not None:
            frame = frame.closure
        return frame

    def lookup(self, name: str) -> tuple[Frame, Value] | None:
        """The frame in which a name is bound, and its value, by Python's rules of scope."""
        frame: Frame | None = self
        while frame is not None:
            if name in frame.locals and not (frame is not self and isinstance(frame.node, ast.ClassDef)):
                return frame, frame.locals[name]
            frame = frame.closure
        return None


@dataclass(frozen=True, eq=False)
class Site:
    """A statement being executed: in which frame, inside which compound statement, called from where."""

    frame: Frame
    stmt: ast.stmt
    parent: Site | None = field(default=None)  # enclosing statement in this frame, or the caller's statement
    scopes: tuple[str, ...] = ()  # name and variable scopes around it, "?" for one that is not a constant

    def chain(self) -> Iterator[Site]:
        """This site and those around it, innermost first, through callers up to the module."""
        site: Site | None = self
        while site is not None:
            yield site
            site = site.parent


@dataclass(frozen=True)
class Place:
    """Where a value is kept: a name of a frame, an attribute of an object, an item of a container."""

    kind: str  # "name" | "attr" | "item"
    owner: int  # uid of the frame, object or container
    key: str
    frame: Frame | None = field(default=None, compare=False)
    holder: Value | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Access:
    """A read or write of a place during the walk."""

    time: int
    place: Place
    value: Value
    site: Site
    node: ast.AST
    write: bool
