"""Queues of Python between threads and processes: what is taken out is one of the values that were put in."""

from __future__ import annotations

from functools import reduce

from converter.analysis.call import Call, Handler
from converter.analysis.python.joins import join
from converter.analysis.values import Constant, Host, Sequence, Typed, Value, needed

MODULES = ("queue", "Queue", "multiprocessing", "six.moves.queue")
CLASSES = ("Queue", "LifoQueue", "SimpleQueue", "JoinableQueue")
HELD, AWAITED = "held", "awaited"  # what was put in; what was taken out before anything was


def _queue(call: Call) -> Value:
    made = call.typed("HostQueue")
    made.state.update({name: Sequence([], mutable=True) for name in (HELD, AWAITED)})
    return made


def _put(call: Call) -> Value:
    held, item = _state(call, HELD), call.get(0, "item", "obj")
    if item is not None and item not in held.elements:
        held.elements.append(item)
        for taken in _state(call, AWAITED).elements if not isinstance(item, Constant) else ():
            if isinstance(taken, Host) and taken.uid not in needed([item]):
                taken.either = (*taken.either, item)
    return Constant(None)


def _get(call: Call) -> Value:
    """One of the values that were put in so far; what ends a queue, such as None, is none of them.

    A worker that is begun before anything is put in waits for it: it gets what is put in later.
    """
    items = [item for item in _state(call, HELD).elements if not isinstance(item, Constant)]
    if items:
        return reduce(join, items)
    taken = Host(call.values(), "get", call.node)
    _state(call, AWAITED).elements.append(taken)
    return taken


def _state(call: Call, name: str) -> Sequence:
    assert isinstance(call.receiver, Typed)
    state = call.receiver.state[name]
    assert isinstance(state, Sequence)
    return state


CALLS: dict[str, Handler] = {
    **dict.fromkeys((f"{module}.{name}" for module in MODULES for name in CLASSES), _queue),
    **dict.fromkeys(("HostQueue.put", "HostQueue.put_nowait"), _put),
    **dict.fromkeys(("HostQueue.get", "HostQueue.get_nowait"), _get),
}
