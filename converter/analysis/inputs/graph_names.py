"""The names that tensors get in the graph."""

from __future__ import annotations

import ast
import re

from converter.analysis.traits import Argument, positions
from converter.analysis.values import Constant, Tensor, Typed


def given_name(tensor: Tensor) -> str:
    """The name that the script gives to a tensor, without the scopes around it; a train op has its optimizer's."""
    constant = name_expression(tensor)
    if constant is None and tensor.op == "train op":
        return next((_default_name(v) for v in tensor.inputs if isinstance(v, Typed) and v.kind == "Optimizer"), "")
    return constant.value if isinstance(constant, ast.Constant) and isinstance(constant.value, str) else ""


def _default_name(optimizer: Typed) -> str:
    """The name of an optimizer's train op, such as `Adam` (get_name, tensorflow/python/training/optimizer.py, 1.15)."""
    name = optimizer.kwargs.get("name", Constant(optimizer.name.rpartition(".")[2].removesuffix("Optimizer")))
    return name.value if isinstance(name, Constant) and isinstance(name.value, str) else ""


def name_expression(tensor: Tensor) -> ast.expr | None:
    """The expression of the `name` argument of a tensor; None if the script gives none."""
    call = tensor.node
    if not isinstance(call, ast.Call):
        return None
    position = positions(Argument.NAME).get(tensor.op, len(call.args))
    names = [k.value for k in call.keywords if k.arg == "name"] + call.args[position : position + 1]
    return names[0] if names else None


def pattern_of(name: ast.expr | None) -> str:
    """A name with `*` for the parts that are not literal: `mean_*` for `'mean_{}'.format(i)`."""
    if isinstance(name, ast.Constant) and isinstance(name.value, str):
        return name.value
    if isinstance(name, ast.BinOp) and isinstance(name.op, ast.Add):
        return pattern_of(name.left) + pattern_of(name.right)
    if isinstance(name, ast.BinOp) and isinstance(name.op, ast.Mod):
        return re.sub(r"%[-.\d]*[a-z]", "*", pattern_of(name.left))
    if isinstance(name, ast.Call) and isinstance(name.func, ast.Attribute) and name.func.attr == "format":
        return re.sub(r"\{[^}]*\}", "*", pattern_of(name.func.value))
    if isinstance(name, ast.JoinedStr):
        return "".join(pattern_of(part) for part in name.values)
    return "*"
