"""Files of the project import each other before what they ask for is there."""

from __future__ import annotations

from converter.rule import Rule

RULES = (
    Rule(
        code="TMG014",
        title="files of the project import each other before what they ask for is there",
        why="Two files import each other, and one takes a name from the other with `from … import …` while "
        "that one has not come to the name yet. Python cannot import them in this order, and the script "
        "stops there, before its conversion and after it. Files that import each other as modules and read "
        "each other's names when they need them are followed.",
    ),
)
