"""What other calls of a function bind in some of its statements."""

from __future__ import annotations

import ast
from collections.abc import Container

from converter.analysis.facts import Facts
from converter.analysis.values import Frame, Value

Bound = dict[str, list[Value]]  # names of variables and attributes, with the values that they are given


def bound_by_other_calls(facts: Facts, frame: Frame, stmts: Container[ast.stmt]) -> list[Bound]:
    """For each call but that of the frame: the names that these statements bind, and to what.

    Functions that build the model in several ways have such calls: for training and for evaluation, or a constructor of
    several classes that inherit it.
    """
    calls: dict[int, Bound] = {}
    around: dict[int, tuple[int, ...]] = {}  # the frames of other calls, by the statements that they execute
    for access in facts.accesses:
        frames = around.get(id(access.site))
        if frames is None:
            frames = around[id(access.site)] = tuple(
                site.frame.uid
                for site in access.site.chain()
                if site.frame.uid != frame.uid and site.frame.node is frame.node and site.stmt in stmts
            )
        for uid in frames:
            bound = calls.setdefault(uid, {})
            if access.write:
                bound.setdefault(access.place.key, []).append(access.value)
    return list(calls.values())
