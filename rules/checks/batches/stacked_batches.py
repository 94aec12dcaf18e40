"""Concatenated batches are combined with an input that has one row for each example."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from converter.analysis.arrays.rows import rows_of
from converter.analysis.facts import Facts, RunCall
from converter.analysis.reasons import Why
from converter.analysis.traits import Trait, has
from converter.analysis.values import Host, Input, Mapping, Sequence, Tensor, Value, needed
from converter.diagnostics import Diagnostic
from converter.planner.cases import Placed, Selected
from converter.planner.checking import check
from converter.planner.questions.batch_statistics import norms_behind
from converter.planner.region.executions import StepGroup
from converter.planner.region.inputs import uncut_values
from converter.planner.wording import finding

CODES = ("TMG215",)
CONCATENATES = ("numpy.concatenate", "numpy.vstack", "numpy.row_stack")


@check(Selected)
def stacked_batches(case: Selected) -> Iterator[Diagnostic]:
    """Several batches stacked on top of each other that meet an input with one row for each example."""
    keys = {Why.CONFLICT: "TMG215 batches", Why.PIECES: "TMG215 pieces"}
    yield from uncut_values(case.facts, case.steps, keys)


@check(Placed)
def fed_in_parts(case: Placed) -> Iterator[Diagnostic]:
    """Batches of several kinds that are put behind each other before they are fed, and losses that are no means.

    A mean over the examples is the same for any share of them. A choice of some, a maximum or a batch norm is not: the
    first tower would see the first kinds alone, and the last one the last.
    """
    for group in case.groups:
        if not any(_needs_whole_batches(case.facts, group)):
            continue
        for run in case.facts.runs_of(group.steps):
            if _is_fed_in_parts(case, run, group):
                yield finding(case.facts, run.call, "TMG215 fed_in_parts")
                return


def _needs_whole_batches(facts: Facts, group: StepGroup) -> Iterator[bool]:
    """For each step, whether its loss depends on which examples are in a batch together."""
    for step in group.steps if not group.region.exact else ():
        batch = step.loss.batch
        yield batch.kind == "opaque" or batch.how == "other" or any(norms_behind(facts, step.loss))


def _is_fed_in_parts(case: Placed, run: RunCall, group: StepGroup) -> bool:
    for value in (value for key, value in run.feeds if isinstance(key, Input) and key in group.region.inputs):
        if any(map(_is_of_kinds, _fetched(value))):
            return True
        if isinstance(value, Host) and value.call in CONCATENATES and _are_batches(case, run, value):
            return True
    return False


def _is_of_kinds(tensor: Tensor) -> bool:
    """Whether a tensor has the rows of several batches that the graph concatenates."""
    if tensor.batch.kind != "example" or tensor.batch.packed != "minor":
        return False
    return any(isinstance(v, Tensor) and has(v.op, Trait.CONCATENATES) for v in needed([tensor]).values())


def _are_batches(case: Placed, run: RunCall, joined: Host) -> bool:
    """Whether NumPy concatenates several written parts along the rows, of which more than one has the batch size's."""
    node = joined.node
    along = next((k.value for k in node.keywords if k.arg == "axis"), None) if isinstance(node, ast.Call) else None
    along = along or (node.args[1] if isinstance(node, ast.Call) and len(node.args) > 1 else None)
    if along is not None and not (isinstance(along, ast.Constant) and along.value == 0):
        return False
    given = next((v for v in joined.inputs if isinstance(v, Sequence) and not v.many), None)
    rows = [rows_of(case.facts, part, run.site) for part in given.elements] if given is not None else []
    return sum(number is not None and bool(number.factors() & case.size.origins) for number in rows) > 1


def _fetched(value: Value) -> Iterator[Tensor]:
    """The tensors that were fetched to compute a value of Python."""
    ahead, seen = [value], set[int]()
    while ahead:
        one = ahead.pop()
        if isinstance(one, Tensor):
            yield one
        elif one.uid not in seen and isinstance(one, (Host, Sequence, Mapping)):
            seen.add(one.uid)
            ahead += [*one.inputs, *one.parts()]
