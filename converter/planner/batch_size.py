"""Follows the batch size from its uses to its definition, so that the host loads a global batch."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from converter.analysis.batch import named_batch
from converter.analysis.facts import Facts, RunCall, TrainStep
from converter.analysis.frames import Access
from converter.analysis.values import Host, Input, Mapping, Number, Origin, Sequence, Value, needed
from converter.diagnostics import Diagnostic
from converter.plan import Insert, Replace
from converter.planner.region import Region, refuse
from converter.planner.text import Text


@dataclass(frozen=True)
class BatchSize:
    """The numbers that mean the batch size.

    fixed: it cannot be scaled, as the whole data set is fed in each step, or as its size comes from
        somewhere that was not found: the conversion then keeps the total.
    """

    origins: frozenset[Origin]
    fixed: bool
    warnings: tuple[Diagnostic, ...]


@dataclass(frozen=True)
class Scaling:
    """What to change where the batch size is defined, for the host to load N times as much.

    unscaled: spellings of places that keep the size of one tower (flags, scaled where they are used).
    """

    replaces: tuple[Replace, ...] = ()
    unscaled: frozenset[str] = frozenset()
    inserts: tuple[Insert, ...] = ()


def find_batch_size(facts: Facts, inputs: tuple[Input, ...], steps: list[TrainStep]) -> BatchSize:
    """The numbers behind the batches that are fed in training, with warnings where there are none to scale."""
    origins, unknown, whole = _origins(facts, inputs, steps)
    computed = [o for o in origins if o.key[0] == "computed"]
    warnings: list[Diagnostic] = []
    call = whole[0].call if whole else steps[0].call
    if unknown and not origins:
        call = unknown[0].call
        warnings.append(_kept(facts, call, "TMG303", "the size of the batches that are fed here was not found",
                              "name the batch size batch_size where it is defined"))  # fmt: skip
    elif not origins or computed:
        warnings.append(_kept(
            facts, call, "TMG304", "the whole data set is fed in each step",
            "feed batches of the size of one tower times the number of GPUs to scale up"))  # fmt: skip
    for origin in origins:
        if origin.key[0] == "parameter":
            warnings.append(Diagnostic(
                "TMG305", facts.path, origin.line, 1,
                f"the batch size comes from the caller: {origin.name} is multiplied here, "
                "and what the caller does with it is not",
                "let callers hand over the batch size of one tower, and load their own batches N times as large",
                "warning"))  # fmt: skip
    return BatchSize(frozenset(origins), bool(not origins or computed), tuple(warnings))


def _kept(facts: Facts, node: ast.AST, code: str, reason: str, hint: str) -> Diagnostic:
    message = f"{reason}: a step goes on taking as many examples as before, shared among the towers (--batch total)"
    return Diagnostic(code, facts.path, node.lineno, node.col_offset + 1, message, hint, "warning")  # type: ignore[attr-defined]


def scale(facts: Facts, regions: list[Region], size: BatchSize, text: Text, num_gpus: str) -> Scaling:
    """Multiplies the batch size by the number of GPUs where it is defined."""
    replaces: list[Replace] = []
    unscaled: set[str] = set()
    inserts: list[Insert] = []
    for origin in sorted(size.origins, key=lambda o: (o.line, getattr(o.node, "col_offset", 0))):
        if origin.key[0] != "flag" and origin.key[1]:
            raise refuse(facts, origin.node, "TMG221", "the batch size is defined in this other file of the project",
                         "define it in the script that is converted")  # fmt: skip
        if origin.key[0] == "literal":
            replaces.append(_scaled(text, facts.tree, origin.node, num_gpus))
        elif origin.key[0] == "parameter":
            inserts.append(_scaled_parameter(origin, text, num_gpus))
        else:
            replaces += _scaled_reads(facts, regions, origin, text, num_gpus, unscaled)
    return Scaling(tuple(replaces), frozenset(unscaled), tuple(inserts))


def _scaled_parameter(origin: Origin, text: Text, num_gpus: str) -> Insert:
    """A batch size that a caller in another file hands over is scaled where it arrives."""
    body = origin.node.body  # type: ignore[attr-defined]
    first = body[0]
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and len(body) > 1:
        first = body[1]
    return Insert(text.anchor(first), (f"{origin.name} *= {num_gpus}",), "top", "TMG110")


def _scaled(text: Text, tree: ast.AST, node: ast.AST, num_gpus: str) -> Replace:
    product = isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult)
    plain = product or isinstance(node, (ast.Constant, ast.Name, ast.Attribute, ast.Call, ast.Subscript))
    bare = f"{text.of(node)} * {num_gpus}" if plain else f"({text.of(node)}) * {num_gpus}"
    return Replace(text.start(node), text.end(node), bare if _stands_alone(tree, node) else f"({bare})", "TMG110")


def _stands_alone(tree: ast.AST, node: ast.AST) -> bool:
    """Whether a product in a node's place needs no parentheses."""
    for parent in ast.walk(tree):
        if any(child is node for child in ast.iter_child_nodes(parent)):
            return not isinstance(
                parent, (ast.BinOp, ast.UnaryOp, ast.Attribute, ast.Subscript, ast.Compare, ast.BoolOp)
            )
    return False


def _scaled_reads(
    facts: Facts, regions: list[Region], origin: Origin, text: Text, num_gpus: str, unscaled: set[str]
) -> list[Replace]:
    """A flag holds what the user gave for one tower; the host's uses of it are scaled one by one."""
    inside: set[ast.AST] = set()
    outside: dict[ast.AST, Access] = {}
    for access in facts.accesses:
        if access.write or not isinstance(access.value, Number) or access.place.key != origin.key[-1]:
            continue
        if access.place.kind != "attr" or access.value.origins != frozenset((origin,)):
            continue
        if any(region.in_tower(access.site) for region in regions):
            inside.add(access.node)
        else:
            outside.setdefault(access.node, access)
    for node in outside:
        if node in inside:
            raise refuse(facts, node, "TMG212",
                         "this batch size is read both by the towers and by code outside of them",
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


def _origins(
    facts: Facts, inputs: tuple[Input, ...], steps: list[TrainStep]
) -> tuple[set[Origin], list[RunCall], list[RunCall]]:
    """The numbers that batches are made with; the runs whose batches could not be followed, or are everything."""
    origins: set[Origin] = set()
    for size, _, _ in facts.batch_sizes:
        if isinstance(size, Number):
            origins |= _base(facts, size)
    trained = {s.result.uid for s in steps}
    unknown: list[RunCall] = []
    everything: list[RunCall] = []
    for run in facts.runs:
        if not any(uid in trained for uid in needed(run.fetches)):
            continue
        found: set[Origin] = set()
        whole = True
        for key, value in run.feeds:
            if isinstance(key, Input) and key in inputs:
                found |= _fed(facts, value)
                whole &= _is_whole(value)
        origins |= found
        if not found:
            (everything if whole else unknown).append(run)
    return origins, unknown, everything


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
