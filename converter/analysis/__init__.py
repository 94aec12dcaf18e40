"""Reads a script and finds out what it does with its batches. Nothing is edited here."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from converter.options import Options

if TYPE_CHECKING:
    from converter.analysis.facts import Decisions, Facts
    from converter.analysis.walk import Known

__all__ = ["read_facts", "read_further"]


def read_facts(
    path: str,
    tree: ast.Module,
    options: Options,
    originals: Mapping[str, bytes] | None = None,
    before: Known | None = None,
) -> Facts:
    """Walks through a script, and again when the feeds show which placeholders are batches.

    originals: the bytes to read other files of the project as, by absolute path. before: constants that conditions
    leave open, as if they were flags; and whether the script is the view of a Python 2 text.
    """
    from converter.analysis.inputs.embedded_data import data_entries, why_uncut
    from converter.analysis.inputs.feeds import decide_inputs, fed_back
    from converter.analysis.inputs.shuffled import shuffled_inputs
    from converter.analysis.project import project_of
    from converter.analysis.python.run import walked
    from converter.analysis.walk import Known

    project = project_of(path, originals or {})
    given = before or Known()
    project.python2 = given.python2
    known = replace(given, traced=dict(options.traced))
    facts = walked(path, tree, project, known)
    if facts.endless is not None:
        return facts
    decisions = decide_inputs(facts, options)
    known = replace(known, decisions=decisions, within=facts.within)
    facts = walked(path, tree, project, known) if decisions else facts
    while again := fed_back(facts, decisions, options):
        decisions.update(again)
        facts = walked(path, tree, project, known)
    if shuffled := shuffled_inputs(facts):
        decisions.update(shuffled)
        facts = walked(path, tree, project, known)
    data = data_entries(facts)
    if not data:
        return facts
    cut = walked(path, tree, project, replace(known, data=data))
    facts.uncut = why_uncut(cut, data)
    return facts if facts.uncut else cut


def read_further(facts: Facts, decisions: Decisions, options: Options) -> Facts:
    """Walks through a script once more, with the values of further expressions as inputs.

    decisions: these expressions, with their batch axes, as nodes of the trees that were walked before. The facts stay
    those of the walk before where the data in the graph cannot be cut.
    """
    from converter.analysis.inputs.embedded_data import data_entries, why_uncut
    from converter.analysis.python.run import walked
    from converter.analysis.walk import Known

    known = Known(
        {**facts.decisions, **decisions},
        traced=dict(options.traced),
        data=facts.data_axes,
        open=facts.open,
        within=facts.within,
    )
    further = walked(facts.path, facts.tree, facts.project, known)
    if facts.data_axes:
        facts.uncut = why_uncut(further, facts.data_axes)
        return facts if facts.uncut else further
    further.uncut = facts.uncut if data_entries(further) else ""
    return further
