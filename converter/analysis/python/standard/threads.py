"""Threads and processes: what they run is followed where they are made."""

from __future__ import annotations

from converter.analysis.call import Call, Handler
from converter.analysis.facts import Threaded
from converter.analysis.python.calling import SPREAD, call_method, call_value, call_with_unknowns, unknown
from converter.analysis.python.containers import iterate
from converter.analysis.values import (
    Bound,
    Class,
    Constant,
    Function,
    Instance,
    Mapping,
    Partial,
    Sequence,
    Symbol,
    Value,
)

THREADS = (("threading", "Thread"), ("multiprocessing", "Process"))


def _thread(call: Call) -> Value:
    """`threading.Thread(group, target, name, args, kwargs)`, and a process of the same arguments."""
    return _runs(call, call.get(1, "target"), call.get(3, "args"), call.get(4, "kwargs"))


def _start_new(call: Call) -> Value:
    """`_thread.start_new_thread(function, args, kwargs)`."""
    return _runs(call, call.get(0, "function"), call.get(1, "args"), call.get(2, "kwargs"))


def _start(call: Call) -> Value:
    """`worker.start()` of a class that inherits from Thread or Process: it calls `run`."""
    worker = call.receiver
    assert isinstance(worker, Instance)
    if worker.cls is None or not _is_thread(worker.cls):
        return unknown(call.walk, Bound(worker, "start"), call.args, call.kwargs, call.node, "")
    begin = call.walk.clock
    call_method(call.walk, worker, "run", [], call.node)
    assert call.walk.site is not None
    call.walk.facts.threads.append(Threaded(call=call.node, site=call.walk.site, begin=begin, end=call.walk.clock))
    return Constant(None)


def _is_thread(cls: Class) -> bool:
    bases = (base for one in cls.lineage() for base in one.bases)
    return any(isinstance(base, Symbol) and (base.library, base.name) in THREADS for base in bases)


def _runs(call: Call, target: Value | None, args: Value | None, kwargs: Value | None) -> Value:
    walk, begin = call.walk, call.walk.clock
    thread = call.typed("Thread")
    if target is None or not _is_followed(target):
        return unknown(walk, thread, call.args, call.kwargs, call.node, call.name)
    known = (args is None or isinstance(args, Sequence)) and (kwargs is None or isinstance(kwargs, Mapping))
    if known:
        given = list(iterate(args, None)) if isinstance(args, Sequence) else []
        pairs = kwargs.pairs if isinstance(kwargs, Mapping) else []
        named = {str(key.value): value for key, value in pairs if isinstance(key, Constant)}
        call_value(walk, target, given, named, call.node)
    elif isinstance(target, Function):
        call_with_unknowns(walk, target)
    else:
        call_value(walk, target, [], {SPREAD: args or Constant(None)}, call.node)
    assert walk.site is not None
    walk.facts.threads.append(Threaded(call=call.node, site=walk.site, begin=begin, end=walk.clock))
    return unknown(walk, thread, [], {}, call.node, call.name)


def _is_followed(target: Value) -> bool:
    """Whether a function of the script is known to be what a thread runs."""
    if isinstance(target, Partial):
        return _is_followed(target.function)
    return isinstance(target, Function) or (isinstance(target, Bound) and target.function is not None)


CALLS: dict[str, Handler] = {
    **dict.fromkeys(("threading.Thread", "multiprocessing.Process"), _thread),
    "Instance.start": _start,
    "_thread.start_new_thread": _start_new,
    "thread.start_new_thread": _start_new,
}
