"""Names that a script gives to its tensors in the graph."""

from __future__ import annotations

import ast

from converter.analysis.traits import Trait, has
from converter.analysis.values import Tensor
from converter.planner.region.region import Region


def op_name(region: Region, value: Tensor) -> str:
    """The name that the script gave to a tensor, scopes included, for the merged one to carry."""
    node = value.node
    if not isinstance(node, ast.Call) or has(value.op, Trait.NAMES_NO_OUTPUT) or value.site is None:
        return ""
    around = next(s.scopes for s in value.site.chain() if s.stmt in region.block.index)
    scopes = value.scopes[len(around) :]
    for keyword in node.keywords:
        if keyword.arg == "name" and isinstance(keyword.value, ast.Constant) and isinstance(keyword.value.value, str):
            return "/".join([*scopes, keyword.value.value]) if "?" not in scopes and "" not in scopes else ""
    return ""
