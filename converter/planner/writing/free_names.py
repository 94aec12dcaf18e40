"""New names that never collide with the script's, in the script's own manner."""

from __future__ import annotations

import ast
import builtins
import keyword
from dataclasses import replace
from itertools import chain, count

from converter.analysis.nodes import Nodes
from converter.dataclass import dataclass

RESERVED = frozenset(keyword.kwlist) | frozenset(dir(builtins))


@dataclass(frozen=True)
class Names:
    """The names that are taken in a script's files.

    A method that takes a name returns it together with the names that are taken then.

    script: those of the script itself, and Python's. given: those that the plan has taken by now. upper: whether the
    script writes its constants in capitals.
    """

    script: frozenset[str] = RESERVED
    given: frozenset[str] = frozenset()
    upper: bool = False

    def is_free(self, name: str) -> bool:
        """Whether neither the script nor the plan has a name."""
        return name not in self.script and name not in self.given

    def unused(self, *candidates: str) -> str:
        """The first candidate that is free, else the first with an underscore and a number."""
        numbered = (f"{candidates[0]}_{number}" for number in count(2))
        return next(name for name in chain(candidates, numbered) if self.is_free(name))

    def fresh(self, *candidates: str) -> tuple[str, Names]:
        """The name that `unused` gives, and the names with it taken."""
        name = self.unused(*candidates)
        return name, replace(self, given=self.given | {name})

    def again(self, *candidates: str) -> tuple[str, Names]:
        """A name that several places may use one after the other, as long as the script does not."""
        alone = next((name for name in candidates if name not in self.script), None)
        return self.fresh(*candidates) if alone is None else (alone, self)

    def numbered(self, name: str, instead: str) -> tuple[str, Names]:
        """A name of which a script may need several; `instead` where the script has it already."""
        return self.fresh(name if name not in self.script else instead)

    def constant(self, name: str) -> tuple[str, Names]:
        """A module level constant, in capitals where the script writes its own so."""
        return self.fresh(name.upper() if self.upper else name)


def names_in(*trees: Nodes) -> Names:
    """The names in whole files; the first of them says how constants are written."""
    taken = set(RESERVED)
    for nodes in trees:
        taken.update(node.id for node in nodes.of(ast.Name))
        taken.update(node.arg for node in nodes.of(ast.arg))
        taken.update(node.name for node in nodes.of(ast.FunctionDef))
        taken.update(node.name for node in nodes.of(ast.AsyncFunctionDef))
        taken.update(node.name for node in nodes.of(ast.ClassDef))
        taken.update(node.name or "_" for node in nodes.of(ast.ExceptHandler))
        taken.update(chain.from_iterable(node.names for node in nodes.of(ast.Global)))
        taken.update(chain.from_iterable(node.names for node in nodes.of(ast.Nonlocal)))
        taken.update((node.asname or node.name).split(".")[0] for node in nodes.of(ast.alias))
    constants = 0
    for stmt in trees[0].tree.body:
        if isinstance(stmt, ast.Assign) and isinstance(stmt.value, ast.Constant):
            for target in stmt.targets:
                if isinstance(target, ast.Name) and len(target.id) > 1:
                    constants += 1 if target.id.isupper() else -1
    return Names(frozenset(taken), upper=constants > 0)
