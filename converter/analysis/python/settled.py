"""Functions whose calls have shown nothing again and again: from then on a further call is not followed.

Metrics of texts, printing and file names take most of the statements of some programs, and touch no tensor. What such
a call gives then depends on all that it is given, in a way that is not known.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from math import inf
from typing import TYPE_CHECKING

from converter.analysis.effects import EffectKind
from converter.analysis.values import (
    Constant,
    Frame,
    Function,
    Host,
    Instance,
    Mapping,
    Number,
    Sequence,
    Tensor,
    Value,
    closure,
)
from converter.dataclass import dataclass

if TYPE_CHECKING:
    import ast

    from converter.analysis.facts import Effect
    from converter.analysis.walk import Walk

SHOWN = 40  # calls in a row that are followed, and show nothing
MOST = 200  # parts of a value that are looked at: a larger one is not taken for plain
DATA = (Host, Number, Constant, Sequence, Mapping)
LEFT = (EffectKind.RECURSION, EffectKind.REPETITION)  # calls that were not followed any more


@dataclass(frozen=True)
class Before:
    """How far a walk had come when a call began; made: the uid of the value that was made last."""

    made: int
    graph: int
    runs: int
    accesses: int
    effects: int
    changes: int


def before(walk: Walk, function: Function) -> Before | None:
    """How far a walk has come; None where a function has shown something before, or has settled."""
    facts, (shown, _) = walk.facts, walk.repeats.settled.get(function.node, (0, None))
    if not 0 <= shown < SHOWN:
        return None
    return Before(
        made=Constant(None).uid,
        graph=walk.graph_clock,
        runs=len(facts.runs),
        accesses=len(facts.accesses),
        effects=len(facts.effects),
        changes=len(walk.undo_log),
    )


def result_of_settled(walk: Walk, function: Function, given: list[Value], node: ast.AST) -> Value | None:
    """What a further call of a function gives that has settled; None for any other call."""
    shown, result = walk.repeats.settled.get(function.node, (0, None))
    if shown < SHOWN or result is None or not all(map(_is_plain, given)):
        return None
    return _unknown(result, (function, *given), function.name, node)


def note_call(walk: Walk, frame: Frame, function: Function, given: list[Value], result: Value, since: Before) -> None:
    """Notes what a call has shown: a function that ever shows something does not settle."""
    shown, known = walk.repeats.settled.get(function.node, (0, None))
    if function.node in walk.repeats.circles and _is_plain(result, since.made):
        result = Host((function, *given))  # of functions that call themselves the results have no form in common
    form = _form(result)
    alike = form is not None and (known is None or _form(known) == form)
    quiet = alike and all(map(_is_plain, (*given, result))) and _changes_nothing(walk, frame, since)
    walk.repeats.settled[function.node] = (shown + 1, result) if quiet else (-1, None)


def _changes_nothing(walk: Walk, frame: Frame, since: Before) -> bool:
    """Whether a call has built nothing, run nothing, and changed or read nothing of the model outside of itself."""
    facts = walk.facts
    if walk.graph_clock != since.graph or len(facts.runs) != since.runs:
        return False
    changed = (change.holder for change in walk.undo_log[since.changes :])
    if any(one.uid < (frame.uid if isinstance(one, Frame) else since.made) for one in changed):
        return False
    if not all(_is_of_data(effect, since.made) for effect in facts.effects[since.effects :]):
        return False
    accesses = facts.accesses[since.accesses :]
    written = ((a.place.owner, frame.uid if a.place.kind == "name" else since.made) for a in accesses if a.write)
    return not any(owner < first for owner, first in written) and not any(
        isinstance(a.value, Tensor) or a.value.roots for a in accesses
    )


def _is_of_data(effect: Effect, since: int) -> bool:
    """Whether an effect is a call that is not followed, or changes an object that is younger than `since`."""
    if effect.kind is EffectKind.MUTATION:
        return effect.value is not None and effect.value.uid > since
    plain = effect.value is not None and not effect.value.roots
    return effect.kind is EffectKind.UNFOLLOWED or (effect.kind in LEFT and plain)


def _is_plain(value: Value, since: float = inf) -> bool:
    """Whether a value is data, numbers or texts of Python, with nothing of the model in it.

    since: objects that are younger are data, too.
    """
    behind = list(islice(closure([value], _parts), MOST + 1))
    return len(behind) <= MOST and not any(
        v.roots or not (isinstance(v, DATA) or (isinstance(v, Instance) and v.uid > since)) for v in behind
    )


def _parts(value: Value) -> Iterable[Value]:
    return value.attributes.values() if isinstance(value, Instance) else value.parts()


def _form(result: Value) -> object:
    """What the results of all calls have in common; None for one that more has to be known of than that."""
    if isinstance(result, Constant):
        return Constant, type(result.value), result.value
    if isinstance(result, (Host, Number)):
        return type(result)
    if not isinstance(result, Sequence) or result.mutable or result.many or result.unmeasured:
        return None
    forms = tuple(map(_form, result.elements))
    return None if None in forms else forms


def _unknown(result: Value, given: Iterable[Value], name: str, node: ast.AST) -> Value:
    """A value of this form of which no more is known than what it depends on."""
    if isinstance(result, Constant):
        return Constant(result.value)
    if isinstance(result, Sequence):
        return Sequence([_unknown(element, given, name, node) for element in result.elements])
    return Host(given, name, node)
