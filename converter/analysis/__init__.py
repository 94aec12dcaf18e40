"""Reads a script and finds out what it does with its batches. Nothing is edited here."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from converter.options import Options

if TYPE_CHECKING:
    from converter.analysis.facts import Facts
    from converter.analysis.project import Project
    from converter.analysis.walk import Known

__all__ = ["read_facts"]


def read_facts(
    path: str,
    tree: ast.Module,
    options: Options,
    originals: Mapping[str, bytes] | None = None,
    project: Project | None = None,
    before: Known | None = None,
) -> Facts:
    """Walks through a script, and again when the feeds show which placeholders are batches.

    originals: the bytes to read other files of the project as, by absolute path. project: the project of a former
    walk. before: expressions whose values are read as inputs, with their batch axes, as nodes of that project's trees;
    and constants that conditions leave open, as if they were flags.
    """
    from converter.analysis.inputs.embedded_data import data_entries, why_uncut
    from converter.analysis.inputs.feeds import decide_inputs, fed_back
    from converter.analysis.inputs.shuffled import shuffled_inputs
    from converter.analysis.project import project_of
    from converter.analysis.python.run import walked
    from converter.analysis.walk import Known

    project = project or project_of(path, originals or {})
    given = before or Known()
    project.python2 = project.python2 or given.python2
    known = replace(given, traced=dict(options.traced), decisions={})
    facts = _first_walk(path, tree, project, known)
    if facts.endless is not None:
        return facts
    decisions = decide_inputs(facts, options)
    known = replace(known, decisions=decisions)
    facts = walked(path, tree, project, known) if decisions else facts
    while again := fed_back(facts, decisions, options):
        decisions.update(again)
        facts = walked(path, tree, project, known)
    if shuffled := shuffled_inputs(facts):
        decisions.update(shuffled)
        facts = walked(path, tree, project, known)
    data = data_entries(facts)
    decisions.update(given.decisions)
    if not data:
        return walked(path, tree, project, known) if given.decisions else facts
    cut = walked(path, tree, project, replace(known, data=data))
    facts.uncut = why_uncut(cut, data)
    return facts if facts.uncut else cut


def _first_walk(path: str, tree: ast.Module, project: Project, known: Known) -> Facts:
    """Walks through a script, and again if a module turns out to be Python 2: then the lines before it are, too."""
    from converter.analysis.python.run import walked

    python2 = project.python2
    facts = walked(path, tree, project, known)
    return facts if project.python2 == python2 else walked(path, tree, project, known)
