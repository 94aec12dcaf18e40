"""The loss needs a call that is not followed."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from converter.analysis.effects import READS_COLLECTION, EffectKind
from converter.analysis.facts import Facts, behind_losses
from converter.analysis.python.inheriting import library_bases
from converter.analysis.reasons import Why
from converter.analysis.tensors.algebra import may_be_of_batch
from converter.analysis.values import COLLECTION, Bound, Host, Instance, Tensor, Value, needed
from converter.diagnostics import Diagnostic
from converter.planner.cases import Selected
from converter.planner.checking import check
from converter.planner.questions.drawn_batches import drawn_in
from converter.planner.questions.imported import (
    CHOSEN,
    PICKED,
    TRACE,
    brought_by,
    looked_up_by,
    package_of,
    unbound_name,
    unseen_module,
)
from converter.planner.questions.outside_calls import is_foreign
from converter.planner.region.inputs import uncut_values
from converter.planner.wording import finding
from converter.planner.writing.findings import error, line_seen_from

CODES = ("TMG241",)


def _hint(chosen: ast.AST | None, looked_up: ast.AST | None, package: str, unbound: str) -> str:
    if chosen is not None or looked_up is not None:
        return CHOSEN if chosen is not None else PICKED
    if unbound:
        return f"import {unbound}, which nothing binds in this file; or {TRACE}"
    if package:
        beside = f"if {package} is a part of this project, put it beside the script, or its folder into sys.path"
        return f"{beside}; otherwise {TRACE}"
    return TRACE


@check(Selected, unless=("TMG237",))
def needs_an_unfollowed_call(case: Selected) -> Iterator[Diagnostic]:
    """Calls that are not followed and that a loss needs: they may make variables, or mix examples."""
    facts = case.facts
    unfollowed = set(facts.unfollowed)
    told: set[ast.AST] = set()
    for value in behind_losses(case.steps).values():
        if isinstance(value, Bound) and value.function is None and isinstance(value.receiver, Instance):
            yield from _set_unseen(facts, value)
        if isinstance(value, Host) and may_be_of_batch(value) and value.node in unfollowed and is_foreign(value):
            if (loop := _loop_around(case, value)) is not None and loop.node is not None:
                if loop.node not in told:
                    yield finding(facts, loop.node, "TMG241 loop", lost=_lost_in(facts, loop))
                told.add(loop.node)
                continue
            package, derived = package_of(facts, value.node), _derived_from(value)
            chosen, looked_up = brought_by(value), looked_up_by(value)
            goes = f" into the package {package}" if package else f" of {derived}" if derived else ""
            if chosen is not None:
                goes = f" into the module that line {chosen.lineno} imports, by a name which only a run tells,"
            elif looked_up is not None and looked_up is not value.node:
                goes = f" into what line {looked_up.lineno} looks up, by a name which only a run tells,"
            elif looked_up is not None:
                yield finding(facts, looked_up, "TMG241 looked_up")
                continue
            yield error(
                facts,
                value.node,
                "TMG241",
                f"the loss needs what this call{goes} makes of a batch, and it is not followed",
                unseen.hint
                if (unseen := unseen_module(facts, value))
                else _hint(chosen, looked_up, package, unbound_name(facts, value)),
            )


def _derived_from(called: Host) -> str:
    """The class of a library that the class of the object which is called here is derived from, in words; "" for none.

    What such an object does when it is called is told by code of the library, around the class's own methods.
    """
    source = called.source
    bases = library_bases(source.cls) if isinstance(source, Instance) and source.cls is not None else []
    return f"an object whose class is derived from {bases[0].library}.{bases[0].name}" if bases else ""


def _loop_around(case: Selected, called: Host) -> Tensor | None:
    """The loop of the graph whose body calls this on what the loop keeps, where that is not followed."""
    source: Value = called
    while source.source is not None:
        source = source.source
    if not isinstance(source, Host) or source.call != "parameter":
        return None
    behind = behind_losses(case.steps).values()
    loops = (v for v in behind if isinstance(v, Tensor) and v.batch.why is Why.LOOP and v.op == v.batch.about)
    return next((loop for loop in loops if called.uid in needed(loop.inputs)), None)


def _lost_in(facts: Facts, loop: Tensor) -> str:
    """That a loop is not followed, and what was done to the batch where it was lost first."""
    lost = [v for v in needed(loop.inputs).values() if isinstance(v, Tensor) and v.batch.kind == "opaque"]
    first = min((v for v in lost if v.batch.why is not Why.LOOP), key=lambda v: v.uid, default=None)
    if first is None or first.node is None:
        return f"tf.{loop.op} makes of a batch, and it is not followed"
    place = line_seen_from(facts, loop.node or first.node, first.node)
    return f"tf.{loop.op} makes of a batch, which is not followed from {place} on: {first.batch.reason}"


@check(Selected)
def may_add_the_losses(case: Selected) -> Iterator[Diagnostic]:
    """Calls that get a batch and may add the losses of a collection of which no other loss with a batch is seen."""
    facts, behind = case.facts, behind_losses(case.unbatched)
    tensors = [value for value in behind.values() if isinstance(value, Tensor)]
    asked = {e.node for e in facts.effects if e.kind in READS_COLLECTION}
    if not any(tensor.node in asked or tensor.op.startswith(COLLECTION) for tensor in tensors):
        return
    given = {effect.node for effect in facts.effects_of(EffectKind.ESCAPE)}
    for effect in facts.effects_of(EffectKind.UNFOLLOWED):
        if effect.node in given and effect.value is not None and is_foreign(effect.value):
            yield finding(facts, effect.node, "TMG241 adds_a_loss")


@check(Selected)
def needs_noise_from_an_unfollowed_call(case: Selected) -> Iterator[Diagnostic]:
    """Losses without a batch whose batch may be the noise that a call which is not followed takes in."""
    unfollowed: set[ast.AST] = set(case.facts.unfollowed)
    for step in case.unbatched:
        values = step.behind
        drawn = set(drawn_in(values))
        for value in values.values():
            if not isinstance(value, Host) or value.node not in unfollowed:
                continue
            if drawn & set(needed(value.inputs).values()):
                yield finding(case.facts, value.node, "TMG241 noise")
                return


@check(Selected)
def fed_in_what_is_not_followed(case: Selected) -> Iterator[Diagnostic]:
    """Placeholders that a training step feeds together, in what a call that is not followed makes of them.

    Towers would have to cut each of them, and nothing tells where the model reads it.
    """
    unfollowed: set[ast.AST] = set(case.facts.unfollowed)
    keys = [key for run in case.facts.runs_of(case.steps) for key, _ in run.feeds if isinstance(key, Host)]
    for node in dict.fromkeys(key.node for key in keys if key.roots and key.node in unfollowed):
        if node is not None:
            yield finding(case.facts, node, "TMG241 fed_together")


@check(Selected)
def made_by_unseen_code(case: Selected) -> Iterator[Diagnostic]:
    """Batches that come from code which is not seen."""
    yield from uncut_values(case.facts, case.steps, {Why.UNSEEN: "TMG241 unseen_code"})


def _set_unseen(facts: Facts, attribute: Bound) -> Iterator[Diagnostic]:
    """An attribute that nothing sets may be set by a method of its object that gets a batch and is not followed."""
    for effect in facts.effects:
        result = effect.value if effect.kind is EffectKind.UNFOLLOWED else None
        method = result.inputs[0] if result is not None and result.roots else None
        if isinstance(method, Bound) and method.receiver is attribute.receiver:
            yield finding(facts, effect.node, "TMG241 attribute", name=attribute.name)
