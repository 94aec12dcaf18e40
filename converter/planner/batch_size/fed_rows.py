"""The batch size behind what is fed: the numbers that its rows are counted by."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from converter.analysis.arrays.rows import rows_of
from converter.analysis.facts import Facts, RunCall
from converter.analysis.tensors.size_names import named_batch
from converter.analysis.values import Host, Input, Number, Origin, Sequence, Value, needed

Fed = list[tuple[Input, Value]]  # inputs of a run with what they are fed
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def fed_sizes(facts: Facts, run: RunCall, fed: Fed) -> set[Origin]:
    """The numbers that are batch sizes of what a run is fed: those that its rows are seen to be counted by come first.

    Failing that, numbers behind it that are named as batch sizes, or are given to a function that speaks of batches.
    """
    counted = [rows_of(facts, value, run.site) for key, value in fed if key.batch.axis == 0]
    exact = {o for n in counted if n is not None for o in base_of(facts, n) if named_batch(facts.names_of(o))}
    found: set[Origin] = set()
    for _, value in fed:
        behind = _named_behind(facts, value)
        found |= behind & exact or behind
    return found or _written(facts, run, fed)


def base_of(facts: Facts, number: Number) -> set[Origin]:
    """Of the numbers that a number is a multiple of, the batch size; nothing where it may be any of several."""
    named = {o for o in number.linear if named_batch(facts.names_of(o))}
    return named or (set(number.linear) if len(number.linear) == 1 else set())


def _named_behind(facts: Facts, value: Value) -> set[Origin]:
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


def _written(facts: Facts, run: RunCall, fed: Fed) -> set[Origin]:
    """Numbers without a batch size's name that all rows of a run are made by, in each step anew; none where unsure."""
    found: set[Origin] = set()
    without: list[Value] = []
    for key, value in fed:
        anew = key.batch.axis == 0 and is_kept(facts, value, run) is False
        number = rows_of(facts, value, run.site) if anew else None
        if number is None or len(number.linear) != 1:
            without.append(value)
        else:
            found |= number.linear
    followed = all(
        any(isinstance(v, Number) and v.origins & found for v in needed([value]).values()) for value in without
    )
    known = all(o.key[0] in ("literal", "flag") for o in found)
    return found if followed and known and all(_is_alone(facts, run, o, found) for o in found) else set()


def _is_alone(facts: Facts, run: RunCall, origin: Origin, found: set[Origin]) -> bool:
    """Whether a number that is written out counts the rows wherever the training loop, or its function, has it."""
    node = origin.node
    if not isinstance(node, ast.Constant):
        return True
    around = list(_around(facts, node))
    if not facts.names_of(origin) and any(isinstance(a, ast.Slice) for a in around):
        return False  # what the loop counts by is another number
    loop = next((s.stmt for s in run.site.chain() if isinstance(s.stmt, (ast.For, ast.While))), None)
    within = [loop, next((a for a in around if isinstance(a, FUNCTIONS)), None)]
    same = {n for w in within if w is not None for n in ast.walk(w)
            if isinstance(n, ast.Constant) and n.value == node.value and type(n.value) is type(node.value)}
    return same <= {o.node for o in found}


def _around(facts: Facts, node: ast.AST) -> Iterator[ast.AST]:
    parents = facts.walked[facts.tree_of(facts.path_of(node))].parents
    while (above := parents.get(node)) is not None:
        yield above
        node = above


def is_kept(facts: Facts, value: Value, run: RunCall) -> bool | None:
    """Whether what is fed was made before the loop of training steps, and so is the same in each; None: not known."""
    loops = [s.stmt for s in run.site.chain() if isinstance(s.stmt, (ast.For, ast.While))]
    if not loops or value.site is None or not isinstance(value, (Host, Sequence)):
        return None
    held = {a.place for a in facts.accesses if a.write and a.value is value}
    anew = (a.site for a in facts.accesses if a.write and a.place in held and isinstance(value, Sequence))
    return not any(s.stmt in loops for site in (value.site, *anew) for s in site.chain())
