"""Batches that overlap, or leave rows out: `x[i:i + batch_size]` where i goes on by another number of rows.

Where the batch size grows, such a step takes other rows than N steps of the original do. A batch of `b - a` rows that
begins at `a` is followed by the next one where `a` moves on by `b - a` in each turn, forwards or backwards.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import partial

from converter.analysis.arrays.rows import spanned, terms_of
from converter.analysis.counts.reading import SIZE, TURN, UNFOLLOWED
from converter.analysis.counts.terms import Atom, Of, Terms, atom, number
from converter.analysis.facts import Facts, RunCall, TrainStep
from converter.analysis.values import Host, Number, Origin, needed


def overlapping(facts: Facts, steps: Iterable[TrainStep], sizes: Iterable[Origin]) -> Iterator[ast.AST]:
    """The slices of fed data that are as long as a batch, and begin at numbers that go on by another number of rows."""
    scaled = frozenset(sizes)
    trained = {step.result.uid for step in steps}
    windows: dict[ast.Slice, list[tuple[Terms, Terms]]] = {}
    for run in (run for run in facts.runs if run.computes(trained)):
        for node, begin, rows in _windows(facts, run, scaled):
            windows.setdefault(node, []).append((begin, rows))
    for node, turns in windows.items():
        moves = _moves([begin.replaced(_before_rest) for begin, _ in turns]) or _counted(facts, node, scaled)
        lengths = [_in_first_turn(rows) for rows in _lengths(turns[0][1])]
        along = not moves or all(any(move in (rows, rows * number(-1)) for move in moves) for rows in lengths)
        first = _in_first_turn(turns[0][0])
        if not along or (first.parts and any(not (first + rows).parts for rows in lengths)):  # `x[-n:0]` has no rows
            yield node.lower or node


def _lengths(rows: Terms) -> list[Terms]:
    """The numbers of rows that a window may have, but for the end of the data: of `min(i + b, n) - i` that is b."""
    how, options = rows.choice()
    inner = [option for option in options if all(one == SIZE for one in option.atoms())]
    return inner if how == "least" and inner else [rows]


def _in_first_turn(terms: Terms) -> Terms:
    return terms.replaced(lambda one: number(0) if _is_turn(one) else None)


def _windows(facts: Facts, run: RunCall, sizes: frozenset[Origin]) -> Iterator[tuple[ast.Slice, Terms, Terms]]:
    """The slices behind what a run is fed that have as many rows as a batch: where each begins, and its rows."""
    for value in needed(fed for _, fed in run.feeds).values():
        node = value.node if isinstance(value, Host) else None
        if not isinstance(node, ast.Slice) or not value.inputs:
            continue
        if node.step is not None and SIZE in terms_of(facts, value.inputs[-1], sizes, run.site).atoms():
            begin = terms_of(facts, value.inputs[0], sizes, run.site) if node.lower is not None else number(0)
            yield node, begin, number(0)
        rows = spanned(facts, value, node) if node.lower is not None else None
        if rows is not None and rows.linear & sizes:
            yield node, terms_of(facts, value.inputs[0], sizes, run.site), terms_of(facts, rows, sizes, run.site)


def _moves(begins: list[Terms]) -> list[Terms]:
    """By how much the beginning moves on in each turn of the loops around; nothing where that is not known."""
    turns = set(filter(_is_turn, begins[0].atoms()))
    moved = [begins[0].replaced(partial(_next, turn)) - begins[0] for turn in turns]
    if not turns and len(begins) > 1:
        moved = [begins[1] - begins[0]]
    return list(filter(_is_of_size, moved))


def _counted(facts: Facts, window: ast.Slice, sizes: frozenset[Origin]) -> list[Terms]:
    """What statements add to the number at which a window begins: `i += 8`."""
    places = {access.place for access in facts.accesses if access.node is window.lower}
    writes = [w for place in places for w in facts.writes_to(place) if isinstance(w.value, Number)]
    sums = [(w.value, w.site) for w in writes if isinstance(w.value, Number) and w.value.op == "add"]
    steps = (terms_of(facts, value.inputs[1], sizes, site) for value, site in sums)
    return list(filter(_is_of_size, steps))


def _is_of_size(move: Terms) -> bool:
    """Whether a number is computed from the batch size and plain numbers alone, and is not 0."""
    followed = (one == SIZE or (isinstance(one, Of) and not one.name.startswith(UNFOLLOWED)) for one in move.atoms())
    return bool(move.parts) and all(followed)


def _is_turn(one: Atom) -> bool:
    return isinstance(one, tuple) and one[0] == TURN


def _before_rest(one: Atom) -> Terms | None:
    """What a number was before only the remainder was kept of it, so that it stays within the data."""
    return one.given[0] if isinstance(one, Of) and one.name in ("mod", "remainder") else None


def _next(turn: Atom, one: Atom) -> Terms | None:
    return atom(one) + number(1) if one == turn else None
