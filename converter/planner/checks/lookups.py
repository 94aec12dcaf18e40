"""Names in the graph that a script writes down, and those that the towers take from it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from converter.analysis.effects import EffectKind
from converter.analysis.facts import Facts
from converter.analysis.inputs.graph_names import name_expression, pattern_of
from converter.analysis.traits import Trait, has
from converter.planner.region.names_in_graph import names_taken
from converter.planner.region.region import Region
from converter.planner.writing.findings import refuse

WEIGHTS = {"kernel", "bias", "weights", "biases", "gamma", "beta", "moving_mean", "moving_variance"}  # of layers


def check_lookups(facts: Facts, regions: list[Region]) -> None:
    """A tensor that is asked for by a name that the model may have given: it has another name in each tower."""
    asked = [(name, node) for name, node in _asked(facts) if not _is_variable(facts, name)]
    taken = [name for region in regions for name in names_taken(facts, region)] if asked else []
    for name, node in asked:
        first = re.split("[/:]", name.lower())[0]
        if any(_may_be(first, other) for other in taken):
            shown = f"{name!r}" if name != "*" else "a name that is not known"
            raise refuse(facts, node, "TMG209",
                         f"what is looked up here ({shown}) may be a part of the model, which has another name in "
                         "each tower",
                         "keep the tensor in a variable where it is made, and read that")  # fmt: skip


def _asked(facts: Facts) -> Iterator[tuple[str, ast.AST]]:
    """Names that are looked up: what the walk did not find, and what is asked of graphs that it does not know."""
    known = {node for _, _, node in facts.named}
    for effect in facts.effects:
        if effect.kind is EffectKind.LOOKUP:
            known.add(effect.node)
            yield effect.name, effect.node
    for node in facts.nodes(ast.Call):
        if isinstance(node.func, ast.Attribute) and has(node.func.attr, Trait.ASKS_BY_NAME) and node not in known:
            yield pattern_of(node.args[0] if node.args else None), node


def _is_variable(facts: Facts, asked: str) -> bool:
    """Whether a name ends as those of variables do: they keep their names."""
    last = asked.partition(":")[0].rpartition("/")[2]
    return last in WEIGHTS or ("*" not in last and any(_may_be(last, name) for name in _given_to_variables(facts)))


def _given_to_variables(facts: Facts) -> Iterator[str]:
    return (pattern for v in facts.variables if (pattern := pattern_of(name_expression(v))) != "*")


def _may_be(one: str, two: str) -> bool:
    """Whether two patterns may stand for the same name but for a number behind."""
    if "*" not in one + two:
        return re.sub(r"_\d+$", "", one) == re.sub(r"_\d+$", "", two)
    a, b = one.partition("*")[0], two.partition("*")[0]
    return (a.startswith(b) or "*" in one) and (b.startswith(a) or "*" in two) and (a.startswith(b) or b.startswith(a))
