"""New names that never collide with the script's, in the script's own manner."""

from __future__ import annotations

import ast
import builtins
import keyword
from itertools import chain

from converter.analysis.nodes import Nodes


class Names:
    """Gives out names that are free in whole files; the first of them says how constants are written.

    A supply: what it has given out it does not give again. The pass that plans the files begins with a new one each
    time, so that no other pass sees what it took.
    """

    def __init__(self, *trees: Nodes) -> None:
        self.taken: set[str] = set(keyword.kwlist) | set(dir(builtins))
        constants = 0
        for nodes in trees:
            self.taken.update(node.id for node in nodes.of(ast.Name))
            self.taken.update(node.arg for node in nodes.of(ast.arg))
            self.taken.update(node.name for node in nodes.of(ast.FunctionDef))
            self.taken.update(node.name for node in nodes.of(ast.AsyncFunctionDef))
            self.taken.update(node.name for node in nodes.of(ast.ClassDef))
            self.taken.update(node.name or "_" for node in nodes.of(ast.ExceptHandler))
            self.taken.update(chain.from_iterable(node.names for node in nodes.of(ast.Global)))
            self.taken.update(chain.from_iterable(node.names for node in nodes.of(ast.Nonlocal)))
            self.taken.update((node.asname or node.name).split(".")[0] for node in nodes.of(ast.alias))
        for stmt in trees[0].tree.body:
            if isinstance(stmt, ast.Assign) and isinstance(stmt.value, ast.Constant):
                for target in stmt.targets:
                    if isinstance(target, ast.Name) and len(target.id) > 1:
                        constants += 1 if target.id.isupper() else -1
        self.upper = constants > 0
        self.script = frozenset(self.taken)

    def fresh(self, *candidates: str) -> str:
        """The first candidate that is free, else the first with an underscore and a number."""
        for name in candidates:
            if name not in self.taken:
                self.taken.add(name)
                return name
        number = 2
        while f"{candidates[0]}_{number}" in self.taken:
            number += 1
        return self.fresh(f"{candidates[0]}_{number}")

    def unused(self, *candidates: str) -> str:
        """The name that `fresh` would give; it stays free, so that the next place may be given it, too."""
        name = self.fresh(*candidates)
        self.taken.discard(name)
        return name

    def again(self, *candidates: str) -> str:
        """A name that several places may use one after the other, as long as the script does not."""
        return next((n for n in candidates if n not in self.script), None) or self.fresh(*candidates)

    def numbered(self, name: str, instead: str) -> str:
        """A name of which a script may need several; `instead` where the script has it already."""
        return self.fresh(name if name not in self.script else instead)

    def constant(self, name: str) -> str:
        """A module level constant, in capitals where the script writes its own so."""
        return self.fresh(name.upper()) if self.upper else self.fresh(name)
