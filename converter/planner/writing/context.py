"""The data that parts of the planner need to write edits."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import replace

from converter.analysis.facts import Facts
from converter.dataclass import dataclass
from converter.options import Options
from converter.plan import Replace
from converter.planner.writing.aliases import Aliases
from converter.planner.writing.builtin_names import Builtins
from converter.planner.writing.free_names import TakenNames
from converter.planner.writing.source_text import SourceText


@dataclass(frozen=True)
class WritingContext:
    """What is needed to write edits: facts, source texts, free names, and the names of TensorFlow in each file.

    names: those that are taken by now. text: of the files as they are. aliases: under which names each file knows
    TensorFlow. builtins: the same of Python's own functions. anywhere: whether other files than the script may change.
    """

    facts: Facts
    options: Options
    names: TakenNames
    text: SourceText
    aliases: Aliases
    builtins: Builtins
    anywhere: bool

    def after(self, further: Iterable[Replace]) -> WritingContext:
        """The same, with further replacements in the files."""
        return replace(self, text=self.text.after(further))

    def tensorflow(self, node: ast.AST) -> str:
        """The name of TensorFlow in the file of a node."""
        return self.aliases.tensorflow(self.facts.path_of(node))
