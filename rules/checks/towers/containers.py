"""Values of the towers are kept in a container that is not merged."""

from __future__ import annotations

from converter.planner.found import Found
from converter.planner.wording import Words

WORDS = {
    Found.DIFFERENT_ROWS: Words(
        "TMG208",
        "{name} holds tensors with different numbers of rows",
        "give each tensor that is read after the loss a name of its own",
    ),
    Found.FORM_NOT_MERGED: Words(
        "TMG208",
        "{name} holds values of the towers in a form that is not merged",
        "give each tensor that is read after the loss a name of its own",
    ),
    Found.KEYED_BY_GRAPH_NAMES: Words(
        "TMG208",
        "{name} has the graph's names of tensors for keys, and these begin with the tower's scope in each tower",
        "use keys that do not come from the graph, such as the names of the layers",
    ),
}
