"""What a script means: reads, never edits."""

from __future__ import annotations

import ast
import os
from typing import TYPE_CHECKING

from converter.options import Options

if TYPE_CHECKING:
    from converter.analysis.facts import Facts

__all__ = ["read_facts"]


def read_facts(path: str, tree: ast.Module, options: Options) -> Facts:
    """Walks a script; a second time where what is fed told what a placeholder is."""
    from converter.analysis.feeds import decide_inputs
    from converter.analysis.project import Project
    from converter.analysis.walk import Walk

    project = Project(os.path.dirname(os.path.abspath(path)))
    facts = Walk(path, tree, {}, project).run()
    decisions = decide_inputs(facts, options)
    return Walk(path, tree, decisions, project).run() if decisions else facts
