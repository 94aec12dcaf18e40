"""An imported file of the project cannot be read."""

from __future__ import annotations

from converter.rule import Rule

RULES = (
    Rule(
        code="TMG013",
        title="an imported file of the project cannot be read",
        why="The script imports a file that lies beside it and is not readable as Python 3, so that nothing is "
        "known of what the script takes from there. Where the model, its inputs or the batches come from "
        "that file, the conversion is refused or may miss them; where it only loads data or draws a plot, "
        "nothing is lost. `python -m lib2to3 -w FILE` mends Python 2 syntax.",
    ),
)
