"""Names that a script gives to its tensors in the graph."""

from __future__ import annotations

import ast

from converter.analysis.values import Tensor
from converter.planner.region.region import Region

NAME_THEIR_VARIABLES = ("layers.", "contrib.", "keras.", "losses.")  # `name` is not the output's there


def op_name(region: Region, value: Tensor) -> str:
    """The name that the script gave to a tensor, scopes included, for the merged one to carry."""
    node = value.node
    if not isinstance(node, ast.Call) or value.op.startswith(NAME_THEIR_VARIABLES) or value.site is None:
        return ""
    around = next(s.scopes for s in value.site.chain() if s.stmt in region.block.index)
    scopes = value.scopes[len(around) :]
    for keyword in node.keywords:
        if keyword.arg == "name" and isinstance(keyword.value, ast.Constant) and isinstance(keyword.value.value, str):
            return "/".join([*scopes, keyword.value.value]) if "?" not in scopes and "" not in scopes else ""
    return ""
