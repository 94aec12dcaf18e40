"""Batch sizes among a user's settings that the script sets again: `if args.test: args.batch_size = 10`.

After the branch nothing tells which of both sizes a read finds. So the setting goes on being the size of one tower,
also where the script sets it and where a condition decides whether it does, and every other read is scaled. The entry
of a file of settings is read anew each time: it stays the size of one tower wherever the script sets it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from converter.analysis.facts import Facts
from converter.analysis.frames import Access, Place
from converter.analysis.values import Number, Origin
from converter.dataclass import dataclass
from converter.planner.plan_faults import PlanFault
from converter.planner.wording import refuse
from converter.planner.writing.source_text import SourceText

CHANGES = ("update", "setdefault")  # methods that set entries of a dict


@dataclass(frozen=True)
class SetAgain:
    """Settings that a branch sets, or that are set to a multiple of themselves.

    places: where they are kept. inside: the expressions of the statements that set them, and of the conditions of
    these statements, which keep their size.
    """

    places: frozenset[Place] = frozenset()
    inside: frozenset[ast.AST] = frozenset()


def set_in_branches(
    facts: Facts, name: str, reads: Iterable[Access], sizes: Iterable[Origin], text: SourceText
) -> SetAgain:
    """The places of a setting that a branch sets again; raises Refusal where that cannot be kept as one tower's size.

    reads: of the setting. sizes: all numbers that are batch sizes.
    """
    read = list(reads)
    writes = [a for place in dict.fromkeys(access.place for access in read) for a in facts.writes_to(place)]
    alone = {target for stmt in facts.single for target in stmt.targets}  # single examples, which one tower takes
    joined = {a.place for a in writes if isinstance(a.node, ast.stmt) or a.node in alone or _is_augmented(text, a.node)}
    inside: set[ast.AST] = set()
    for access in writes:
        if access.place not in joined or isinstance(access.node, ast.stmt):
            continue
        setting, given = _setting(access.node, text)
        if setting is None:
            raise refuse(facts, access.node, PlanFault.SET_IN_A_BRANCH, name=name)
        own = set(ast.walk(setting))
        single = isinstance(given, ast.Constant) and given.value == 1 and setting not in facts.single
        others = [o for o in sizes if o.node not in own and o.key[-1] != name]
        if (single and not isinstance(setting, ast.AugAssign)) or any(_is_made_of(access, o) for o in others):
            raise refuse(facts, access.node, PlanFault.SET_IN_A_BRANCH, name=name)
        inside |= own | _condition(facts, setting, read, name)
    for statement in _entries_set(facts, read, name):
        inside |= {*ast.walk(statement)} | _condition(facts, statement, read, name)
        if isinstance(statement, ast.AugAssign):  # what it reads before has an expression that is written nowhere
            inside |= {a.node for a in read if a.site.stmt is statement}
    return SetAgain(frozenset(joined), frozenset(inside))


def _setting(written: ast.AST, text: SourceText) -> tuple[ast.stmt | None, ast.expr | None]:
    """The statement that sets a setting, and to what: `args.n = 10`, `setattr(args, 'n', 10)`; else None."""
    above = text.parent(written)
    if isinstance(above, (ast.Assign, ast.AugAssign)):
        return above, above.value
    if isinstance(above, ast.Expr) and isinstance(written, ast.Call) and len(written.args) == 3:
        return above, written.args[2]
    return None, None


def compared(sizes: Iterable[ast.AST], text: SourceText) -> Iterator[ast.Constant]:
    """Numbers that a name is compared with before a branch sets it to a batch size: `if n > 64: n = 64`.

    sizes: numbers that are scaled, so that what the name holds is scaled on both ways.
    """
    for size in sizes:
        setting = text.parent(size)
        around = text.parent(setting) if isinstance(setting, ast.Assign) else None
        if not isinstance(setting, ast.Assign) or not isinstance(around, ast.If) or len(setting.targets) != 1:
            continue
        target = ast.unparse(setting.targets[0])
        for part in (node for node in ast.walk(around.test) if isinstance(node, ast.Compare)):
            sides = [part.left, *part.comparators]
            if any(ast.unparse(side) == target for side in sides):
                yield from (side for side in sides if isinstance(side, ast.Constant) and type(side.value) is int)


def _condition(facts: Facts, setting: ast.stmt, reads: Iterable[Access], name: str) -> set[ast.AST]:
    """The expressions of a condition that decides by a setting whether to set it again: `if n > 100: n = 100`."""
    around = facts.parents.get(setting)
    if not isinstance(around, ast.If):
        return set()
    within = set(ast.walk(around.test))
    own = [access for access in reads if access.node in within]
    sizes = {origin for access in reads if isinstance(access.value, Number) for origin in access.value.linear}
    for access in facts.accesses if not own else ():
        if access.node in within and isinstance(access.value, Number) and not sizes.isdisjoint(access.value.linear):
            raise refuse(facts, access.node, PlanFault.SET_IN_A_BRANCH, name=name)  # it holds that of all towers
    return within if own else set()


def _entries_set(facts: Facts, reads: Iterable[Access], name: str) -> Iterator[ast.stmt]:
    """The statements that set an entry of a file of settings from which a setting is read."""
    nodes = {access.node for access in reads}
    entries = [a for a in facts.accesses if a.place.kind == "item" and a.node in nodes and not a.write]
    for place in dict.fromkeys(access.place for access in entries):
        for write in facts.writes_to(place):
            setting = facts.parents.get(write.node)
            if isinstance(setting, (ast.Assign, ast.AugAssign)):
                yield setting
    holders = {ast.unparse(node.value) for node in nodes if isinstance(node, ast.Subscript)} if entries else set()
    for call in facts.nodes(ast.Call) if holders else ():
        method = call.func
        if isinstance(method, ast.Attribute) and method.attr in CHANGES and ast.unparse(method.value) in holders:
            statement = facts.parents.get(call)
            if isinstance(statement, ast.Expr) and name in _keys(call):
                yield statement


def _keys(call: ast.Call) -> Iterator[object]:
    """The keys that `settings.update({…}, …=…)` or `settings.setdefault(…)` sets."""
    yield from (keyword.arg for keyword in call.keywords)
    for argument in call.args:
        keys = argument.keys if isinstance(argument, ast.Dict) else [argument]
        yield from (key.value for key in keys if isinstance(key, ast.Constant))


def _is_augmented(text: SourceText, target: ast.AST) -> bool:
    """Whether `+=` or the like sets it: the value before it is read without an expression of its own."""
    return isinstance(text.parent(target), ast.AugAssign)


def _is_made_of(access: Access, origin: Origin) -> bool:
    return isinstance(access.value, Number) and origin in access.value.linear
