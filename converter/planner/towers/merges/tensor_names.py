"""Names that a script gives to its tensors in the graph."""

from __future__ import annotations

import ast

from converter.analysis.flow.joined import choices
from converter.analysis.traits import Trait, has
from converter.analysis.values import Tensor
from converter.planner.region.region import Region


def op_name(region: Region, value: Tensor) -> str:
    """The name that the script gave to a tensor, scopes included, for the merged one to carry; "" for none.

    Where branches choose between tensors, the name that all of them have.
    """
    names = {_name_of(region, one) for one in choices(value)}
    return names.pop() if len(names) == 1 else ""


def _name_of(region: Region, value: Tensor) -> str:
    node, depth = value.node, region.depth_of(value)
    if not isinstance(node, ast.Call) or has(value.op, Trait.NAMES_NO_OUTPUT) or depth is None:
        return ""
    scopes = value.scopes[depth:]
    for keyword in node.keywords:
        if keyword.arg == "name" and isinstance(keyword.value, ast.Constant) and isinstance(keyword.value.value, str):
            return "/".join([*scopes, keyword.value.value]) if "?" not in scopes and "" not in scopes else ""
    return ""
