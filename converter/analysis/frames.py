"""Where values are kept, and when they are read and written."""

from __future__ import annotations

import ast
from dataclasses import field
from typing import Literal

from converter.analysis.values import Frame, Site, Value
from converter.dataclass import dataclass

PlaceKind = Literal["name", "attr", "item", "contents"]


@dataclass(frozen=True)
class Place:
    """Where a value is kept: a name of a frame, an attribute of an object, an item of a container, or all items."""

    kind: PlaceKind
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
