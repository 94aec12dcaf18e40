"""Names that a script gives to its tensors in the graph."""

from __future__ import annotations

import ast

from converter.analysis.traits import Trait, has
from converter.analysis.values import Tensor
from converter.planner.region.region import Region


def op_name(region: Region, value: Tensor) -> str:
    """The name that the script gave to a tensor, scopes included, for the merged one to carry."""
    node, depth = value.node, region.depth_of(value)
    if not isinstance(node, ast.Call) or has(value.op, Trait.NAMES_NO_OUTPUT) or depth is None:
        return ""
    scopes = value.scopes[depth:]
    for keyword in node.keywords:
        if keyword.arg == "name" and isinstance(keyword.value, ast.Constant) and isinstance(keyword.value.value, str):
            return "/".join([*scopes, keyword.value.value]) if "?" not in scopes and "" not in scopes else ""
    return ""
