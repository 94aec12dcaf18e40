"""Values that other calls of a function bind in some of its statements."""

from __future__ import annotations

import ast
from collections.abc import Container

from converter.analysis.facts import Facts
from converter.analysis.frames import Access
from converter.analysis.values import Frame, Value

Bound = dict[str, list[Value]]  # names of variables and attributes, with the values that they are given


def bound_by_other_calls(facts: Facts, frame: Frame, stmts: Container[ast.stmt]) -> dict[Frame, Bound]:
    """For each call but that of the frame: the names that these statements bind, and to what.

    Functions that build the model in several ways have such calls: for training and for evaluation, or a constructor of
    several classes that inherit it.
    """
    found: list[tuple[int, Frame, Access]] = []  # when, the frame of another call, what was read or written there
    called_again = len(facts.frames_by_node.get(frame.node, ())) > 1
    for at, accesses in facts.accesses_by_site if called_again else ():
        for site in at.chain():
            if site.frame.uid != frame.uid and site.frame.node is frame.node and site.stmt in stmts:
                found += ((number, site.frame, access) for number, access in accesses)
    calls: dict[Frame, Bound] = {}
    for _, other, access in sorted(found, key=lambda one: one[0]):
        bound = calls.setdefault(other, {})
        if access.write:
            bound.setdefault(access.place.key, []).append(access.value)
    return calls
