"""Where values are kept, and when they are read and written."""

from __future__ import annotations

import ast
from typing import Literal, NamedTuple

from converter.analysis.values import Frame, Site, Value

PlaceKind = Literal["name", "attr", "item", "contents"]


class Place(NamedTuple):
    """Where a value is kept: a name of a frame, an attribute of an object, an item of a container, or all items.

    A tuple, as the walk makes one for each read and write: that takes a fifth of the time of a frozen dataclass.
    """

    kind: PlaceKind
    owner: int  # uid of the frame, object or container
    key: str
    frame: Frame | None = None  # this and the holder are told by the owner
    holder: Value | None = None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Place) and self[:3] == other[:3]

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(self[:3])


class Access(NamedTuple):
    """A read or write of a place during the walk; a tuple for the same reason."""

    time: int
    place: Place
    value: Value
    site: Site
    node: ast.AST
    write: bool
