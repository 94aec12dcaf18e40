"""Placeholders of which each tower has its own, fed with what as many calls of the script's reader give.

A net for pictures of any size is fed one example a step: `blobs = layer.forward()`, then `{net.image: blobs['image']}`.
There is nothing to cut, but each tower may take an example of its own. That is done where the way from the call of the
reader to the feed is seen whole: the call can be made N times in a row, and nothing else sees what it gave.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence

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
        found = _Finder(facts).found(runs)
    except _Unclear:
        return None
    inputs = [value for value in found[0] if value.node is not None]
    behind = [v for v in behind_losses(steps).values() if isinstance(v, Input) and v.is_batch]
    if not any(map(_has_own_shape, inputs)) or any(value not in inputs for value in behind):
        return None
    if not all(_can_be_own(value) for value in inputs) or not any(v.uid in behind_losses(steps) for v in inputs):
        return None
    nodes = dict.fromkeys(value.node for value in inputs if value.node is not None)
    return OwnExamples(tuple(nodes), found[1], found[2])


def _has_own_shape(value: Input) -> bool:
    """Whether an input takes examples of different shapes: `[1, None, None, 3]`, or no shape at all is given."""
    return value.dims is None or (bool(value.dims) and (value.dims[0] == 1 or None in value.dims[1:]))


def _can_be_own(value: Input) -> bool:
    """Whether a tower can have another one like an input: a placeholder that must be fed."""
    return has(value.op, Trait.PLACEHOLDER) and not has(value.op, Trait.HAS_DEFAULT) and not is_sparse(value)


class _Finder:
    """Follows examples from the feeds of training runs back to readers, and from there to all that sees them."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self.inputs: dict[int, Input] = {}
        self.readers: dict[ast.Call, None] = {}
        self.names: dict[Named, None] = {}
        self.feeds: dict[ast.expr, None] = {}
        self.shown = {id(display): run for run in facts.runs if (display := _display(facts, run)) is not None}
        self.calls = _frames_by_call(facts)

    def found(self, runs: Iterable[RunCall]) -> tuple[list[Input], tuple[ast.Call, ...], tuple[ast.expr, ...]]:
        """The inputs, readers and feeds; raises _Unclear."""
        for run in runs:
            self._feeds_of(run)
            if not all(can_be_repeated(self.facts, reader, run) for reader in self.readers):
                raise _Unclear
        done: set[Named] = set()
        while todo := [name for name in self.names if name not in done]:
            for name in todo:
                done.add(name)
                self._check_uses(*name)
        return list(self.inputs.values()), tuple(self.readers), tuple(self.feeds)

    def _feeds_of(self, run: RunCall) -> None:
        """The inputs that a training run is fed from a reader; every other feed must be a setting."""
        display = _display(self.facts, run)
        if display is None or run.unseen or run.handle is not None:
            raise _Unclear
        given = dict(run.feeds)
        for node, value in zip(display.keys, display.values, strict=True):
            key = self.facts.read_or_written.get(node) if node is not None else None
            if not isinstance(key, Input) or key not in given:
                raise _Unclear
            name = name_within(value)
            if _is_setting(key, given[key]):
                continue
            if name is None:
                raise _Unclear
            self._trace(run.site.frame, name)
            self.inputs[key.uid] = key

    def _trace(self, frame: Frame, node: ast.Name) -> None:
        """The reader that gave a name its value, through callers."""
        function = function_of(self.facts, node)
        if frame.node is not function:
            raise _Unclear
        self.names[function, node.id] = None
        if node.id not in parameters(function):
            call, targets = _read_by(self.facts, function, node.id)
            self.readers[call] = None
            self.names.update(dict.fromkeys((function, name) for name in targets))
            return
        if any(isinstance(use.ctx, ast.Store) for use in uses_of(function, node.id)):
            raise _Unclear
        given = _argument(frame, node.id)
        above = name_within(given) if given is not None else None
        if above is None or frame.call_site is None:
            raise _Unclear
        self._trace(frame.call_site.frame, above)

    def _check_uses(self, function: ast.AST, name: str) -> None:
        """Nothing but feeds of runs, and functions that are checked like this one, may see an example."""
        for use in uses_of(function, name):
            if not isinstance(use.ctx, ast.Load):
                continue
            item = whole_item(self.facts, use)
            around = self.facts.parents.get(item)
            around = self.facts.parents.get(around) if isinstance(around, ast.keyword) else around
            if function_of(self.facts, use) is not function:
                raise _Unclear  # a function or a lambda inside of it reads the name
            if isinstance(around, ast.Dict) and id(around) in self.shown:
                self._feed(around)
            elif isinstance(around, ast.Call):
                self._hand_on(around, item)
            else:
                raise _Unclear

    def _feed(self, display: ast.Dict) -> None:
        """All runs that take their feeds from a dict display."""
        for run in self.facts.runs:
            if _display(self.facts, run) is display and run.feed_node is not None:
                self.feeds[run.feed_node] = None

    def _hand_on(self, call: ast.Call, item: ast.expr) -> None:
        """The parameters by which called functions get an example."""
        frames = self.calls.get(call, [])
        if not frames:
            raise _Unclear
        for frame in frames:
            names = [name for name in parameters(frame.node) if _argument(frame, name) is item]
            if len(names) != 1 or any(isinstance(use.ctx, ast.Store) for use in uses_of(frame.node, names[0])):
                raise _Unclear
            self.names[frame.node, names[0]] = None


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
    if len(written) != 1 or node.id in parameters(function) or any(
        id(use) not in feeds or function_of(facts, use) is not function for use in uses if use not in written
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
