"""Attributes that the towers set and that nothing in the project reads: no concat is made for them."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from converter.analysis.facts import Facts
from converter.analysis.frames import Access
from converter.analysis.values import Class, Function, Instance, Module, Partial, Symbol, Tensor, Typed, Value
from converter.planner.region.region import Region
from converter.planner.towers.merges.tensor_names import op_name
from converter.planner.writing.spelling import spelling

# Calls that read attributes by names that are not written out, or all of them.
ANY_NAME = ("vars", "dir", "eval", "exec", "locals", "attrgetter")
OWN_ACCESS = ("__getattr__", "__getattribute__", "__setattr__", "__delattr__", "__slots__", "__getstate__")
LOOKS = ("isinstance", "id", "super", "hasattr", "getattr", "type")  # builtins that keep no object
NESTED = (ast.If, ast.For, ast.While, ast.Try)


class Readers:
    """Tells whether code may read an attribute of an object after the towers, as far as the project's files show."""

    def __init__(self, facts: Facts, region: Region) -> None:
        self.facts = facts
        self.region = region
        self._parents = facts.parents
        self._values = facts.read_or_written
        inside: set[ast.AST] = set()
        outside: set[ast.AST] = set()
        for site, accesses in facts.accesses_by_site:
            (inside if region.in_any_tower(site) else outside).update(access.node for _, access in accesses)
        self._towers_only = inside - outside
        self.any_name = any(map(self._calls_any_name, facts.nodes(ast.Call)))
        self.any_name |= any(n.attr == "__dict__" and not self._is_flags(n.value) for n in facts.nodes(ast.Attribute))
        loads = (n for n in facts.nodes(ast.Attribute) if isinstance(n.ctx, ast.Load))
        self.names = {n.attr for n in loads if n not in self._towers_only}
        self.names |= {n.value for n in facts.nodes(ast.Constant) if isinstance(n.value, str)}

    def may_read(self, holder: Value | None, name: str) -> bool:
        """Whether code outside the towers may read an attribute of an object by this name."""
        if self.any_name or name in self.names or not isinstance(holder, Instance) or holder.cls is None:
            return True
        return _has_own_access(holder.cls) or self._is_handed_on(holder)

    def _calls_any_name(self, node: ast.Call) -> bool:
        called = getattr(node.func, "attr", getattr(node.func, "id", ""))
        if called in ("getattr", "hasattr"):
            return len(node.args) < 2 or not isinstance(node.args[1], ast.Constant)
        return called in ANY_NAME and not any(map(self._is_flags, node.args))

    def _is_flags(self, node: ast.AST) -> bool:
        value = self._values.get(node)
        return isinstance(value, Typed) and value.kind in ("Namespace", "Flags")

    def _is_handed_on(self, holder: Instance) -> bool:
        """Whether code that is not followed may get the object."""
        reads = {a.node for a in self.facts.accesses_of(holder) if not a.write}
        return any(not self._is_followed(node) for node in reads)

    def _is_followed(self, node: ast.AST) -> bool:
        """Whether an expression goes where the walk follows its value: to an attribute, a name, a function."""
        parent = self._parents.get(node)
        if isinstance(parent, (ast.Tuple, ast.keyword, ast.Starred)):
            node, parent = parent, self._parents.get(parent)
        if isinstance(parent, ast.Call) and node is not parent.func:
            called = self._values.get(parent.func)
            known = isinstance(called, (Function, Class, Partial))
            return known or (called.name if isinstance(called, Symbol) else getattr(parent.func, "id", "")) in LOOKS
        kinds = (ast.Attribute, ast.Assign, ast.AnnAssign, ast.Return, ast.Expr, ast.Call, ast.Compare, ast.BoolOp)
        return isinstance(parent, kinds)


def _has_own_access(cls: Class) -> bool:
    """Whether a class handles its attributes itself, or inherits from one that is not followed."""
    known = all(
        isinstance(base, Class) or (isinstance(base, Symbol) and base.name == "object")
        for one in cls.lineage()
        for base in one.bases
    )
    return not known or any(cls.find(name) is not None for name in OWN_ACCESS)


def is_always_set(region: Region, access: Access) -> bool:
    """Whether each run of the towers' statements sets an attribute, whatever conditions and loops there are."""
    for site in access.site.chain():
        function = site.frame.node
        if isinstance(site.stmt, NESTED) or (site.stmt not in region.block.index and _may_end_early(function)):
            return False
        if site.stmt in region.block.index and site.frame is region.block.frame:
            return True
    return False


def _may_end_early(function: ast.AST) -> bool:
    """Whether a function returns, or raises, anywhere but in its last statement."""
    body = getattr(function, "body", [])
    ends = (ast.Return, ast.Raise, ast.Yield)
    return any(isinstance(n, ends) for s in body for n in ast.walk(s) if n is not (body[-1] if body else None))


def unread(facts: Facts, region: Region) -> dict[str, Access]:
    """Attributes with tensors of the batch that nothing reads after the towers, each by its text."""
    found: dict[str, Access] = {}
    readers: Readers | None = None
    for access in region.writes:
        place, value = access.place, access.value
        if place.kind != "attr" or not isinstance(value, Tensor) or value.batch.kind == "free":
            continue
        if isinstance(place.holder, (Class, Module)) or region.in_tower(getattr(place.holder, "site", None)):
            continue
        text = spelling(region.block.frame, place)
        named = op_name(region, value)  # it may be asked for in the graph
        if text and text not in found and not named and is_always_set(region, access):
            readers = readers or Readers(facts, region)
            if not readers.may_read(place.holder, place.key):
                found[text] = access
    return found


def deleted(facts: Facts, region: Region, texts: Iterable[str]) -> tuple[str, ...]:
    """Those of the attributes that there are after each call of the function that builds the model."""
    calls = region.other_calls.values()
    return tuple(text for text in texts if all(text.rpartition(".")[2] in bound for bound in calls))
