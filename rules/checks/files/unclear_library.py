"""Refuses imports that several folders of the project could answer, none of them on Python's path."""

from __future__ import annotations

import os
from collections.abc import Iterator

from converter.diagnostics import Diagnostic
from converter.planner.cases import Selected
from converter.planner.checking import check
from converter.planner.questions.imported import imported_names
from converter.planner.wording import finding

CODES = ("TMG237",)


@check(Selected)
def in_several_folders(case: Selected) -> Iterator[Diagnostic]:
    """Imports of the script that more than one folder of its project answers."""
    facts, told = case.facts, set[str]()
    followed = {name.partition(".")[0] for name, _ in facts.found}
    for name, node in imported_names(facts):
        top = name.partition(".")[0]
        folders = facts.project.unclear.get(top)
        if folders is None or top in followed | told or facts.path_of(node):
            continue
        told.add(top)
        here = os.path.dirname(os.path.abspath(facts.path))
        paths = [os.path.relpath(folder, here) for folder in folders]
        yield finding(facts, node, "TMG237", top=top, paths=', '.join(paths), first=paths[0])
