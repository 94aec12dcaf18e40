"""What a script means: reads, never edits."""

from __future__ import annotations

import ast
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from converter.options import Options

if TYPE_CHECKING:
    from converter.analysis.facts import Facts
    from converter.analysis.inputs.feeds import Decisions
    from converter.analysis.project import Project

__all__ = ["read_facts"]


def read_facts(
    path: str,
    tree: ast.Module,
    options: Options,
    originals: Mapping[str, bytes] | None = None,
    entrances: Decisions | None = None,
    project: Project | None = None,
) -> Facts:
    """Walks a script; again where what is fed told what a placeholder is.

    originals: what other files of the project are to be read as, by absolute path. entrances: expressions
    whose values are read as inputs, with their batch axes. project: of a former walk, whose trees the
    entrances are in.
    """
    from converter.analysis.inputs.embedded_data import data_entries, why_uncut
    from converter.analysis.inputs.feeds import decide_inputs, fed_back
    from converter.analysis.project import Project
    from converter.analysis.walk import Walk

    project = project or Project(os.path.dirname(os.path.abspath(path)), originals or {})
    traced = dict(options.traced)
    facts = Walk(path, tree, {}, project, traced).run()
    if facts.endless is not None:
        return facts
    decisions = decide_inputs(facts, options)
    facts = Walk(path, tree, decisions, project, traced).run() if decisions else facts
    while again := fed_back(facts, decisions, options):
        decisions.update(again)
        facts = Walk(path, tree, decisions, project, traced).run()
    data = data_entries(facts)
    decisions.update(entrances or {})
    if not data:
        return Walk(path, tree, decisions, project, traced).run() if entrances else facts
    cut = Walk(path, tree, decisions, project, traced, data).run()
    facts.uncut = why_uncut(cut, data)
    return facts if facts.uncut else cut
