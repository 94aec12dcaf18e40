"""Batch sizes among a user's settings that the script sets again: `if args.test: args.batch_size = 10`.

After the branch nothing tells which of both sizes a read finds. So the setting goes on being the size of one tower,
also where the script sets it, and every other read is scaled.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from converter.analysis.facts import Facts
from converter.analysis.frames import Access, Place
from converter.analysis.values import Number, Origin
from converter.dataclass import dataclass
from converter.planner.found import Found
from converter.planner.wording import refuse
from converter.planner.writing.source_text import Text


@dataclass(frozen=True)
class SetAgain:
    """Settings that a branch sets, or that are set to a multiple of themselves.

    places: where they are kept. inside: the expressions of the statements that set them, which keep their size.
    """

    places: frozenset[Place] = frozenset()
    inside: frozenset[ast.AST] = frozenset()


def set_in_branches(facts: Facts, name: str, reads: Iterable[Access], sizes: Iterable[Origin], text: Text) -> SetAgain:
    """The places of a setting that a branch sets again; raises Refusal where that cannot be kept as one tower's size.

    reads: of the setting. sizes: all numbers that are batch sizes.
    """
    writes = [a for place in dict.fromkeys(read.place for read in reads) for a in facts.writes_to(place)]
    joined = {a.place for a in writes if isinstance(a.node, ast.stmt) or _is_augmented(text, a.node)}
    inside: set[ast.AST] = set()
    for access in writes:
        if access.place not in joined or isinstance(access.node, ast.stmt):
            continue
        setting = text.parent(access.node)
        if not isinstance(setting, (ast.Assign, ast.AugAssign)):
            raise refuse(facts, access.node, Found.SET_IN_A_BRANCH, name=name)
        own = set(ast.walk(setting))
        single = isinstance(setting.value, ast.Constant) and setting.value.value == 1
        others = [o for o in sizes if o.node not in own and o.key[-1] != name]
        if (single and isinstance(setting, ast.Assign)) or any(_is_made_of(access, o) for o in others):
            raise refuse(facts, access.node, Found.SET_IN_A_BRANCH, name=name)
        inside |= own
    return SetAgain(frozenset(joined), frozenset(inside))


def _is_augmented(text: Text, target: ast.AST) -> bool:
    """Whether `+=` or the like sets it: the value before it is read without an expression of its own."""
    return isinstance(text.parent(target), ast.AugAssign)


def _is_made_of(access: Access, origin: Origin) -> bool:
    return isinstance(access.value, Number) and origin in access.value.linear
