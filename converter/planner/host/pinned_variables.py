"""Statements outside the loop that create variables of the model: they are placed like the towers' variables."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from converter.analysis.facts import Facts
from converter.plan import At
from converter.planner.questions.statements import path, suites
from converter.planner.region.region import Region
from converter.planner.writing.source_text import SourceText


def pinned(facts: Facts, region: Region, text: SourceText) -> tuple[tuple[At, At], ...]:
    """Statements outside the loop that create variables of the model, and so get a tf.device() around them."""
    where = suites(*facts.trees())
    tops = [region.block.body, *(tree.body for tree in facts.trees())]
    makers: list[ast.stmt] = []
    used = {v.uid for v in region.needed.values()}
    leading = {stmt for _, stmt in path(region.block.frame.call_site)}
    for variable in facts.variables:
        if variable.uid not in used or variable.site is None or region.in_tower(variable.site) or variable.dims == ():
            continue
        steps = path(variable.site)
        stmt = next((s for _, s in reversed(steps) if any(where.get(s) is top for top in tops)), None)
        if stmt is None or (stmt in leading and stmt not in region.block.index) or isinstance(stmt, ast.If):
            # what leads to the loop, too, as a call of main: the first statement on the way that does not
            stmt = next((s for _, s in steps if s not in leading and isinstance(s, (ast.Assign, ast.Expr))), None)
        whole = (ast.FunctionDef, ast.ClassDef, ast.If, ast.For, ast.Import, ast.ImportFrom)
        if stmt is not None and stmt not in makers and not isinstance(stmt, whole):
            makers.append(stmt)
    runs: list[tuple[At, At]] = []
    for stmt in sorted(makers, key=text.start):
        body = where[stmt]
        index = body.index(stmt)
        line = text.anchor(stmt)
        if runs and runs[-1][1] == line:
            continue  # on one line with the one before
        if runs and index and text.anchor(body[index - 1]) == runs[-1][1] and _moves_alike(region, body, index):
            runs[-1] = (runs[-1][0], line)
        else:
            runs.append((line, line))
    return tuple(runs)


def only_variables(facts: Facts, regions: Iterable[Region], runs: Iterable[tuple[At, At]], text: SourceText) -> bool:
    """True if the pinned statements only create variables, and call no function that may also compute.

    All that such a statement makes may then stand on the device of its variables.
    """
    used = {v.uid for region in regions for v in region.needed.values()}
    pinned_runs = tuple(runs)
    return all(
        isinstance(variable.site.stmt, (ast.Assign, ast.Expr))
        and any(
            begin <= text.anchor(variable.site.stmt) <= end and begin.path == facts.path_of(variable.site.stmt)
            for begin, end in pinned_runs
        )
        for variable in facts.variables
        if variable.uid in used
        and variable.site is not None
        and variable.dims != ()
        and not any(region.in_any_tower(variable.site) for region in regions)
    )


def _moves_alike(region: Region, body: list[ast.stmt], index: int) -> bool:
    if body is not region.block.body:
        return True
    return (index in region.before) == (index - 1 in region.before)
