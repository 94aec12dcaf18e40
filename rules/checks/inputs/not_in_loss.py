"""An input is fed in training and is not seen to reach the loss."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import chain

from converter.analysis.effects import EffectKind
from converter.analysis.facts import Facts
from converter.analysis.values import Host, Input, Value, tensors_in
from converter.diagnostics import Diagnostic
from converter.planner.cases import Placed
from converter.planner.checking import check
from converter.planner.questions.uncalled import is_uncalled
from converter.planner.region.prepared_batches import upstream
from converter.planner.wording import finding

CODES = ("TMG222",)


# Effects after which a value is not followed.
HANDED = (EffectKind.ESCAPE, EffectKind.UNFOLLOWED, EffectKind.COLLECTION)


@check(Placed)
def does_not_reach_the_loss(case: Placed) -> Iterator[Diagnostic]:
    """Batches that are fed in training and are not seen to reach a loss: the analysis may have missed something."""
    facts = case.facts
    inputs = {i.uid for region in case.regions for i in upstream(region.inputs)}
    trained = {s.result.uid for s in case.steps}
    used: dict[int, bool] = {}  # by the uids of inputs: whether they are used elsewhere
    for run in facts.runs:
        behind = run.behind
        if not trained & set(behind):
            continue
        reached = {*behind, *(i.uid for i in upstream(v for v in behind.values() if isinstance(v, Input)))}
        found = {value.uid for key, value in run.feeds if key.uid in inputs | reached}
        for key, value in run.feeds:
            batch = isinstance(key, Input) and key.batch.kind == "example"
            missed = batch and value.uid not in found  # of several inputs that a branch chooses one of, one reaches it
            if missed and key.uid not in used:
                used[key.uid] = _only_fed(facts, key) or _used_elsewhere(facts, key)
            if missed and not used[key.uid]:
                yield finding(facts, run.call, "TMG222", name=key.label or 'an input')


def _only_fed(facts: Facts, value: Value) -> bool:
    """Whether a value is read only as a key of a feed dict, and no computation needs it."""
    reads = [access.node for access in facts.accesses_of(value) if not access.write]
    keys = {key for node in facts.nodes(ast.Dict) for key in node.keys}
    return bool(reads) and keys.issuperset(reads)


def _used_elsewhere(facts: Facts, value: Value) -> bool:
    """Whether all that is computed from an input is seen, and none of it goes into code that is not followed.

    Then the step does not need it: other runs fetch what is computed from it, as a decoder's output for a fed latent.
    """
    made: set[int] = {value.uid}
    for tensor in sorted(facts.tensors, key=lambda t: t.uid):
        if any(v.uid in made for i in tensor.inputs for v in (i, *tensors_in(i))):
            made.add(tensor.uid)
    # A name or an operation that is read matters where something is looked up that is not followed.
    kinds = {*HANDED, EffectKind.GRAPH_NAME} if any(facts.effects_of(EffectKind.LOOKUP)) else HANDED
    handed = (
        t
        for e in facts.effects
        if e.kind in kinds and e.value
        for v in (e.value, *e.value.inputs)
        for t in (v, *tensors_in(v))
    )
    kept = (*(a.value for a in facts.accesses), *facts.results.values())
    hosts = (v for v in kept if isinstance(v, Host) and v.call not in ("run", "print"))
    lost = (t for host in hosts for v in host.inputs for t in (v, *tensors_in(v)))
    seen = len(made) > 1 or _is_read_as_seen(facts, value)
    given = (v.uid for t in (*handed, *lost) for v in (t, *_known_by(t)))
    return seen and made.isdisjoint(given)


def _known_by(value: Value) -> tuple[Value, ...]:
    """What code that is given a value gets to know beside it: of a shape, the tensor; of a run's result, no tensor."""
    return () if isinstance(value, Host) and value.call == "run" else value.inputs


def _is_read_as_seen(facts: Facts, value: Value) -> bool:
    """Whether no code that may be called and is not followed reads anything by one of the names that an input has."""
    names = {access.place.key for access in facts.accesses_of(value)}
    followed = facts.accesses_by_node
    read = (n for n in facts.nodes(ast.Name) if n.id in names and isinstance(n.ctx, ast.Load))
    attributes = (n for n in facts.nodes(ast.Attribute) if n.attr in names and isinstance(n.ctx, ast.Load))
    return all(node in followed or is_uncalled(facts, node) for node in chain(read, attributes))
