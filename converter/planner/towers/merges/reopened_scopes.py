"""Name scopes that are opened before the loop and again after it: the second time they must keep their name."""

from __future__ import annotations

import ast
import re

from converter.analysis.effects import EffectKind
from converter.analysis.facts import Effect, Facts
from converter.analysis.inputs.graph_names import given_name, pattern_of
from converter.analysis.values import Tensor, stands_for_unseen
from converter.plan import Insert, Scope
from converter.planner.region.block import BEHIND
from converter.planner.region.names_in_graph import names_taken
from converter.planner.region.region import Region
from converter.planner.towers.border.site import LoopSite
from converter.planner.towers.border.traffic import Traffic
from converter.planner.writing.aliases import Aliases
from converter.planner.writing.source_text import SourceText

MODEL = "TMG127"  # the rule of models that other scripts build on one GPU


def reopened(site: LoopSite, traffic: Traffic, aliases: Aliases) -> tuple[tuple[Scope, ...], list[Insert], Traffic]:
    """The with blocks that open a scope again behind the loop, and lines that keep the scope's name for it."""
    kept, traffic = _kept(site, traffic, aliases)
    if not site.options.one_gpu:
        return kept, [], traffic
    once, lines, traffic = _opened_once(site, traffic, aliases)
    return (*kept, *once), lines, traffic


def _kept(site: LoopSite, traffic: Traffic, aliases: Aliases) -> tuple[tuple[Scope, ...], Traffic]:
    """The with blocks that are opened in front of the loop too, for those that open a scope of names.

    `tf.name_scope("loss")` names a new scope each time ("loss_1"), and so does `tf.variable_scope`
    for operations; `tf.Variable` names variables by it, optimizers those of their own (Adam's beta1_power),
    and checkpoints hold these (tensorflow/python/training/optimizer.py, 1.15). In the towers a scope has a
    name of its own; it must be the first one's again behind the loop, and where there are no towers.
    """
    facts, region = site.facts, site.region
    kinds = {e.node: e.name for e in facts.effects_of(EffectKind.SCOPE)}
    found = []
    for index in sorted(region.splits):
        around = region.block.body[index]
        assert isinstance(around, ast.With)
        named = [item.context_expr for item in around.items if item.context_expr in kinds]
        if named and (around in region.behind or site.options.one_gpu and _is_named(named[-1])):
            tensorflow = aliases.tensorflow(facts.path_of(around))
            scope, traffic = _scope(site, around, kinds, traffic, tensorflow)
            found.append(scope)
    return tuple(found), traffic


def _opened_once(site: LoopSite, traffic: Traffic, aliases: Aliases) -> tuple[tuple[Scope, ...], list[Insert], Traffic]:
    """The with blocks of the loop that are opened again behind it, where the model may be built without towers.

    There the loop opens no scope of its own, and what stands behind it goes on in the scope of the model, as in the
    script: an optimizer's variables keep their names. Beside towers the block takes the name at the top for itself.
    """
    facts, region, text = site.facts, site.region, site.text
    kinds = {e.node: e.name for e in facts.effects_of(EffectKind.SCOPE)}
    front = {region.block.body[index] for index in region.splits}
    scopes, inserts = [], []
    for around, behind in region.behind.items():
        if not isinstance(around, ast.With) or around in front:
            continue
        first = next((stmt for stmt in around.body if stmt not in behind or stmt in region.behind), None)
        named = [item.context_expr for item in around.items if item.context_expr in kinds]
        if first is None or not named or not _is_named(named[-1]):
            continue
        tensorflow = aliases.tensorflow(facts.path_of(around))
        name, traffic = traffic.fresh("scope", "model_scope")
        inserts.append(Insert(text.anchor(first), (f"{name} = {_current(tensorflow)}",), "before", MODEL))
        again = _again(named[-1], kinds[named[-1]], name, text, tensorflow)
        scopes.append(Scope(text.start(around), "", "", _items(around, named[-1], again, text)))
    return tuple(scopes), inserts, traffic


def _items(around: ast.With, opened: ast.expr, again: list[str], text: SourceText) -> str:
    """The items of a with block, with `again` in place of the one that opens its scope."""
    items = [[*again] if item.context_expr is opened else [text.of(item.context_expr)] for item in around.items]
    for item, parts in zip(around.items, items, strict=True):
        parts[0] += f" as {text.of(item.optional_vars)}" if item.optional_vars is not None else ""
    return ", ".join(part for parts in items for part in parts)


def _is_named(opened: ast.expr) -> bool:
    """Whether a scope is opened by a name that the script writes, so that it is one of its own."""
    name = opened.args[0] if isinstance(opened, ast.Call) and opened.args else None
    return isinstance(name, (ast.JoinedStr, ast.BinOp)) or isinstance(name, ast.Constant) and bool(name.value)


def _again(opened: ast.expr, kind: str, name: str, text: SourceText, tensorflow: str) -> list[str]:
    """The items that open a scope, of the model's own name where there are no towers."""
    assert isinstance(opened, ast.Call)
    source = text.of(opened)
    if kind == "NameScope" and len(opened.args) == 1 and not opened.keywords:
        asked = text.of(opened.args[0])
        return [f"{text.of(opened.func)}({name} if {{alone}} else {asked})"]
    return [source, f"{tensorflow}.name_scope({name} if {{alone}} else {_current(tensorflow)})"]


def _current(tensorflow: str) -> str:
    """The name scope that a statement stands in, as `tf.name_scope` takes it to enter it again."""
    return f"{tensorflow}.get_default_graph().get_name_scope() + '/'"


def _scope(
    site: LoopSite, around: ast.With, kinds: dict[ast.AST, str], traffic: Traffic, tensorflow: str
) -> tuple[Scope, Traffic]:
    text = site.text
    keep, first, enter, within = [], [], [], ""
    for item in around.items:
        given = text.of(item.optional_vars) if item.optional_vars is not None else ""
        source = text.of(item.context_expr)
        kind = kinds.get(item.context_expr)
        if kind is None:
            keep.append(f"{source} as {given}" if given else source)
            enter.append(keep[-1])
            continue
        name, traffic = traffic.fresh("scope", "outer_scope", "whole_scope")
        if given:
            first.append(f"{name} = {given}")
        keep.append(f"{source} as {given or name}")
        again = f" as {given}" if given else ""
        whole = name if kind == "NameScope" else f"{name}.original_name_scope"
        if kind == "NameScope":
            enter.append(f"{tensorflow}.name_scope({name}){again}")
        else:
            enter.append(f"{tensorflow}.variable_scope({name}){again}")
            enter.append(f"{tensorflow}.name_scope({whole})")
        if site.options.one_gpu and _is_named(item.context_expr):
            alone = _again(item.context_expr, kind, whole, text, tensorflow)
            within = _items(around, item.context_expr, alone, text)
    return Scope(text.start(around), ", ".join(keep), "; ".join(first), ", ".join(enter), within), traffic


def asks_again(facts: Facts, region: Region) -> bool:
    """Whether a scope or a summary after the loop has a name that the model has taken at the top on one GPU.

    `tf.summary.scalar('loss', …)` after `with tf.name_scope('loss')` is loss_1 then; the towers' scope
    has the name only below the tower's (Graph.unique_name, tensorflow/python/framework/ops.py, 1.15).
    """
    outer = next((t.scopes[: region.depth_of(t)] for t in facts.tensors if region.in_tower(t.site)), ())
    above = tuple(scope.lower() for scope in outer)
    taken = {(*above, name) for name in names_taken(facts, region)}
    later: set[tuple[str, ...]] = set()
    for tensor in facts.tensors:
        inside = region.in_tower(tensor.site) or region.block.statement(tensor.site) == BEHIND
        if not inside and tensor.time > region.end:
            later |= _paths(tensor)
    read = facts.effects_of(EffectKind.GRAPH_NAME)
    return bool(taken & later) or any(_is_averaged_by_number(region, effect) for effect in read)


def _is_averaged_by_number(region: Region, effect: Effect) -> bool:
    """Whether a moving average takes its name from a tensor after the loop that TensorFlow has numbered: `Mean_1`."""
    tensor = effect.value
    if effect.name in ("name", "op") or not isinstance(tensor, Tensor) or stands_for_unseen(tensor):
        return False
    return tensor.time > region.end and not region.in_tower(tensor.site) and not given_name(tensor)


def _paths(tensor: Tensor) -> set[tuple[str, ...]]:
    """The scopes around a tensor, each with those around it, and the name that the script gives to a summary."""
    names = [name.lower() for name in tensor.scopes]
    node = tensor.node
    paths = {tuple(names[: length + 1]) for length in range(len(names))}
    if tensor.op == "summary" and isinstance(node, ast.Call) and node.args:
        given = pattern_of(node.args[0]).partition("*")[0].lower()
        paths |= {(*names, given), (*names, re.sub(r"_\d*$", "", given))}  # a number may be behind either
    return {path for path in paths if "?" not in path and "" not in path}
