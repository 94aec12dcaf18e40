"""Tensors that a script asks for by their names in the graph: `sess.run('loss:0')`, `get_tensor_by_name`."""

from __future__ import annotations

import ast
import re
from itertools import combinations
from typing import TYPE_CHECKING

from converter.analysis.effects import EffectKind
from converter.analysis.traits import Argument, positions
from converter.analysis.values import Bound, Constant, Mapping, Sequence, Tensor, Typed, Value

if TYPE_CHECKING:
    from converter.analysis.walk import Walk


def by_name(walk: Walk, text: str, node: ast.AST) -> Tensor | None:
    """The tensor or operation of a name, None where it is not known which."""
    wanted = text.partition(":")[0]
    found = [t for t in walk.facts.tensors if (name := given_name(t)) and wanted == "/".join([*t.scopes, name])]
    made = found[-1] if len({t.node for t in found}) == 1 else _made_in_one_branch(found)
    if made is None:
        walk.effect(EffectKind.LOOKUP, text, None, node)
        return None
    walk.facts.named.append((made, text, node))
    return made


def _made_in_one_branch(found: list[Tensor]) -> Tensor | None:
    """The tensor that whichever branch is taken gives a name; None where one graph may hold several of this name."""
    from converter.analysis.python.joins import join

    sites = [t.site for t in found if t.site is not None]
    apart = len(found) == len(sites) > 1 and all(one.excludes(two) for one, two in combinations(sites, 2))
    if not apart or len({(t.batch, t.rank) for t in found}) > 1:
        return None
    made: Value = found[0]
    for other in found[1:]:
        made = join(made, other)
    made.site, made.time = found[-1].site, found[-1].time  # it is no operation of its own where it is looked up
    return made if isinstance(made, Tensor) else None


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


def resolved(walk: Walk, value: Value, node: ast.AST) -> Value:
    """Fetches with tensors in place of their names, through lists and dicts; a name may be read: `x.name`."""
    if isinstance(value, Bound) and value.name == "name" and isinstance(value.receiver, Tensor):
        return value.receiver
    if isinstance(value, Constant) and isinstance(value.value, str):
        return by_name(walk, value.value, node) or value
    if isinstance(value, Sequence) and any(isinstance(v, (Bound, Constant, Sequence, Mapping)) for v in value.elements):
        return Sequence([resolved(walk, v, node) for v in value.elements], value.mutable, value.many)
    if isinstance(value, Mapping):
        return Mapping([(key, resolved(walk, inner, node)) for key, inner in value.pairs])
    return value
