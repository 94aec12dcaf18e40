"""New names that never collide with the script's, in the script's own manner."""

from __future__ import annotations

import ast
import builtins
import keyword
from collections.abc import Mapping
from dataclasses import replace
from itertools import chain, count

from converter.analysis.nodes import Nodes
from converter.dataclass import dataclass

RESERVED = frozenset(keyword.kwlist) | frozenset(dir(builtins))


Branches = frozenset[tuple[ast.AST | str, object]]


def branches_of(parents: Mapping[ast.AST, ast.AST], stmt: ast.stmt) -> Branches:
    """Which branch of each condition around a statement it stands in, and its innermost function."""
    found: set[tuple[ast.AST | str, object]] = set()
    node: ast.AST = stmt
    while node in parents:
        above = parents[node]
        if isinstance(above, ast.If):
            found.add((above, node in above.orelse))
        if isinstance(above, (ast.FunctionDef, ast.AsyncFunctionDef)):
            found.add(("function", above))
            break
        node = above
    return frozenset(found)


def _exclude_each_other(one: Branches, other: Branches) -> bool:
    """True if no run of a function executes statements of both: branches of one condition, or two functions."""
    known = dict(one)
    return any(key in known and known[key] != branch for key, branch in other)


@dataclass(frozen=True)
class TakenNames:
    """The names that are taken in a script's files; immutable.

    A method that takes a name returns it together with the names that are taken then.

    script: those of the script itself, and Python's. given: those that the plan has taken by now. upper: whether the
    script writes its constants in capitals. local: names that are used in one place only, each with its branches.
    """

    script: frozenset[str] = RESERVED
    given: frozenset[str] = frozenset()
    upper: bool = False
    local: tuple[tuple[str, Branches], ...] = ()

    def is_free(self, name: str) -> bool:
        """Whether neither the script nor the plan has a name."""
        return name not in self.script and name not in self.given

    def unused(self, *candidates: str) -> str:
        """The first candidate that is free, else the first with an underscore and a number."""
        numbered = (f"{candidates[0]}_{number}" for number in count(2))
        return next(name for name in chain(candidates, numbered) if self.is_free(name))

    def fresh(self, *candidates: str) -> tuple[str, TakenNames]:
        """The name that `unused` gives, and the names with it taken."""
        name = self.unused(*candidates)
        return name, replace(self, given=self.given | {name})

    def again(self, *candidates: str) -> tuple[str, TakenNames]:
        """A name that several places may use one after the other, as long as the script does not."""
        alone = next((name for name in candidates if name not in self.script), None)
        return self.fresh(*candidates) if alone is None else (alone, self)

    def numbered(self, name: str, instead: str, branches: Branches) -> tuple[str, TakenNames]:
        """A free name for which a script may need several, with numbers behind it; `instead` if it is taken already.

        branches: of the place that uses it. Another place may use the same name where no run executes both.
        """
        plain = name if name not in self.script else instead
        numbered = (f"{plain}_{number}" for number in count(2))
        made = next(candidate for candidate in chain((plain,), numbered) if self._serves(candidate, branches))
        return made, replace(self, given=self.given | {made}, local=(*self.local, (made, branches)))

    def _serves(self, name: str, branches: Branches) -> bool:
        """True if a name is free, or only used where no run executes this place too."""
        users = [around for known, around in self.local if known == name]
        return self.is_free(name) or (bool(users) and all(_exclude_each_other(around, branches) for around in users))

    def constant(self, *candidates: str) -> tuple[str, TakenNames]:
        """A module level constant, in capitals where the script writes its own so; see `unused`."""
        return self.fresh(*(name.upper() if self.upper else name for name in candidates))


def names_in(*trees: Nodes) -> TakenNames:
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
    return TakenNames(frozenset(taken), upper=constants > 0)
