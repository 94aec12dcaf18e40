"""Placeholders of which each tower has its own, fed with what as many calls of the script's reader give.

A net for pictures of any size is fed one example a step: `blobs = layer.forward()`, then `{net.image: blobs['image']}`.
There is nothing to cut, but each tower may take an example of its own. That is done where the way from the call of the
reader to the feed is seen whole: the call can be made N times in a row, and nothing else sees what it gave.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from converter.analysis.facts import OWN, Decisions, Facts, RunCall, TrainStep, behind_losses
from converter.analysis.tensors.sparse import is_sparse
from converter.analysis.traits import Trait, has
from converter.analysis.values import Constant, Frame, Input, Number, Value
from converter.dataclass import dataclass
from converter.planner.own.names import FUNCTIONS, function_of, name_within, parameters, uses_of, whole_item
from converter.planner.own.repeated import can_be_repeated

Named = tuple[ast.AST, str]  # a function and one of its names


@dataclass(frozen=True)
class OwnExamples:
    """The placeholders of which each tower has its own, and what changes in the script for them.

    inputs: the calls that make them. readers: the calls that read an example. feeds: for each run that is fed what a
    reader gave, the expression of its feeds.
    """

    inputs: tuple[ast.AST, ...]
    readers: tuple[ast.Call, ...]
    feeds: tuple[ast.expr, ...]

    @property
    def decisions(self) -> Decisions:
        """What another reading of the script has to know."""
        return dict.fromkeys(self.inputs, OWN)


class _Unclear(Exception):
    """The way of an example from its reader into the graph is not seen whole."""


def own_examples(facts: Facts, steps: Sequence[TrainStep]) -> OwnExamples | None:
    """The placeholders that towers may have one by one; None where that is not clear.

    All training steps must minimise one loss: another one may be fed the same example.
    """
    runs = facts.runs_of(steps)
    if not runs or min(len({step.call for step in steps}), len({step.loss.uid for step in steps})) != 1:
        return None
    try:
        fed = [_fed(facts, run) for run in runs]
        calls = [(call, run) for one, run in zip(fed, runs, strict=True) for call in one.readers]
        if not all(can_be_repeated(facts, call, run) for call, run in calls):
            return None
        feeds = _all_feeds(facts, dict.fromkeys(name for one in fed for name in one.names))
    except _Unclear:
        return None
    inputs = {value.uid: value for one in fed for value in one.inputs}
    behind = behind_losses(steps)
    batched = [value.uid for value in behind.values() if isinstance(value, Input) and value.is_batch]
    if not any(map(has_own_shape, inputs.values())) or not all(map(_can_be_own, inputs.values())):
        return None
    if not set(batched) <= set(inputs) or not set(inputs) & set(behind):
        return None
    nodes = dict.fromkeys(value.node for value in inputs.values() if value.node is not None)
    return OwnExamples(tuple(nodes), tuple(dict.fromkeys(call for call, _ in calls)), feeds)


def has_own_shape(value: Input) -> bool:
    """Whether an input takes examples of different shapes: `[1, None, None, 3]`, or no shape at all is given."""
    return value.dims is None or (bool(value.dims) and (value.dims[0] == 1 or None in value.dims[1:]))


def _can_be_own(value: Input) -> bool:
    """Whether a tower can have another one like an input: a placeholder that must be fed."""
    return has(value.op, Trait.PLACEHOLDER) and not has(value.op, Trait.HAS_DEFAULT) and not is_sparse(value)


@dataclass(frozen=True)
class _Fed:
    """What a training run is fed by readers: the inputs, the calls that read, and the names on the way."""

    inputs: tuple[Input, ...] = ()
    readers: tuple[ast.Call, ...] = ()
    names: tuple[Named, ...] = ()


def _fed(facts: Facts, run: RunCall) -> _Fed:
    """The inputs that a training run is fed from readers; every other feed must be a setting. Raises _Unclear."""
    display = _display(facts, run)
    if display is None or run.unseen or run.handle is not None:
        raise _Unclear
    given, found = dict(run.feeds), _Fed()
    for node, value in zip(display.keys, display.values, strict=True):
        key = facts.read_or_written.get(node) if node is not None else None
        if not isinstance(key, Input) or key not in given:
            raise _Unclear
        if _is_setting(key, given[key]):
            continue
        name = name_within(value)
        if name is None:
            raise _Unclear
        read = _traced(facts, run.site.frame, name)
        found = _Fed((*found.inputs, key), (*found.readers, *read.readers), (*found.names, *read.names))
    return found


def _traced(facts: Facts, frame: Frame, node: ast.Name) -> _Fed:
    """The reader that gave a name its value, through callers, and the names that hold what it gave."""
    function = function_of(facts, node)
    if frame.node is not function:
        raise _Unclear
    if node.id not in parameters(function):
        call, targets = _read_by(facts, function, node.id)
        return _Fed(readers=(call,), names=tuple((function, name) for name in targets))
    given = _argument(frame, node.id)
    above = name_within(given) if given is not None else None
    if above is None or frame.call_site is None:
        raise _Unclear
    found = _traced(facts, frame.call_site.frame, above)
    return replace(found, names=(*found.names, (function, node.id)))


def _all_feeds(facts: Facts, names: Iterable[Named]) -> tuple[ast.expr, ...]:
    """The feeds of all runs that get an example which one of these names holds; nothing else may see it.

    Raises _Unclear where something does.
    """
    fed: dict[int, list[ast.expr]] = {}
    for run in facts.runs:
        display = _display(facts, run)
        if display is not None and run.feed_node is not None:
            fed.setdefault(id(display), []).append(run.feed_node)
    calls, todo = _frames_by_call(facts), list(names)
    done, feeds = set[Named](), dict[ast.expr, None]()
    while todo:
        if (named := todo.pop()) in done:
            continue
        done.add(named)
        for item, around in _uses(facts, *named):
            if isinstance(around, ast.Dict) and id(around) in fed:
                feeds.update(dict.fromkeys(fed[id(around)]))
            elif isinstance(around, ast.Call):
                todo += _handed_on(calls.get(around, ()), item)
            else:
                raise _Unclear
    return tuple(feeds)


def _uses(facts: Facts, function: ast.AST, name: str) -> Iterator[tuple[ast.expr, ast.AST | None]]:
    """The parts of an example that a function reads by a name, each with the dict or the call that gets it."""
    uses = uses_of(function, name)
    if name in parameters(function) and any(isinstance(use.ctx, ast.Store) for use in uses):
        raise _Unclear
    for use in (use for use in uses if isinstance(use.ctx, ast.Load)):
        if function_of(facts, use) is not function:
            raise _Unclear  # a function or a lambda inside of it reads the name
        item = whole_item(facts, use)
        around = facts.parents.get(item)
        yield item, facts.parents.get(around) if isinstance(around, ast.keyword) else around


def _handed_on(frames: Sequence[Frame], item: ast.expr) -> Iterator[Named]:
    """The parameters by which the functions that a call executes get an example."""
    if not frames:
        raise _Unclear
    for frame in frames:
        names = [name for name in parameters(frame.node) if _argument(frame, name) is item]
        if len(names) != 1:
            raise _Unclear
        yield frame.node, names[0]


def _is_setting(key: Input, value: Value) -> bool:
    """Whether each step is fed the same number or switch: all towers get it."""
    scalar = not key.dims
    return scalar and isinstance(value, (Constant, Number)) and (key.batch.kind == "free" or key.dims == ())


def _display(facts: Facts, run: RunCall) -> ast.Dict | None:
    """The dict display that a run is fed, also by a name that only this display is bound to, and nothing changes."""
    node = run.feed_node
    if isinstance(node, ast.Dict):
        return node
    if not isinstance(node, ast.Name):
        return None
    function = function_of(facts, node)
    uses = uses_of(function, node.id)
    written = [use for use in uses if not isinstance(use.ctx, ast.Load)]
    feeds = {id(one.feed_node) for one in facts.runs}
    if (
        len(written) != 1
        or node.id in parameters(function)
        or any(id(use) not in feeds or function_of(facts, use) is not function for use in uses if use not in written)
    ):
        return None
    stmt = facts.parents.get(written[0])
    alone = isinstance(stmt, ast.Assign) and stmt.targets == written
    return stmt.value if alone and isinstance(stmt, ast.Assign) and isinstance(stmt.value, ast.Dict) else None


def _read_by(facts: Facts, function: ast.AST, name: str) -> tuple[ast.Call, list[str]]:
    """The call that gives a name its value, and all names that it gives one; raises _Unclear if there is another."""
    written = [use for use in uses_of(function, name) if not isinstance(use.ctx, ast.Load)]
    stmt = facts.parents.get(written[0]) if len(written) == 1 else None
    stmt = facts.parents.get(stmt) if isinstance(stmt, (ast.Tuple, ast.List)) else stmt
    if not isinstance(stmt, ast.Assign) or len(stmt.targets) != 1 or not isinstance(stmt.value, ast.Call):
        raise _Unclear
    target = stmt.targets[0]
    names = target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]
    found = [one.id for one in names if isinstance(one, ast.Name)]
    if len(found) < len(names) or len(set(found)) < len(names):
        raise _Unclear
    for other in found:
        if sum(not isinstance(use.ctx, ast.Load) for use in uses_of(function, other)) != 1:
            raise _Unclear
    return stmt.value, found


def _frames_by_call(facts: Facts) -> Mapping[ast.AST, list[Frame]]:
    """The executions of functions by the calls that began them."""
    found: dict[ast.AST, dict[int, Frame]] = {}
    for access in facts.accesses:
        for site in access.site.chain():
            if site.frame.call is not None and site.frame.uid not in found.setdefault(site.frame.call, {}):
                found[site.frame.call][site.frame.uid] = site.frame
    return {call: list(frames.values()) for call, frames in found.items()}


def _argument(frame: Frame, name: str) -> ast.expr | None:
    """The expression by which a call gives a parameter its value; None if it is not written in the call."""
    call, function = frame.call, frame.node
    if not isinstance(call, ast.Call) or not isinstance(function, FUNCTIONS):
        return None
    if any(isinstance(arg, ast.Starred) for arg in call.args) or any(k.arg is None for k in call.keywords):
        return None
    names = [arg.arg for arg in (*function.args.posonlyargs, *function.args.args)]
    if isinstance(call.func, ast.Attribute) and names[:1] in (["self"], ["cls"]):
        names = names[1:]
    return dict(_pairs(call, names)).get(name)


def _pairs(call: ast.Call, names: Sequence[str]) -> Iterator[tuple[str, ast.expr]]:
    """The parameters of a call, with what it gives them."""
    yield from zip(names, call.args, strict=False)
    yield from ((keyword.arg, keyword.value) for keyword in call.keywords if keyword.arg is not None)
