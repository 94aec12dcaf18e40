"""From facts to a plan: decides, and refuses where it cannot be sure."""

from converter.planner.decide import Sources, decide
from converter.planner.entrance import Entrance
from converter.planner.modules import import_line

__all__ = ["Entrance", "Sources", "decide", "import_line"]
