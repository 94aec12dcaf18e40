"""Hooks of a monitored session: TensorFlow calls their methods around each run, and they may feed it and fetch more.

Which methods are called when, and how feeds and fetches are put together: _HookedSession of
tensorflow/python/training/monitored_session.py, and session_run_hook.py beside it (1.15).
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from converter.analysis.call import Call, Handler
from converter.analysis.effects import EffectKind
from converter.analysis.rows import makes, nothing, table
from converter.analysis.traits import Trait, has
from converter.analysis.values import (
    Class,
    Constant,
    Host,
    Instance,
    Mapping,
    Record,
    Sequence,
    Symbol,
    Typed,
    Value,
    is_none,
)

if TYPE_CHECKING:
    from converter.analysis.walk import Walk

HOOKS = "hooks"  # of a session's state: the hooks that it was given
FIELDS = ("fetches", "feed_dict", "options")

# Where the hooks stand among the arguments.
OF_SESSIONS = {
    "train.MonitoredTrainingSession": ((4, "hooks"), (5, "chief_only_hooks")),
    "train.MonitoredSession": ((1, "hooks"),),
    "train.SingularMonitoredSession": ((0, "hooks"),),
    "contrib.training.train": ((5, "hooks"), (6, "chief_only_hooks")),
}


def hooked(call: Call, session: Typed) -> Typed:
    """A session with the hooks that it is given, after their `begin` and `after_create_session`."""
    given = [call.get(position, name) for position, name in OF_SESSIONS.get(call.name, ())]
    hooks = [hook for value in given if not is_none(value) and value is not None for hook in _each(value)]
    if hooks:
        session.state[HOOKS] = Sequence(hooks)
    for hook in _own(hooks):
        _method(call.walk, hook, "begin", [], call.node)
    for hook in _own(hooks):
        _method(call.walk, hook, "after_create_session", [unhooked(session), Host()], call.node)
    return session


def unhooked(session: Value) -> Value:
    """The session below a monitored one: what runs in it does not pass through the hooks."""
    if not isinstance(session, Typed) or HOOKS not in session.state:
        return session
    return Typed(session.kind, session.name, session.args, session.kwargs, session.node)


def asked_by_hooks(
    walk: Walk, session: Value | None, fetches: Iterable[Value], node: ast.Call
) -> tuple[list[tuple[Value, Value]], list[tuple[Instance, Value]]]:
    """What the hooks of a session add to a run: the feeds, and the fetches of each hook of the script."""
    feeds: list[tuple[Value, Value]] = []
    asked: list[tuple[Instance, Value]] = []
    for hook in hooks_of(session):
        if isinstance(hook, Typed) and has(hook.name, Trait.FEEDS_BY_FUNCTION):
            feeds += _pairs(walk, hook, _of_function(walk, hook, node))
        elif isinstance(hook, Instance) and hook.cls is not None and hook.cls.find("before_run") is not None:
            context = _context(session, fetches, node)
            answer = _method(walk, hook, "before_run", [context], node)
            if isinstance(answer, Record) and answer.fields == FIELDS:
                asked.append((hook, answer.elements[0]))
                feeds += _pairs(walk, hook, answer.elements[1])
            elif not is_none(answer):
                _not_seen(walk, hook)
        elif not _feeds_nothing(hook):
            _not_seen(walk, hook)
    return feeds, asked


def tell_hooks(walk: Walk, session: Value | None, asked: list[tuple[Instance, Value]], node: ast.Call) -> None:
    """Calls the `after_run` of the hooks, with what they had asked for."""
    fetched = {hook.uid: fetches for hook, fetches in asked}
    for hook in _own(hooks_of(session)):
        values = Typed("SessionRunValues", "train.SessionRunValues", [], {}, node)
        fetches = fetched.get(hook.uid)
        values.state["results"] = Constant(None) if fetches is None else Host([fetches], "run", node)
        _method(walk, hook, "after_run", [_context(session, [], node), values], node)


def end_hooks(walk: Walk, session: Value, node: ast.AST) -> None:
    """Calls the `end` of the hooks, when the session is left."""
    for hook in _own(hooks_of(session)):
        _method(walk, hook, "end", [unhooked(session)], node)


def hooks_of(session: Value | None) -> list[Value]:
    """The hooks that a session was given."""
    held = session.state.get(HOOKS) if isinstance(session, Typed) else None
    return held.elements if isinstance(held, Sequence) else []


def _each(hooks: Value) -> Iterator[Value]:
    if isinstance(hooks, Sequence):
        for hook in hooks.elements:
            yield from _each(hook)
    else:
        yield hooks


def _own(hooks: Iterable[Value]) -> Iterator[Instance]:
    """The hooks whose classes are the script's."""
    return (hook for hook in hooks if isinstance(hook, Instance))


def _method(walk: Walk, hook: Instance, name: str, args: list[Value], node: ast.AST) -> Value | None:
    from converter.analysis.python.calling import call_method

    return call_method(walk, hook, name, args, node)


def _context(session: Value | None, fetches: Iterable[Value], node: ast.Call) -> Typed:
    """The context of a run: its session is the one below the hooks."""
    context = Typed("SessionRunContext", "train.SessionRunContext", [], {}, node)
    if session is not None:
        context.state["session"] = unhooked(session)
    context.state["original_args"] = Record(FIELDS, [Sequence(fetches), Constant(None), Constant(None)])
    return context


def _of_function(walk: Walk, hook: Typed, node: ast.Call) -> Value:
    """What a FeedFnHook's function returns."""
    from converter.analysis.python.calling import call_value

    function = hook.args[0] if hook.args else hook.kwargs.get("feed_fn")
    return call_value(walk, function, [], {}, node) if function is not None else Host()


def _pairs(walk: Walk, hook: Value, feed: Value) -> list[tuple[Value, Value]]:
    if isinstance(feed, Mapping):
        return feed.pairs
    if not is_none(feed):
        _not_seen(walk, hook)
    return []


def _feeds_nothing(hook: Value) -> bool:
    """Whether a hook is known to feed nothing: one of TensorFlow's, or of a class that inherits from these alone."""
    if isinstance(hook, Instance):
        bases = [base for cls in hook.cls.lineage() for base in cls.bases] if hook.cls is not None else [Host()]
        return all(isinstance(base, Class) or _is_plain(base) for base in bases)
    return has(getattr(hook, "name", "") or getattr(hook, "op", ""), Trait.FEEDS_NOTHING)


def _is_plain(base: Value) -> bool:
    """Whether a class of a library feeds nothing."""
    return isinstance(base, Symbol) and (has(base.name, Trait.FEEDS_NOTHING) or base.name == "object")


def _not_seen(walk: Walk, hook: Value) -> None:
    """Notes a hook that may feed what is not seen, at its class or where it is made."""
    cls = hook.cls if isinstance(hook, Instance) else None
    here = walk.site.stmt if walk.site is not None else walk.facts.tree
    node = cls.node if cls is not None else getattr(hook, "node", None) or here
    walk.effect(EffectKind.UNSEEN_HOOK, cls.name if cls is not None else "", hook, node)


def _run_args(call: Call) -> Value:
    """What a hook asks for in front of a run; a named tuple."""
    given = (call.get(at, name) for at, name in enumerate(FIELDS))
    return Record(FIELDS, [value if value is not None else Constant(None) for value in given])


TRAITS: dict[Trait, str] = {
    Trait.ASKED_BY_HOOK: "train.SessionRunArgs",
    Trait.SAYS_TO_STOP: "should_stop",
    Trait.ASKS_TO_STOP: "request_stop",
    Trait.ENDS_AT_STEP: "train.StopAtStepHook",
    Trait.FEEDS_BY_FUNCTION: "train.FeedFnHook",
    Trait.FEEDS_NOTHING: (
        "train.CheckpointSaverHook train.FinalOpsHook train.GlobalStepWaiterHook train.LoggingTensorHook "
        "train.NanTensorHook train.ProfilerHook train.SessionRunHook train.StepCounterHook train.StopAtStepHook "
        "train.SummarySaverHook"
    ),
}

# Arguments that count training steps (tensorflow/python/training/basic_session_run_hooks.py, 1.15).
STEP_NUMBERS = {
    "train.StopAtStepHook": ((0, "num_steps"), (1, "last_step")),
    "train.CheckpointSaverHook": ((2, "save_steps"),),
    "train.SummarySaverHook": ((0, "save_steps"),),
    "train.LoggingTensorHook": ((1, "every_n_iter"),),
    "train.StepCounterHook": ((0, "every_n_steps"),),
    "train.ProfilerHook": ((0, "save_steps"),),
}

CALLS: dict[str, Handler] = table(
    ("train.SessionRunArgs", _run_args),
    ("train.FeedFnHook", makes("FeedFnHook")),
    ("SessionRunContext.request_stop", nothing),
)
