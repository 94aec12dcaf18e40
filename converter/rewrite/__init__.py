"""From a plan to text: LibCST edits, and nothing decided here."""

from converter.rewrite.apply import apply

__all__ = ["apply"]
