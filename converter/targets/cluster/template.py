"""The one shape of script that workers can run: a graph, a session in a `with`, a plain loop with one training step."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from converter.analysis.facts import Facts, RunCall
from converter.analysis.traits import Trait
from converter.analysis.values import Input, Tensor, Value
from converter.dataclass import dataclass
from converter.syntax.known import is_known
from converter.syntax.script import Script, argument, is_spread
from converter.targets.cluster.reading import OUTSIDE, Read
from converter.targets.passes import Case

SHARE = "TMG361"
_OWN_FLAGS = ("ps_hosts", "worker_hosts", "job_name", "task_index", "cluster_dir", "cluster_save_steps")


@dataclass(frozen=True)
class Template(Read):
    """A script with its parts.

    opened: the statement that opens the session, which the script calls `session`. first: the first statement beside it
    that makes operations. outer: the statement in the session's block that holds the loop. step: the statement that
    trains, by the call `run`. batched: the fed placeholders, as the script writes them, that a batch enters by.
    begun: statements that initialise variables, which a monitored session does itself.
    """

    opened: ast.With | None = None
    session: str = ""
    first: ast.stmt | None = None
    outer: ast.stmt | None = None
    step: ast.stmt | None = None
    run: ast.Call | None = None
    batched: tuple[str, ...] = ()
    begun: tuple[ast.stmt, ...] = ()


def template(case: Read) -> Case:
    """Finds the parts; what is missing, or more than the template has, is noted."""
    script, (facts, _) = case.script, case.known
    opened = _opened(script)
    if opened is None:
        return case
    with_, name = opened
    begun = tuple(_begun(script, with_, name))
    run = _trains(script, facts, with_, name)
    first = _first(script, facts, with_, begun)
    if run is None or first is None:
        return case
    step = script.statement(run.call)
    outer = _loops(script, with_, step)
    batched = _fed(script, run, case.options.shared)
    if outer is None or batched is None:
        return case
    _check_session(script, with_, name, begun)
    _check_rest(script, facts, with_, step)
    _check_share(script, run)
    done = Template(script, case.options, case.width, facts=facts, plan=case.plan)
    done = replace(done, opened=with_, session=name, first=first, outer=outer)
    return replace(done, step=step, run=run.call, batched=batched, begun=begun)


def _opened(script: Script) -> tuple[ast.With, str] | None:
    """The one `with tf.Session() as name`."""
    made = [call for call in script.calls if is_known(script, call.func, Trait.SESSION)]
    stmt = script.statement(made[0])
    item = stmt.items[0] if isinstance(stmt, ast.With) else None
    if (
        len(made) > 1
        or not isinstance(stmt, ast.With)
        or item is None
        or len(stmt.items) > 1
        or item.context_expr is not made[0]
        or not isinstance(item.optional_vars, ast.Name)
    ):
        script.say(made[-1], OUTSIDE, "workers need one session", "open it once: with tf.Session() as sess:")
        return None
    if made[0].args or any(keyword.arg != "config" for keyword in made[0].keywords):
        script.say(made[0], OUTSIDE, "the session has a target or a graph of its own", "write tf.Session()")
    return stmt, item.optional_vars.id


def _inside(stmt: ast.AST, node: ast.AST) -> bool:
    return any(one is node for one in ast.walk(stmt))


def _begun(script: Script, with_: ast.With, session: str) -> Iterator[ast.stmt]:
    """Statements that run initialisers alone."""
    for stmt in with_.body:
        call = stmt.value if isinstance(stmt, ast.Expr) else None
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or call.func.attr != "run":
            continue
        owner = call.func.value
        given = call.args[0] if ast.unparse(owner) == session and call.args else owner
        if _initialises(script, given):
            yield stmt


def _initialises(script: Script, node: ast.expr) -> bool:
    value = script.value(node)
    if isinstance(value, ast.List | ast.Tuple):
        return bool(value.elts) and all(_initialises(script, item) for item in value.elts)
    if not isinstance(value, ast.Call):
        return False
    if is_known(script, value.func, Trait.GROUPS):
        return bool(value.args) and all(_initialises(script, item) for item in value.args)
    return is_known(script, value.func, Trait.INITIALIZES)


def _trains(script: Script, facts: Facts, with_: ast.With, session: str) -> RunCall | None:
    """The one run that takes a training step."""
    results = {step.result.uid for step in facts.train_steps}
    runs = [run for run in facts.runs if run.computes(results)]
    found = list({id(run.call): run for run in runs}.values())
    if len(found) != 1 or not _inside(with_, found[0].call):
        where = found[-1].call if found else with_
        message = f"{len(found) or 'no'} calls train: workers need one" if len(found) != 1 else "it trains elsewhere"
        script.say(where, OUTSIDE, message, f"train by one {session}.run() in a loop below the session's line")
        return None
    call = found[0].call
    if ast.unparse(call.func) != f"{session}.run" or is_spread(call):
        script.say(call, OUTSIDE, "the training step is not run by the session", f"write {session}.run(...)")
        return None
    return found[0]


def _first(script: Script, facts: Facts, with_: ast.With, begun: tuple[ast.stmt, ...]) -> ast.stmt | None:
    """The first statement beside the session's that makes operations."""
    block = script.block(with_)
    before = block[: block.index(with_)]
    places = {id(stmt): number for number, stmt in enumerate(before)}
    used = []
    for tensor in facts.tensors:
        chain = list(tensor.site.chain()) if tensor.site is not None else []
        found = [places[id(site.stmt)] for site in chain if id(site.stmt) in places]
        if any(site.stmt in begun for site in chain):
            continue
        if any(site.stmt is with_ for site in chain):
            node = next(site.stmt for site in chain if _inside(with_, site.stmt))
            hint = "move it above the session's line"
            script.say(node, OUTSIDE, "the graph of a worker is finished when the session is open", hint)
            return None
        if not found:
            where = getattr(tensor, "node", None) or with_
            hint = "build the graph and open the session in one function, or at the top level"
            script.say(where, OUTSIDE, "the graph is built apart from the session", hint)
            return None
        used += found
    return before[min(used)] if used else None


def _loops(script: Script, with_: ast.With, step: ast.stmt) -> ast.stmt | None:
    """The statement of the session's block that holds the training loop."""
    hint = "train in a plain loop: for ... in ...: sess.run(train_op, feed_dict=...)"
    above = [node for node in script.above(step) if isinstance(node, ast.stmt)]
    above = above[: next((i for i, node in enumerate(above) if node is with_), 0)]
    if not above or any(not isinstance(node, ast.For) or node.orelse for node in above):
        script.say(step, OUTSIDE, "the training step does not stand in for loops alone", hint)
        return None
    outer = above[-1]
    assert isinstance(outer, ast.For)
    for node in ast.walk(outer):
        if isinstance(node, ast.Break | ast.Return | ast.Raise | ast.Continue):
            advice = "let each worker take all steps: the others would wait for it"
            script.say(node, OUTSIDE, "a worker may leave the loop, or a step, before the others do", advice)
            return None
    _check_carried(script, above, step)
    return outer


def _check_carried(script: Script, loops: list[ast.stmt], step: ast.stmt) -> None:
    """Refuses names that a step hands on to the next: a worker that goes on from a checkpoint skips what follows it."""
    inner = loops[0]
    assert isinstance(inner, ast.For)
    if step not in inner.body:
        script.say(step, OUTSIDE, "the training step stands under a condition", "take a step in each turn of the loop")
        return
    place = inner.body.index(step)
    before = {n.id for s in inner.body[: place + 1] for n in _names(s, ast.Load)}
    for stmt in inner.body[place:]:
        for name in _names(stmt, ast.Store):
            if name.id in before and not _bound_before(inner, place, name.id):
                hint = "move what prepares the next batch above the training step"
                script.say(name, OUTSIDE, f"{name.id} is handed on from one step to the next", hint)
                return


def _bound_before(inner: ast.For, place: int, name: str) -> bool:
    """Whether each turn of the loop binds a name before the step."""
    targets = {n.id for n in ast.walk(inner.target) if isinstance(n, ast.Name)}
    above = (t for s in inner.body[:place] if isinstance(s, ast.Assign) for t in s.targets)
    return name in targets | {n.id for target in above for n in _names(target, ast.Store)}


def _names(node: ast.AST, kind: type[ast.expr_context]) -> Iterator[ast.Name]:
    return (n for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, kind))


def _fed(script: Script, run: RunCall, shared: tuple[str, ...]) -> tuple[str, ...] | None:
    """The placeholders of a batch, as the script writes them in what it feeds."""
    given = argument(run.call, 1, "feed_dict")
    held = script.value(given) if given is not None else None
    if not isinstance(held, ast.Dict) or len(held.keys) != len(run.feeds) or None in held.keys:
        hint = "feed_dict={x: ..., y: ...}; datasets and queues are not converted for a cluster"
        script.say(run.call, OUTSIDE, "the batch is not fed by a dict that is written out", hint)
        return None
    batched = []
    for key, (fed, _) in zip(held.keys, run.feeds, strict=True):
        assert key is not None
        if not isinstance(fed, Input) or fed.batch.kind not in ("example", "free"):
            script.say(key, OUTSIDE, "this is fed, and is not a placeholder", "feed placeholders")
        elif fed.batch.kind == "example":
            batched.append(script.of(key))
        elif fed.dims and script.of(key) not in shared:
            name = script.of(key)
            message = f"{name} is fed whole to each worker: it is not seen to hold a row for each example"
            script.say(key, OUTSIDE, message, f"declare it with [None, ...]; --shared {name} if that is meant")
    if not batched:
        script.say(run.call, OUTSIDE, "no batch is fed", "feed the batch to placeholders")
        return None
    return tuple(batched)


def _check_session(script: Script, with_: ast.With, session: str, begun: tuple[ast.stmt, ...]) -> None:
    """Refuses what a monitored session cannot do."""
    for node in ast.walk(script.tree):
        if isinstance(node, ast.Name) and node.id == session and isinstance(node.ctx, ast.Load):
            parent = next(script.above(node))
            call = next((n for n in script.above(node) if isinstance(n, ast.Call)), None)
            known = isinstance(parent, ast.Attribute) and parent.attr in ("run", "graph")
            method = getattr(call.func, "attr", "") if isinstance(call, ast.Call) else ""
            saves = isinstance(call, ast.Call) and method == "save" and call.args[:1] == [node]
            if not known and not saves:
                hint = f"use {session}.run() and saver.save({session}, ...) below the session's line"
                script.say(node, OUTSIDE, "a monitored session is not a tf.Session here", hint)
    for call in script.calls:
        name, method = script.name(call.func), getattr(call.func, "attr", "")
        inside = any(_inside(stmt, call) for stmt in with_.body if stmt not in begun)
        if method == "restore" or (method == "eval" and inside):
            hint = (
                "give the folder of the checkpoint as --cluster_dir" if method == "restore" else f"{session}.run(...)"
            )
            script.say(call, OUTSIDE, f"{method}() does not work in a monitored session", hint)
        if inside and name.startswith("tf.") and not is_known(script, call.func, Trait.NO_OPERATIONS):
            script.say(call, OUTSIDE, f"{name} would change the graph of a worker", "move it above the session's line")


def _check_rest(script: Script, facts: Facts, with_: ast.With, step: ast.stmt) -> None:
    for run in facts.runs:
        if not _inside(with_, run.call):
            script.say(run.call, OUTSIDE, "something is run outside of the session's block", "move it there")
    block = script.block(with_)
    if len({stmt.lineno for stmt in block}) != len(block):
        script.say(with_, OUTSIDE, "several statements share a line", "give each a line of its own")
    for node in ast.walk(script.tree):
        held = node.value if isinstance(node, ast.Constant) else None
        if isinstance(held, str) and held.lstrip("-") in _OWN_FLAGS:
            script.say(node, OUTSIDE, f"the worker takes the flag --{held.lstrip('-')} itself", "call it otherwise")


def _check_share(script: Script, run: RunCall) -> None:
    """Warns where the results of a step are one worker's (TMG361)."""
    if any(value.batch.kind != "free" for fetch in run.fetches for value in _tensors(fetch)):
        message = "each worker gets these results for its own share of the batch"
        script.say(run.call, SHARE, message, "the training is that of the whole batch", "warning")


def _tensors(fetch: Value) -> Iterator[Tensor]:
    if isinstance(fetch, Tensor):
        yield fetch
    for part in fetch.parts():
        yield from _tensors(part)
