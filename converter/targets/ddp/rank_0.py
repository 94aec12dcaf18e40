"""Code that rank 0 runs alone: evaluation on all of the data, and writing files."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import field
from functools import cached_property

from converter.dataclass import dataclass
from converter.syntax.changes import Change, indented
from converter.syntax.script import Script, names_bound, parameters
from converter.targets.ddp.calls import downloads, writes
from converter.targets.ddp.training import LOADER, Training, is_loader, looped_over

EVALUATES, WRITES, DOWNLOADS = "TMG179", "TMG180", "TMG183"
_CHANGING = frozenset(
    "append extend insert update add pop clear remove setdefault load_state_dict step backward".split()
)


@dataclass
class RankZero:
    """The functions and statements that rank 0 runs alone.

    blocks: statements that go through data which is not the training data, in code that all processes run.
    gated: statements that write files there.
    """

    training: Training
    blocks: list[ast.stmt] = field(default_factory=list)
    gated: list[ast.stmt] = field(default_factory=list)

    @property
    def _script(self) -> Script:
        return self.training.script

    @cached_property
    def functions(self) -> list[ast.FunctionDef]:
        """Functions that go through data which is not the training data, and do not lead to the training loop."""
        found: list[ast.FunctionDef] = []
        while True:
            more = [
                function
                for function in self.training.scopes.functions.values()
                if function not in found and function not in self.training.path and self._goes_through(function, found)
            ]
            if not more:
                return found
            found += more

    def _goes_through(self, function: ast.FunctionDef, known: list[ast.FunctionDef]) -> bool:
        return any(
            (isinstance(node, ast.For) and self.loads(node))
            or (isinstance(node, ast.Call) and self.training.scopes.called(node) in known)
            for node in ast.walk(function)
        )

    def loads(self, loop: ast.For) -> bool:
        """Whether a loop goes over a loader that is not the training data's."""
        over = looped_over(self._script, loop)
        if loop is self.training.loop:
            return False
        if isinstance(over, ast.Call) and self._script.name(over.func) == LOADER:
            return True
        return is_loader(self.training.scopes, over)

    def covers(self, node: ast.AST) -> bool:
        """True if rank 0 alone executes a node."""
        inside = [node, *self._script.above(node)]
        if any(one in self.blocks or one in self.gated for one in inside):
            return True
        return any(one in self.functions for one in inside)

    def of_all(self, node: ast.AST) -> bool:
        """Whether all processes come to a node, outside of classes."""
        return not self.covers(node) and self._script.class_around(node) is None


def rank_0_changes(training: Training) -> tuple[RankZero, list[Change]]:
    """Find the code that rank 0 runs alone, and the changes that guard it."""
    by_rank_0 = RankZero(training)
    changes = [*_blocks(by_rank_0), *_calls(by_rank_0)]
    _check_functions(by_rank_0)
    _check_mode(by_rank_0)
    _gate(by_rank_0)
    for stmt in by_rank_0.gated:
        changes += _only_rank_0(by_rank_0, stmt, WRITES, _saves(training.script, stmt))
    return by_rank_0, [*changes, *_downloads(by_rank_0)]


def _blocks(by_rank_0: RankZero) -> Iterator[Change]:
    """Loops over other data in code that all processes run."""
    script = by_rank_0.training.script
    found: list[ast.stmt] = []
    for node in ast.walk(script.tree):
        if isinstance(node, ast.For) and by_rank_0.loads(node) and by_rank_0.of_all(node):
            stmt: ast.stmt = node
            parent = next(script.above(stmt))
            while isinstance(parent, ast.With) and len(parent.body) == 1:
                stmt, parent = parent, next(script.above(parent))
            found.append(stmt)
    outer = [one for one in found if not any(above in found for above in script.above(one))]
    by_rank_0.blocks += outer
    for stmt in outer:
        if any(training_node is by_rank_0.training.loop for training_node in ast.walk(stmt)):
            script.finding(stmt, "TMG296 holds_training")
            continue
        _check_statement(by_rank_0, stmt)
        yield from _only_rank_0(by_rank_0, stmt, EVALUATES, False)
        names = _read_later(by_rank_0, stmt)
        if names:
            left = ", ".join(names) if len(names) > 1 else f"[{names[0]}]"
            line = f"{script.indentation(stmt)}{left} = from_rank_0({', '.join(names)}){script.newline}"
        else:
            line = f"{script.indentation(stmt)}dist.barrier(){script.newline}"
        place = script.line((stmt.end_lineno or 0) + 1)
        yield Change(place, place, line, EVALUATES)


def _read_later(by_rank_0: RankZero, stmt: ast.stmt) -> list[str]:
    """Names that a statement binds or changes and that are read elsewhere; refused where they may not be bound."""
    script, scopes = by_rank_0.training.script, by_rank_0.training.scopes
    changed: dict[str, ast.AST] = {}
    for node in ast.walk(stmt):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            changed.setdefault(node.id, node)
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store) and isinstance(node.value, ast.Name):
            changed.setdefault(node.value.id, node)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _CHANGING:
            changed.setdefault(ast.unparse(node.func.value), node)
    inside = {id(node) for node in ast.walk(stmt)}
    scope = scopes.scope(stmt)
    names = []
    for name, node in changed.items():
        read = [
            one
            for one in ast.walk(scope or script.tree)
            if isinstance(one, ast.Name) and one.id == name and isinstance(one.ctx, ast.Load) and id(one) not in inside
            if scopes.home(one).scope is scope and not any(above in by_rank_0.blocks for above in script.above(one))
        ]
        loops = scopes.loops(stmt)
        later = [one for one in read if one.lineno > stmt.lineno or (loops and one.lineno >= loops[-1].lineno)]
        if not later or all(_bound_anew(by_rank_0, one, name, inside) for one in later):
            continue
        before = [
            b
            for origin, bindings in scopes.bindings.items()
            for b in bindings
            if origin.name == name and id(b.stmt) not in inside and b.stmt in _before(script, stmt)
        ]
        if not before:
            script.finding(node, "TMG296 read_by_all", name=name)
        names.append(name)
    return names


def _bound_anew(by_rank_0: RankZero, read: ast.Name, name: str, inside: set[int]) -> bool:
    """Whether a name that is read is the target of a loop around it, other than the one that is left out."""
    return any(
        isinstance(loop, ast.For) and id(loop) not in inside and name in names_bound(loop.target)
        for loop in by_rank_0.training.scopes.loops(read)
    )


def _before(script: Script, stmt: ast.stmt) -> list[ast.stmt]:
    """The statements that stand before a statement, in its block and in the blocks around it."""
    found: list[ast.stmt] = []
    node: ast.AST = stmt
    while isinstance(node, ast.stmt):
        block = script.block(node)
        found += block[: block.index(node)]
        node = next(script.above(node))
        if isinstance(node, ast.FunctionDef | ast.Module):
            break
    return found


def _only_rank_0(by_rank_0: RankZero, stmt: ast.stmt, code: str, waits: bool) -> Iterator[Change]:
    script = by_rank_0.training.script
    if not script.has_own_lines(stmt, stmt):
        script.finding(stmt, "TMG296 shares_its_line")
        return
    begin = script.line(stmt.lineno)
    yield Change(begin, begin, f"{script.indentation(stmt)}if rank == 0:{script.newline}", code)
    yield from indented(script, stmt, stmt, code)
    if waits:
        place = script.line((stmt.end_lineno or 0) + 1)
        yield Change(place, place, f"{script.indentation(stmt)}dist.barrier(){script.newline}", code)


def _calls(by_rank_0: RankZero) -> Iterator[Change]:
    """Calls of functions that evaluate, in code that all processes run."""
    script, scopes = by_rank_0.training.script, by_rank_0.training.scopes
    for call in script.calls:
        function = scopes.called(call)
        if function not in by_rank_0.functions or not by_rank_0.of_all(call):
            continue
        if function is scopes.scope(call):
            continue
        if by_rank_0.training.in_loop(call):
            script.finding(call, "TMG296 between_batches")
        end = script.span(call.func)[1]
        opened = script.text.index("(", end) + 1
        blank = "" if not call.args and not call.keywords else ", "
        yield Change(script.span(call.func)[0], opened, f"on_rank_0({script.of(call.func)}{blank}", EVALUATES)
    for function in by_rank_0.functions:
        named = script.uses(function.name)
        if len(named) != len(scopes.calls_of(function)):
            script.finding(function, "TMG296 function_passed_on", name=function.name)


def _check_functions(by_rank_0: RankZero) -> None:
    script = by_rank_0.training.script
    for node in ast.walk(script.tree):
        looped = node.iter if isinstance(node, ast.comprehension) and by_rank_0.of_all(node) else None
        if looped is not None and is_loader(by_rank_0.training.scopes, looped):
            script.finding(looped, "TMG296 data_read_by_all")
    for function in by_rank_0.functions:
        for stmt in function.body:
            _check_statement(by_rank_0, stmt, function)


def _check_statement(by_rank_0: RankZero, stmt: ast.stmt, function: ast.FunctionDef | None = None) -> None:
    """Refuse what rank 0 alone would change for all."""
    script = by_rank_0.training.script
    for node in ast.walk(stmt):
        if isinstance(node, ast.Global | ast.Nonlocal):
            script.finding(node, "TMG296 changes_variables")
        elif isinstance(node, ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Store):
            listed = function is None and isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name)
            if not listed and not _is_local(by_rank_0, node.value, function):
                script.finding(node, "TMG296 changes", code=ast.unparse(node))
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _CHANGING:
            if node.func.attr in ("load_state_dict", "step", "backward") or (
                function is not None and not _is_local(by_rank_0, node.func.value, function)
            ):
                script.finding(node, "TMG296 runs", code=ast.unparse(node.func))
        elif isinstance(node, ast.Return) and function is None:
            script.finding(node, "TMG296 returns")


def _is_local(by_rank_0: RankZero, node: ast.expr, function: ast.FunctionDef | None) -> bool:
    """Whether an object is made in the function: a local that is no parameter."""
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
    if not isinstance(node, ast.Name):
        return True
    if function is None:
        return False
    return by_rank_0.training.scopes.home(node).scope is function and node.id not in parameters(function)


def _check_mode(by_rank_0: RankZero) -> None:
    """Refuse an evaluation that leaves rank 0 in another mode than the others."""
    training, script = by_rank_0.training, by_rank_0.training.script
    set_by: dict[str, list[ast.Call]] = {"eval": [], "train": []}
    for call in script.calls:
        if isinstance(call.func, ast.Attribute) and call.func.attr in set_by and training.is_net(call.func.value):
            set_by[call.func.attr].append(call)
    evaluated = [call for call in set_by["eval"] if by_rank_0.covers(call)]
    block = script.block(training.loop)
    trained = any(
        training.in_loop(call) or (script.statement(call) in block and by_rank_0.of_all(call))
        for call in set_by["train"]
    )
    if evaluated and not trained:
        script.finding(evaluated[0], "TMG296 mode_of_evaluation")


def _gate(by_rank_0: RankZero) -> None:
    """Finds the statements that write files, and those that use what only they bind."""
    script = by_rank_0.training.script
    for call in script.calls:
        if not writes(script, call):
            continue
        if script.class_around(call):
            script.finding(call, "TMG299 file_written_by_class")
        elif by_rank_0.of_all(call):
            _gated(by_rank_0, call)
    done: set[str] = set()
    while True:
        bound = {n for stmt in by_rank_0.gated for n in names_bound(stmt)} - done
        if not bound:
            return
        done |= bound
        for node in ast.walk(script.tree):
            if (
                isinstance(node, ast.Name)
                and node.id in bound
                and isinstance(node.ctx, ast.Load)
                and by_rank_0.of_all(node)
            ):
                _gated(by_rank_0, node)


def _gated(by_rank_0: RankZero, node: ast.expr) -> None:
    script, scopes = by_rank_0.training.script, by_rank_0.training.scopes
    stmt = script.statement(node)
    own = [c for c in ast.walk(stmt) if isinstance(c, ast.Call) and scopes.called(c) is not None]
    steps = [c for c in ast.walk(stmt) if isinstance(c, ast.For | ast.While) and not isinstance(stmt, ast.With)]
    reaches = any(n is by_rank_0.training.loop for n in ast.walk(stmt))
    if not isinstance(stmt, ast.Expr | ast.Assign | ast.With) or own or steps or reaches:
        script.finding(node, "TMG296 file_written_by_all")
        return
    if isinstance(stmt, ast.With):
        _check_statement(by_rank_0, stmt)
    if isinstance(stmt, ast.Assign | ast.With):
        for name in sorted(names_bound(stmt)):
            bound = (b.stmt for o, bindings in scopes.bindings.items() if o.name == name for b in bindings)
            others = [one for one in bound if not by_rank_0.covers(one)]
            if any(one is not stmt and one not in list(ast.walk(stmt)) for one in others):
                script.finding(stmt, "TMG296 bound_elsewhere", name=name)
    if stmt not in by_rank_0.gated:
        by_rank_0.gated.append(stmt)


def _saves(script: Script, stmt: ast.stmt) -> bool:
    """Whether a statement writes a checkpoint, which others may read next."""
    return any(isinstance(n, ast.Call) and script.name(n.func) == "torch.save" for n in ast.walk(stmt))


def _downloads(by_rank_0: RankZero) -> Iterator[Change]:
    """Data that is downloaded: rank 0 goes first, the others find it."""
    script, done = by_rank_0.training.script, set[int]()
    for call in script.calls:
        if not downloads(call) or not by_rank_0.of_all(call):
            continue
        stmt = script.statement(call)
        if id(stmt) in done:
            continue
        done.add(id(stmt))
        if not isinstance(stmt, ast.Assign | ast.Expr) or not script.has_own_lines(stmt, stmt):
            script.finding(call, "TMG296 downloaded_by_all")
            continue
        blanks, end = script.indentation(stmt), script.newline
        begin, after = script.line(stmt.lineno), script.line((stmt.end_lineno or 0) + 1)
        first = f"{blanks}if rank > 0:{end}{blanks}{script.unit}dist.barrier()  # rank 0 downloads it{end}"
        yield Change(begin, begin, first, DOWNLOADS)
        yield Change(after, after, f"{blanks}if rank == 0:{end}{blanks}{script.unit}dist.barrier(){end}", DOWNLOADS)
