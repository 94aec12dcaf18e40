"""A loop that is being planned: its statements, the names that are taken, and the text of the script."""

from __future__ import annotations

import ast

from converter.analysis.facts import Facts
from converter.analysis.values import Value
from converter.dataclass import dataclass
from converter.options import Options
from converter.planner.region.executions import StepGroup
from converter.planner.region.region import Region
from converter.planner.writing.free_names import TakenNames
from converter.planner.writing.source_text import SourceText


@dataclass(frozen=True)
class LoopSite:
    """The place of a loop.

    group: the training steps that share it. names: those that are taken before it is planned. text: the script's
    text with the replacements that are planned by now. tensorflow: TensorFlow's name there. fed: the uids of
    values of the towers that runs feed. alone: batches may be of a single example: no tower is sure to have one.
    """

    facts: Facts
    options: Options
    group: StepGroup
    names: TakenNames
    text: SourceText
    tensorflow: str
    fed: frozenset[int] = frozenset()
    alone: bool = False

    def made_at(self, value: Value, other: ast.AST | None = None) -> ast.AST:
        """The expression that makes a value; where none does, another one, else the block's first statement."""
        return getattr(value, "node", None) or other or self.region.block.body[0]

    @property
    def region(self) -> Region:
        """Which statements go into the towers."""
        return self.group.region
