"""From facts to a plan: decides, and refuses where it cannot be sure."""

from converter.planner.decide import decide

__all__ = ["decide"]
