"""Queues of Python between threads and processes: what is taken out is one of the values that were put in."""

from __future__ import annotations

from functools import reduce

from converter.analysis.call import Call, Handler
from converter.analysis.python.joins import join
from converter.analysis.values import Constant, Host, Sequence, Typed, Value

MODULES = ("queue", "Queue", "multiprocessing", "six.moves.queue")
CLASSES = ("Queue", "LifoQueue", "SimpleQueue", "JoinableQueue")
HELD = "held"


def _queue(call: Call) -> Value:
    made = call.typed("HostQueue")
    made.state[HELD] = Sequence([], mutable=True)
    return made


def _put(call: Call) -> Value:
    held, item = _held(call), call.get(0, "item", "obj")
    if item is not None and item not in held.elements:
        held.elements.append(item)
    return Constant(None)


def _get(call: Call) -> Value:
    """One of the values that were put in so far; what ends a queue, such as None, is none of them."""
    items = [item for item in _held(call).elements if not isinstance(item, Constant)]
    return reduce(join, items) if items else Host(call.values(), "get", call.node)


def _held(call: Call) -> Sequence:
    assert isinstance(call.receiver, Typed)
    held = call.receiver.state[HELD]
    assert isinstance(held, Sequence)
    return held


CALLS: dict[str, Handler] = {
    **dict.fromkeys((f"{module}.{name}" for module in MODULES for name in CLASSES), _queue),
    **dict.fromkeys(("HostQueue.put", "HostQueue.put_nowait"), _put),
    **dict.fromkeys(("HostQueue.get", "HostQueue.get_nowait"), _get),
}
