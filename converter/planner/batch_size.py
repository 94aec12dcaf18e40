"""Follows the batch size from its uses to its definition, so that the host loads a global batch."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from converter.analysis.batch import named_batch
from converter.analysis.facts import Facts, RunCall, TrainStep
from converter.analysis.frames import Access
from converter.analysis.values import Host, Input, Mapping, Number, Origin, Sequence, Value
from converter.diagnostics import Diagnostic
from converter.plan import Insert, Replace
from converter.planner.region import Region, refuse
from converter.planner.text import Text
from converter.planner.trail import needed


@dataclass(frozen=True)
class BatchSize:
    """Where the batch size is defined, and what to change there.

    unscaled: spellings of places that keep the size of one tower (flags, scaled where they are used).
    """

    origins: frozenset[Origin]
    replaces: tuple[Replace, ...]
    inserts: tuple[Insert, ...]
    unscaled: frozenset[str]
    warnings: tuple[Diagnostic, ...]


def find_batch_size(
    facts: Facts, region: Region, steps: list[TrainStep], text: Text, num_gpus: str, per_gpu: bool
) -> BatchSize:
    origins, sliced = _origins(facts, region, steps)
    warnings: list[Diagnostic] = []
    if not origins and sliced:
        run = sliced[0]
        warnings.append(Diagnostic(
            "TMG303", facts.path, run.call.lineno, run.call.col_offset + 1,
            "the size of the batches that are fed here was not found: each step goes on taking as many examples as before, shared among the towers",
            "name the batch size batch_size where it is defined", "warning"))  # fmt: skip
    replaces: list[Replace] = []
    unscaled: set[str] = set()
    if per_gpu:
        for origin in sorted(origins, key=lambda o: (o.line, getattr(o.node, "col_offset", 0))):
            if origin.key[0] == "literal":
                replaces.append(_scaled(text, facts.tree, origin.node, num_gpus))
            else:
                replaces += _scaled_reads(facts, region, origin, text, num_gpus, unscaled)
    return BatchSize(frozenset(origins), tuple(replaces), (), frozenset(unscaled), tuple(warnings))


def _scaled(text: Text, tree: ast.AST, node: ast.AST, num_gpus: str) -> Replace:
    bare = f"{text.of(node)} * {num_gpus}"
    return Replace(text.start(node), text.end(node), bare if _stands_alone(tree, node) else f"({bare})", "TMG110")


def _stands_alone(tree: ast.AST, node: ast.AST) -> bool:
    """Whether a product in a node's place needs no parentheses."""
    for parent in ast.walk(tree):
        if any(child is node for child in ast.iter_child_nodes(parent)):
            return not isinstance(parent, (ast.BinOp, ast.UnaryOp, ast.Attribute, ast.Subscript, ast.Compare, ast.BoolOp))
    return False


def _scaled_reads(
    facts: Facts, region: Region, origin: Origin, text: Text, num_gpus: str, unscaled: set[str]
) -> list[Replace]:
    """A flag holds what the user gave for one tower; the host's uses of it are scaled one by one."""
    inside: set[ast.AST] = set()
    outside: dict[ast.AST, Access] = {}
    for access in facts.accesses:
        if access.write or not isinstance(access.value, Number) or access.place.key != origin.key[-1]:
            continue
        if access.place.kind != "attr" or access.value.origins != frozenset((origin,)):
            continue
        if region.in_tower(access.site):
            inside.add(access.node)
        else:
            outside.setdefault(access.node, access)
    for node in outside:
        if node in inside:
            raise refuse(facts, node, "TMG212", "this batch size is read both by the towers and by code outside of them",
                         "pass the batch size to the function as an argument")  # fmt: skip
    for node in (*inside, *outside):
        unscaled.add(text.of(node))
    return [_scaled(text, facts.tree, node, num_gpus) for node in outside if _counts(facts.tree, node)]


def _counts(tree: ast.AST, node: ast.AST) -> bool:
    """Whether a read is a use as a number and not, say, a line of a log."""
    for parent in ast.walk(tree):
        if isinstance(parent, ast.Call) and getattr(parent.func, "id", "") == "print" and node in ast.walk(parent):
            return False
    return True


# -- where the batches come from -------------------------------------------------------------------


def _origins(facts: Facts, region: Region, steps: list[TrainStep]) -> tuple[set[Origin], list[RunCall]]:
    """The numbers that batches are made with, and the runs whose batches could not be followed."""
    origins: set[Origin] = set()
    for value, _, _ in facts.batch_sizes:
        if isinstance(value, Number):
            origins |= _base(facts, value)
    trained = {s.result.uid for s in steps}
    unknown: list[RunCall] = []
    for run in facts.runs:
        if not any(uid in trained for uid in needed(run.fetches)):
            continue
        found: set[Origin] = set()
        whole = True
        for key, value in run.feeds:
            if isinstance(key, Input) and key in region.inputs:
                found |= _fed(facts, value)
                whole &= _is_whole(value)
        origins |= found
        if not found and not whole and not origins:
            unknown.append(run)
    return origins, unknown


def _base(facts: Facts, number: Number) -> set[Origin]:
    named = {o for o in number.linear if named_batch(facts.names_of(o))}
    return named or (set(number.linear) if len(number.linear) == 1 else set())


def _fed(facts: Facts, value: Value) -> set[Origin]:
    """Numbers named as batch sizes behind a fed value; failing that, those given to a next_batch."""
    behind = needed([value])
    numbers = [v for v in behind.values() if isinstance(v, Number)]
    origins = {o for n in numbers for o in n.origins}
    named = {o for o in origins if named_batch(facts.names_of(o) | ({o.name} if o.name else set()))}
    if named:
        return named
    asked: set[Origin] = set()
    for host in behind.values():
        if isinstance(host, Host) and "batch" in host.call.rpartition(".")[2].lower():
            first = next((v for v in host.inputs if isinstance(v, Number)), None)
            if first is not None:
                asked |= set(first.linear) if len(first.linear) == 1 else set()
    return asked


def _is_whole(value: Value) -> bool:
    """Whether a fed value is a whole data set: no slice, call or loop stands behind it."""
    if isinstance(value, Host):
        if value.call in ("slice", "[]", "item") or "batch" in value.call.lower():
            return False
        return all(_is_whole(v) for v in value.inputs if not isinstance(v, (Mapping, Sequence)))
    return True
