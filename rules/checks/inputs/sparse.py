"""Nothing tells where the examples are in a sparse batch."""

from __future__ import annotations

from collections.abc import Iterator

from converter.analysis.effects import EffectKind
from converter.analysis.facts import behind_losses
from converter.analysis.tensors.sparse import has_rows, sparse_input
from converter.analysis.traits import Trait, has
from converter.analysis.values import Host, Input, Tensor, needed
from converter.diagnostics import Diagnostic
from converter.planner.cases import Placed
from converter.planner.checking import check
from converter.planner.region.prepared_batches import uncast
from converter.planner.wording import finding

CODES = ("TMG225",)


@check(Placed)
def sparse_without_rows(case: Placed) -> Iterator[Diagnostic]:
    """Sparse batches whose rows are not known to be the examples."""
    facts = case.facts
    inputs = {i.uid for region in case.regions for i in region.inputs}
    for effect in facts.effects:
        value = effect.value
        if effect.kind is not EffectKind.SPARSE_PLACEHOLDER or not isinstance(value, Input) or value.uid not in inputs:
            continue
        if not has_rows(value, facts.tensors):
            yield finding(facts, effect.node, "TMG225 sparse_without_rows")


@check(Placed)
def sparse_fed_unseen(case: Placed) -> Iterator[Diagnostic]:
    """Sparse placeholders without a shape behind a loss, beside batches, that no run is seen to feed a known value."""
    facts = case.facts
    effects = list(facts.effects_of(EffectKind.SPARSE_PLACEHOLDER))
    if not effects or not any(region.inputs for region in case.regions):
        return
    behind = behind_losses(case.steps)
    fed = {key.uid for run in facts.runs for key, value in run.feeds if not isinstance(value, Host)}
    for effect in effects:
        value = effect.value
        if not isinstance(value, Input) or value.uid not in behind or value.uid in fed:
            continue
        if value.batch.kind == "free" and value.dims is None and value.label not in case.options.shared:
            options = f", or say so: --shared {value.label}" if value.label else ""
            yield finding(facts, effect.node, "TMG225 sparse_fed_unseen", options=options)


@check(Placed)
def fed_in_parts(case: Placed) -> Iterator[Diagnostic]:
    """Sparse tensors that the towers make of indices, or of a shape, that are fed: no rows of the examples.

    Three placeholders that make one, and serve nothing else, are cut with it.
    """
    facts = case.facts
    inputs = {i.uid for region in case.regions for i in region.inputs}
    made = {i.uid: i for region in case.regions for i in region.inputs if sparse_input(i) and i.inputs}
    parts = {part.uid for one in made.values() for part in one.inputs}
    for tensor in facts.tensors if parts else ():
        if tensor.uid not in made and tensor.node is not None and parts & needed(tensor.inputs).keys():
            yield finding(facts, tensor.node, "TMG225 read_apart")
            break  # those behind it read what it makes
    for tensor in facts.tensors if inputs else ():
        if not has(tensor.op, Trait.MAKES_SPARSE) or tensor.node is None or not tensor.inputs:
            continue
        given = [uncast(part) for part in (tensor.inputs[0], tensor.inputs[-1]) if isinstance(part, Tensor)]
        if any(part.uid in inputs for part in given):
            yield finding(facts, tensor.node, "TMG225 fed_in_parts")
