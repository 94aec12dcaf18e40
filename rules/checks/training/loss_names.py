"""The loss has no name where the towers are built."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from converter.analysis.effects import EffectKind
from converter.analysis.facts import Facts
from converter.analysis.inputs.graph_names import name_expression, pattern_of
from converter.analysis.traits import Trait, has
from converter.analysis.values import Constant, Host, Input, Mapping, Sequence, Tensor, Value, tensors_in
from converter.diagnostics import Diagnostic
from converter.planner.cases import Leaving, Placed
from converter.planner.checking import check
from converter.planner.questions.batch_values import depends_on_batch
from converter.planner.questions.uncalled import is_uncalled
from converter.planner.region.names_in_graph import names_taken
from converter.planner.wording import finding

CODES = ("TMG209",)


WEIGHTS = {"kernel", "bias", "weights", "biases", "gamma", "beta", "moving_mean", "moving_variance"}  # of layers


@check(Placed)
def looked_up_by_name(case: Placed) -> Iterator[Diagnostic]:
    """Refuse tensors looked up by a name that the model gives: towers change the name."""
    facts = case.facts
    asked = [(name, node) for name, node in _names_looked_up(facts) if not _is_variable(facts, name)]
    asked = [(name, node) for name, node in asked if not is_uncalled(facts, node)]
    taken = [name for region in case.regions for name in names_taken(facts, region)] if asked else []
    for name, node in asked:
        first = re.split("[/:]", name.lower())[0]
        if any(_may_be(first, other) for other in taken):
            shown = f"{name!r}" if name != "*" else "a name that is not known"
            yield finding(facts, node, "TMG209 looked_up", shown=shown)


@check(Leaving)
def read_by_the_loss_alone(case: Leaving) -> Iterator[Diagnostic]:
    """Refuse if a loss computed after the loop would read a value that exists only per tower."""
    facts, region = case.facts, case.region
    merged = {t.uid for part, _ in case.wanted.values() for t in (part.value, *tensors_in(part.value))}
    told = set[ast.AST]()
    for value in region.needed.values() if region.forward else ():
        if isinstance(value, (Input, Sequence, Mapping)) or region.in_tower(value.site) or _is_choice(value):
            continue  # of a list or a choice counts what is read of it, where it is read
        node = value.node if isinstance(value, Tensor) else None
        for tensor in _read(value):
            made = depends_on_batch(tensor) and region.in_tower(tensor.site)
            at = node or tensor.node or facts.tree
            if made and tensor.uid not in merged and at not in told:
                told.add(at)
                yield finding(facts, at, "TMG209 read_by_loss")


def _is_choice(value: Value) -> bool:
    """Whether a value is one of two that branches give, which no statement binds to a name of its own."""
    return isinstance(value, Tensor) and value.op == "join" and value.site is None


def _read(value: Value) -> Iterator[Tensor]:
    """The tensors that a value is computed from, and in place of a choice those that it is one of."""
    todo, seen = [*value.inputs, *value.parts()], {value.uid}
    while todo:
        for tensor in tensors_in(todo.pop()):
            if tensor.uid not in seen:
                seen.add(tensor.uid)
                yield tensor
                todo += tensor.inputs if _is_choice(tensor) else ()


@check(Placed)
def layers_named_by_name_scopes(case: Placed) -> Iterator[Diagnostic]:
    """Layers that a dict of collected layers holds under their name scopes: each tower has its own in front of these.

    Layers with variables are collected under their variable scopes, which all towers share (layers.py of
    contrib/layers, 1.15).
    """
    facts = case.facts
    names: set[object] = set()
    for tensor in facts.tensors:
        if has(tensor.op, Trait.COLLECTED_BY_NAME_SCOPE):
            given = {v.value for v in tensor.inputs if isinstance(v, Constant) and isinstance(v.value, str)}
            names |= given or {tensor.op.rpartition(".")[2].title().replace("_", "")}  # max_pool2d: MaxPool2D
    for access in facts.accesses if names else ():
        key, holder = access.place.key, access.place.holder
        layers = isinstance(holder, Mapping) and any(
            isinstance(k, Host) and has(k.call, Trait.NAMES_LAYERS) for k, _ in holder.pairs
        )
        inside = layers and any(region.in_tower(holder.site) for region in case.regions if holder is not None)
        last = re.sub(r"_\d+$", "", key.strip("'\"").rpartition("/")[2])
        if inside and not access.write and last in names:
            yield finding(facts, access.node, "TMG209 layer_of_name_scope", key=key)


def _names_looked_up(facts: Facts) -> Iterator[tuple[str, ast.AST]]:
    """Names that are looked up and that the analysis did not find, and those asked of graphs that it does not know."""
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
