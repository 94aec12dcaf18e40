"""As many examples as a batch has are set aside for the validation or the test."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator, Set

from converter.analysis.frames import Access
from converter.analysis.values import Host, Number, Origin, Sequence, grows_with, needed
from converter.diagnostics import Diagnostic
from converter.planner.batch_size.streams import is_share
from converter.planner.cases import Placed
from converter.planner.checking import check
from converter.planner.wording import finding

CODES = ("TMG395",)

SPLITS = ("sklearn.model_selection.train_test_split", "sklearn.cross_validation.train_test_split")


@check(Placed, batch="per-gpu")
def set_aside(case: Placed) -> Iterator[Diagnostic]:
    """Calls that split the examples after as many as a batch has."""
    found: dict[ast.AST, None] = {
        node: None
        for (_, node), value in case.facts.results.items()
        if isinstance(value, Host)
        and value.call in SPLITS
        and node is value.node
        and any(grows_with(given, case.size.scaled) for given in value.inputs)
    }
    found.update((node, None) for node in _cut_off(case))
    for node in found:
        yield finding(case.facts, node, "TMG395")


Bound = tuple[object, ...]


def _cut_off(case: Placed) -> Iterator[ast.AST]:
    """Slices of data at the place of a batch size, outside of loops, where both what is cut off and the rest are used.

    Says so once for a statement.
    """
    heads: dict[Bound, Access] = {}
    rests: dict[Bound, list[Access]] = defaultdict(list)
    for access in case.facts.accesses:
        cut = None if access.write else _cut(access, case.size.scaled)
        if cut is not None:
            bound, is_head = cut
            if is_head:
                heads.setdefault(bound, access)
            else:
                rests[bound].append(access)
    pairs = [(head, rest) for bound, head in heads.items() for rest in rests.get(bound, ())]
    if not pairs:
        return
    used, evaluated = _fed(case)
    told: set[ast.AST] = set()
    for head, rest in pairs:
        parts = {head.value.uid, rest.value.uid}
        if (parts <= used or parts & evaluated) and head.site.stmt not in told:
            told.add(head.site.stmt)
            yield head.node


def _cut(access: Access, scaled: frozenset[Origin]) -> tuple[Bound, bool] | None:
    """What data is cut at, and whether a slice takes what stands before that place; None for any other access."""
    if not isinstance(access.node, ast.Subscript) or not isinstance(access.value, (Host, Sequence)):
        return None
    holder, key = access.value.inputs[-2:] if len(access.value.inputs) > 1 else (None, None)
    node = access.node.slice
    if isinstance(node, ast.Tuple) and node.elts and isinstance(key, Sequence) and key.elements:
        node, key = node.elts[0], key.elements[0]
    if not isinstance(node, ast.Slice) or not isinstance(key, Host) or len(key.inputs) != 1 or node.step is not None:
        return None
    at, written = key.inputs[0], node.lower or node.upper
    if not isinstance(at, Number) or not at.factors() & scaled or is_share(at, set(scaled)):
        return None
    if holder is None or written is None or any(isinstance(s.stmt, (ast.For, ast.While)) for s in access.site.chain()):
        return None
    place = ast.dump(written) if at.value is None else at.value
    return (holder.uid, at.factors() & scaled, place), node.upper is not None


def _fed(case: Placed) -> tuple[Set[int], Set[int]]:
    """What is behind what all runs are fed, and all data sets; and what is behind what is fed where nothing trains."""
    facts = case.facts
    trained = {step.result.uid for step in case.steps}
    evaluated = needed(v for run in facts.runs if not run.computes(trained) for _, v in run.feeds)
    held = (v for made in facts.inputs for v in made.inputs)
    return needed([*held, *(v for run in facts.runs for _, v in run.feeds)]).keys(), evaluated.keys()
