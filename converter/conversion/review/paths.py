"""How statements are reached: through which calls, so that each execution has its counterpart in the original."""

from __future__ import annotations

import ast

from converter.analysis.values import Site
from converter.conversion.review.converted_walk import ConvertedWalk

Path = int  # the number of a statement as it is reached: through the calls around it
ANYWHERE: Path = 0


class Paths:
    """Numbers the statements of the original as they are reached, in its walk and in the one of the converted text."""

    def __init__(self, second: ConvertedWalk) -> None:
        self.second = second
        self.changed = frozenset(second.changed)
        self._paths: dict[Site, Path] = {}
        self._numbers: dict[tuple[Path, int], Path] = {}  # by the path of the caller and the identity of the statement
        self._ends = [0]  # for each path the identity of its statement

    def first(self, site: Site | None) -> Path:
        """The path of a statement that the original executes."""
        return self._path(site, False)

    def again(self, site: Site | None) -> Path:
        """The path of a statement that the converted text executes; that of its caller for one of the tool's own."""
        return self._path(site, True)

    def end(self, path: Path) -> int:
        """The identity of the original's statement at the end of a path."""
        return self._ends[path]

    def stmt(self, site: Site) -> ast.AST | None:
        """The original's statement at a site of the converted text; None for one of the tool's own."""
        own = self.second.facts.path_of(site.stmt) in self.changed
        return self.second.alignment.statements.get(site.stmt, None if own else site.stmt)

    def node(self, node: ast.AST) -> ast.AST | None:
        """The original's expression; None for one that it does not have, as what `a += b` reads of a."""
        if self.second.facts.path_of(node) in self.changed:
            return self.second.alignment.nodes.get(node)
        return node if node in self.second.facts.parents else None

    def _path(self, site: Site | None, second: bool) -> Path:
        if site is None:
            return ANYWHERE
        known = self._paths.get(site)
        if known is None:
            stmt = self.stmt(site) if second else site.stmt
            caller = site.parent
            while caller is not None and caller.frame is site.frame:
                caller = caller.parent
            around = self._path(caller, second)
            known = self._paths[site] = around if stmt is None else self._number(around, id(stmt))
        return known

    def _number(self, around: Path, stmt: int) -> Path:
        if (around, stmt) not in self._numbers:
            self._numbers[around, stmt] = len(self._ends)
            self._ends.append(stmt)
        return self._numbers[around, stmt]


__all__ = ["ANYWHERE", "Path", "Paths"]
