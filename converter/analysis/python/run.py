"""Executes a whole script on stand-ins for its values."""

from __future__ import annotations

import ast
from contextlib import suppress
from dataclasses import replace

from converter.analysis.facts import Facts, gradients_in_losses
from converter.analysis.flow.repeats import Endless
from converter.analysis.inputs.decided import decided
from converter.analysis.project import Project, TurnedPython2
from converter.analysis.python.calling import call_with_unknowns, use_with_unknowns
from converter.analysis.python.expressions import EVALUATE
from converter.analysis.python.statements import execute_block
from converter.analysis.values import Class, Function, Value
from converter.analysis.walk import Known, Walk

ANY_NAME = frozenset(("globals", "locals", "vars", "eval", "exec"))  # give whatever the file has a name for


def walked(path: str, tree: ast.Module, project: Project, known: Known | None = None) -> Facts:
    """The facts of a walk through a script; of two where gradients turn out to be a part of the model."""
    known = known or Known()
    facts = _begun(path, tree, project, known)
    inner = gradients_in_losses(facts.train_steps)
    while facts.endless is None and inner and not inner <= known.within:
        known = replace(known, within=known.within | inner)
        facts = _begun(path, tree, project, known)
        inner = gradients_in_losses(facts.train_steps)
    return facts


def _begun(path: str, tree: ast.Module, project: Project, known: Known) -> Facts:
    """The facts of a walk, begun anew where a module turns out to be Python 2: then the lines before it are, too."""
    try:
        return run(Walk(path, tree, project, known, evaluate))
    except TurnedPython2:
        return run(Walk(path, tree, project, known, evaluate))


def evaluate(walk: Walk, node: ast.expr) -> Value:
    """The value of an expression, with where and when it was made."""
    value = EVALUATE[type(node)](walk, node)
    if node in walk.decisions:
        return decided(walk, value, node)
    return value if value.site is not None else walk.stamp(value, node)


def run(walk: Walk) -> Facts:
    """Executes the whole script and returns the facts."""
    assert isinstance(walk.module.node, ast.Module)
    try:
        execute_block(walk, walk.module.node.body)
    except Endless:
        walk.facts.endless = walk.facts.accesses[-1].node if walk.facts.accesses else walk.module.node
        return walk.facts
    walk.facts.called = frozenset(walk.entered)
    with suppress(Endless):  # what nobody calls is no part of the model
        _enter_uncalled(walk)
    cut = walk.facts.cut
    if cut:
        walk.facts.accesses = [a._replace(value=cut.get(a.value.uid, a.value)) for a in walk.facts.accesses]
    return walk.facts


def _enter_uncalled(walk: Walk) -> None:
    """Enters functions and classes that nobody called: code that is not followed may call them.

    What is imported and read nowhere is called by nobody. Functions that no other one mentions come first, as they pass
    known arguments to the others.
    """
    read = _read_in(walk.module.node)
    left = {
        name: value
        for name, value in walk.module.locals.items()
        if isinstance(value, (Function, Class)) and value.node not in walk.entered and not name.startswith("__")
        if name in read or not read.isdisjoint(ANY_NAME) or not walk.facts.path_of(value.node)
    }
    mentions = {name: _names_in(value.node) for name, value in left.items()}
    for name in sorted(left, key=lambda name: any(name in m for other, m in mentions.items() if other != name)):
        value = left[name]
        if isinstance(value, Function) and value.node not in walk.entered:
            call_with_unknowns(walk, value)
        elif isinstance(value, Class) and value.node not in walk.entered:
            use_with_unknowns(walk, value)


def _read_in(tree: ast.AST) -> set[str]:
    """The names that a file reads, those in texts among them: a name may be looked up."""
    constants = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant))
    return _names_in(tree) | {value for value in constants if isinstance(value, str)}


def _names_in(node: ast.AST) -> set[str]:
    return {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)}
