"""Lists of variables, of gradients, and of pairs of both: whether a script may use them where variables are cut.

What adds up over the numbers of all variables, or treats each number alike, does. A norm of each gradient, a summary
of each variable, a place in the list do not.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from enum import Enum

from converter.analysis.facts import Facts
from converter.analysis.traits import Trait, has
from converter.planner.plan_faults import PlanFault
from converter.planner.wording import refuse


class Held(Enum):
    """The kind of list or value that a name or an expression holds; messages use the member's value."""

    VARIABLES = "variables"
    GRADIENTS = "gradients of variables"
    PAIRS = "gradients with their variables"
    NUMBERS = "numbers, one for each variable"
    ONE = "a variable"
    GRADIENT = "the gradient of a variable"


SAME = {"list", "tuple", "set", "sorted"}  # calls that give a list of the same


TAKEN = {  # what takes such a list as it is
    Held.VARIABLES: Trait.TAKES_VARIABLES,
    Held.GRADIENTS: Trait.TAKES_GRADIENTS,
    Held.PAIRS: Trait.TAKES_PAIRS,
    Held.NUMBERS: Trait.TAKES_NUMBERS,
}
LISTS = {Held.ONE: Held.VARIABLES, Held.GRADIENT: Held.GRADIENTS, Held.PAIRS: Held.PAIRS}  # of such elements
EXTENDED = (Held.VARIABLES, Held.GRADIENTS, Held.PAIRS)  # lists that `extend` may add to others


def _takes(name: str, kind: Held) -> bool:
    """Whether a call takes a list of a kind as it is."""
    return (name == "extend" and kind in EXTENDED) or (kind in TAKEN and has(name, TAKEN[kind]))


def _is_alike(call: ast.Call) -> bool:
    """Whether a call gives slices for slices."""
    return has(last_name(call), Trait.ELEMENT_BY_ELEMENT)


def last_name(node: ast.AST | None) -> str:
    """The last part of the name of a function, or of the function that a call names."""
    node = node.func if isinstance(node, ast.Call) else node
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def check_lists(facts: Facts) -> None:
    """Refuse uses of lists that would mean something else for slices."""
    for tree in facts.trees():
        for node, kind in _sources(facts, tree):
            _Follow(facts, tree).expression(node, kind)


def _sources(facts: Facts, tree: ast.Module) -> Iterator[tuple[ast.expr, Held]]:
    """Where lists of variables, gradients and pairs begin."""
    for call in facts.nodes(ast.Call, tree):
        name = last_name(call)
        if has(name, Trait.GIVES_VARIABLES) or (has(name, Trait.GETS_COLLECTION) and call.args and _key(call.args[0])):
            yield call, Held.VARIABLES
        elif has(name, Trait.GIVES_PAIRS):
            yield call, Held.PAIRS
        elif has(name, Trait.GIVES_GRADIENTS) and isinstance(call.func, ast.Attribute) and _of_variables(facts, call):
            yield call, Held.GRADIENTS
    for attribute in facts.nodes(ast.Attribute, tree):
        parent = facts.walked[tree].parents.get(attribute)
        called = isinstance(parent, ast.Call) and parent.func is attribute
        if has(attribute.attr, Trait.HOLDS_VARIABLES) and not called:
            yield attribute, Held.VARIABLES


def _key(node: ast.expr) -> bool:
    named = node.value if isinstance(node, ast.Constant) else last_name(node)
    return isinstance(named, str) and has(named, Trait.VARIABLES_KEY)


def _of_variables(facts: Facts, call: ast.Call) -> bool:
    """Whether gradients are taken with respect to variables, for training."""
    return any(step.call is call for step in facts.train_steps)


class _Follow:
    """Follows one list through a file."""

    def __init__(self, facts: Facts, tree: ast.Module) -> None:
        self.facts, self.tree = facts, tree
        self.parents = facts.walked[tree].parents
        self.seen: set[tuple[ast.AST, Held]] = set()
        self.bound: set[tuple[str, Held]] = set()

    def expression(self, node: ast.expr, kind: Held) -> None:
        """Follow the value of an expression to where it is used."""
        if (node, kind) in self.seen:
            return
        self.seen.add((node, kind))
        parent = self.parents[node]
        if isinstance(parent, ast.keyword):
            parent = self.parents[parent]
        if isinstance(parent, (ast.Expr, ast.If, ast.BoolOp, ast.UnaryOp, ast.Assert)):
            return
        if isinstance(parent, ast.Attribute) and parent.attr in ("append", "extend"):
            return
        if isinstance(parent, ast.IfExp):
            if node is not parent.test:
                self.expression(parent, kind)
        elif isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.Add):
            self.expression(parent, kind)
        elif isinstance(parent, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
            self._bind(parent, kind)
        elif isinstance(parent, ast.Call):
            self._called(parent, node, kind)
        elif isinstance(parent, ast.Starred) and _takes(last_name(self.parents[parent]), kind):
            return
        elif isinstance(parent, ast.Starred):
            self._unzipped(parent, kind)
        elif isinstance(parent, ast.Return) and self._function(parent) is not None:
            self._returned(parent, kind)
        elif isinstance(parent, ast.comprehension) and parent.iter is node:
            self._comprehension(parent, kind)
        elif isinstance(parent, ast.comprehension):
            return  # a condition
        elif isinstance(parent, ast.For) and parent.iter is node:
            self._elements(parent.target, kind, parent.body, parent)
        elif isinstance(parent, ast.Compare) and node in parent.comparators:
            return  # v in a list
        else:
            raise self._refused(parent if hasattr(parent, "lineno") else node, kind)

    def _returned(self, parent: ast.Return, kind: Held) -> None:
        """Follows what a function gives to where it is called in this file."""
        name = getattr(self._function(parent), "name", "")
        for call in self.facts.nodes(ast.Call, self.tree):
            if last_name(call) == name:
                self.expression(call, kind)

    def _bind(self, parent: ast.Assign | ast.AnnAssign | ast.AugAssign, kind: Held) -> None:
        for target in parent.targets if isinstance(parent, ast.Assign) else [parent.target]:
            self._target(target, kind)

    def _target(self, target: ast.expr, kind: Held) -> None:
        """Follows what is bound to a name, or to an attribute of that name of any object."""
        if not isinstance(target, (ast.Name, ast.Attribute)):
            raise self._refused(target, kind)
        name = last_name(target)
        if (name, kind) in self.bound:
            return
        self.bound.add((name, kind))
        for node in self.facts.nodes(type(target), self.tree):
            if last_name(node) == name and isinstance(node.ctx, ast.Load) and self._same_scope(node, target):
                self.expression(node, kind)

    def _same_scope(self, node: ast.AST, target: ast.expr) -> bool:
        """Whether a name may be that of the target: it is read in the same function, or below it."""
        home = self._function(target)
        return isinstance(target, ast.Attribute) or home is None or home in self._around(node)

    def _function(self, node: ast.AST) -> ast.AST | None:
        return next(self._around(node), None)

    def _around(self, node: ast.AST) -> Iterator[ast.AST]:
        at: ast.AST | None = node
        while at is not None:
            if isinstance(at, (ast.FunctionDef, ast.AsyncFunctionDef)):
                yield at
            at = self.parents.get(at)

    def _called(self, call: ast.Call, node: ast.expr, kind: Held) -> None:
        name = last_name(call)
        if node is call.func or _takes(name, kind):
            return
        if name in SAME:
            self.expression(call, kind)
        elif has(name, Trait.CLIPS_TOGETHER) and kind is Held.GRADIENTS:
            self._clipped(call)
        elif name == "zip" and kind in (Held.GRADIENTS, Held.VARIABLES):
            others = [a for a in call.args if a is not node]
            if len(others) != 1:
                raise self._refused(call, kind)
            self.expression(call, Held.PAIRS)
        else:
            raise self._refused(call, kind)

    def _clipped(self, call: ast.Call) -> None:
        """The gradients and their norm."""
        parent = self.parents[call]
        if isinstance(parent, ast.Assign) and isinstance(parent.targets[0], ast.Tuple):
            self._target(parent.targets[0].elts[0], Held.GRADIENTS)
        elif isinstance(parent, ast.Subscript):
            self.expression(parent, Held.GRADIENTS)
        else:
            raise self._refused(call, Held.GRADIENTS)

    def _unzipped(self, star: ast.Starred, kind: Held) -> None:
        """`grads, variables = zip(*pairs)`."""
        call = self.parents[star]
        parent = self.parents[call]
        targets = parent.targets[0] if isinstance(parent, ast.Assign) else None
        two = isinstance(targets, ast.Tuple) and len(targets.elts) == 2
        if kind is not Held.PAIRS or last_name(call) != "zip" or not isinstance(targets, ast.Tuple) or not two:
            raise self._refused(star, kind)
        self._target(targets.elts[0], Held.GRADIENTS)
        self._target(targets.elts[1], Held.VARIABLES)

    def _comprehension(self, part: ast.comprehension, kind: Held) -> None:
        whole = self.parents[part]
        if not isinstance(whole, (ast.ListComp, ast.GeneratorExp)) or len(whole.generators) != 1:
            raise self._refused(whole, kind)
        self._elements(part.target, kind, [whole.elt, *part.ifs], whole)
        self.expression(whole, self._kind_of(whole.elt, part.target, kind))

    def _kind_of(self, element: ast.expr, target: ast.expr, kind: Held) -> Held:
        """The kind of list that a comprehension over a list of variables gives."""
        element = element.body if isinstance(element, ast.IfExp) and isinstance(element.body, ast.Tuple) else element
        if isinstance(element, (ast.Tuple, ast.List)):
            return Held.PAIRS
        names = _names(target, kind)
        if isinstance(element, ast.Name):
            return LISTS.get(names.get(element.id, Held.NUMBERS), Held.NUMBERS)
        if any(isinstance(n, ast.Call) and has(last_name(n), Trait.SUMS_SQUARES) for n in ast.walk(element)):
            return Held.NUMBERS
        return Held.GRADIENTS if kind in (Held.GRADIENTS, Held.PAIRS) else Held.NUMBERS

    def _elements(self, target: ast.expr, kind: Held, inside: list[ast.expr] | list[ast.stmt], around: ast.AST) -> None:
        names = _names(target, kind)
        if not names:
            raise self._refused(around, kind)
        for part in inside:
            for node in ast.walk(part):
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in names:
                    self._element(node, names[node.id], around)

    def _element(self, node: ast.expr, kind: Held, around: ast.AST) -> None:
        """One variable or gradient of a list, where it is read."""
        parent = self.parents[node]
        while isinstance(parent, (ast.BinOp, ast.UnaryOp, ast.IfExp)) and kind is Held.GRADIENT:
            node, parent = parent, self.parents[parent]
        if parent is around or isinstance(parent, (ast.Compare, ast.comprehension)):
            return  # what the list is made of, a condition
        if isinstance(parent, (ast.Tuple, ast.List)):
            self._pair(parent, around)
        elif isinstance(parent, ast.Attribute) and kind is Held.ONE:
            self._attribute(parent, around)
        elif isinstance(parent, ast.Call) and kind is Held.ONE and has(last_name(parent), Trait.OF_ONE_VARIABLE):
            self._number(parent, around)
        elif isinstance(parent, ast.Call) and _is_alike(parent) and node is parent.args[0]:
            self._element(parent, kind, around)
        elif not isinstance(parent, ast.If):
            raise self._refused(parent if hasattr(parent, "lineno") else node, kind)

    def _pair(self, pair: ast.Tuple | ast.List, around: ast.AST) -> None:
        call = self.parents[pair]
        while isinstance(call, ast.IfExp):
            call = self.parents[call]
        if call is around:
            return
        if isinstance(call, ast.Call) and last_name(call) == "append" and isinstance(call.func, ast.Attribute):
            self._target(call.func.value, Held.PAIRS)
        else:
            raise self._refused(pair, Held.PAIRS)

    def _attribute(self, attribute: ast.Attribute, around: ast.AST) -> None:
        """`v.name`, of which a part may be asked for."""
        parent = self.parents[attribute]
        if attribute.attr == "assign" and isinstance(parent, ast.Call) and parent.func is attribute:
            return self._number(parent, around)
        if attribute.attr == "op" and isinstance(parent, ast.Attribute):
            attribute, parent = parent, self.parents[parent]
            split = self.parents[parent] if isinstance(parent, ast.Attribute) and parent.attr == "split" else None
            first = self.parents.get(split) if split is not None else None  # the outermost scope
            if isinstance(first, ast.Subscript) and isinstance(first.slice, ast.Constant) and first.slice.value == 0:
                return None
        if attribute.attr == "name" and isinstance(parent, ast.Compare) and attribute in parent.comparators:
            return None
        if attribute.attr == "name" and isinstance(parent, ast.Attribute) and parent.attr == "startswith":
            return None
        raise self._refused(attribute, Held.ONE)

    def _number(self, node: ast.expr, around: ast.AST) -> None:
        """A number of each variable, which must be added to those of the others."""
        parent = self.parents[node]
        while isinstance(parent, ast.BinOp):
            node, parent = parent, self.parents[parent]
        adds = isinstance(parent, ast.AugAssign) and isinstance(parent.op, ast.Add)
        if parent is not around and not adds and not isinstance(parent, (ast.IfExp, ast.Tuple)):
            raise self._refused(node, Held.ONE)

    def _refused(self, node: ast.AST, kind: Held) -> Exception:
        return refuse(self.facts, node, PlanFault.TAKEN_FROM_LIST, what=kind.value)


def _names(target: ast.expr, kind: Held) -> dict[str, Held]:
    """The names that elements of a list are bound to, with what they are; none where they are bound otherwise."""
    if isinstance(target, ast.Name) and kind is not Held.PAIRS:
        return {target.id: {Held.VARIABLES: Held.ONE, Held.GRADIENTS: Held.GRADIENT}.get(kind, Held.NUMBERS)}
    if isinstance(target, ast.Tuple) and kind is Held.PAIRS and all(isinstance(e, ast.Name) for e in target.elts):
        pairs = zip(map(last_name, target.elts), (Held.GRADIENT, Held.ONE), strict=False)
        return dict(pairs) if len(target.elts) == 2 else {}
    return {}
