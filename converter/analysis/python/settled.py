"""Functions whose calls have shown nothing again and again: from then on a further call is not followed.

Metrics of texts, printing and file names take most of the statements of some programs, and touch no tensor. What such
a call gives then depends on all that it is given, in a way that is not known.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from converter.analysis.effects import EffectKind
from converter.analysis.values import Constant, Frame, Function, Host, Mapping, Number, Sequence, Tensor, Value
from converter.dataclass import dataclass

if TYPE_CHECKING:
    import ast

    from converter.analysis.walk import Walk

SHOWN = 40  # calls in a row that are followed, and show nothing
DEPTH = 3  # of lists and dicts inside each other that are looked into


@dataclass(frozen=True)
class Before:
    """How far a walk had come when a call began."""

    graph: int
    runs: int
    accesses: int
    effects: int
    changes: int


def before(walk: Walk) -> Before:
    """How far a walk has come."""
    facts = walk.facts
    return Before(walk.graph_clock, len(facts.runs), len(facts.accesses), len(facts.effects), len(walk.undo_log))


def result_of_settled(walk: Walk, function: Function, given: list[Value], node: ast.AST) -> Value | None:
    """What a further call of a function gives that has settled; None for any other call."""
    shown, result = walk.repeats.settled.get(function.node, (0, None))
    if shown < SHOWN or result is None or not all(map(_is_plain, given)):
        return None
    return _unknown(result, (function, *given), function.name, node)


def note_call(walk: Walk, frame: Frame, function: Function, given: list[Value], result: Value, since: Before) -> None:
    """Notes what a call has shown: a function that ever shows something does not settle."""
    shown, known = walk.repeats.settled.get(function.node, (0, None))
    if shown < 0 or shown >= SHOWN:
        return
    alike = known is None or _form(known) == _form(result)
    quiet = (
        alike
        and _form(result) is not None
        and all(map(_is_plain, (*given, result)))
        and _changes_nothing(walk, frame, since)
    )
    walk.repeats.settled[function.node] = (shown + 1, result) if quiet else (-1, None)


def _changes_nothing(walk: Walk, frame: Frame, since: Before) -> bool:
    """Whether a call has built nothing, run nothing, and changed or read nothing of the model outside of itself."""
    facts = walk.facts
    if walk.graph_clock != since.graph or len(facts.runs) != since.runs:
        return False
    if any(change.holder.uid < frame.uid for change in walk.undo_log[since.changes :]):
        return False
    for effect in facts.effects[since.effects :]:
        own = effect.kind is EffectKind.MUTATION and effect.value is not None and effect.value.uid > frame.uid
        if effect.kind is not EffectKind.UNFOLLOWED and not own:
            return False
    return not any(isinstance(a.value, Tensor) or a.value.roots for a in facts.accesses[since.accesses :])


def _is_plain(value: Value, depth: int = DEPTH) -> bool:
    """Whether a value is data, numbers or texts of Python, with nothing of the model in it."""
    if value.roots:
        return False
    if isinstance(value, (Host, Number, Constant)):
        return True
    return isinstance(value, (Sequence, Mapping)) and depth > 0 and all(_is_plain(v, depth - 1) for v in value.parts())


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
