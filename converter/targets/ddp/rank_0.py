"""Code that rank 0 runs alone: evaluation on all of the data, and writing files."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import field
from functools import cached_property

from converter.dataclass import dataclass
from converter.syntax.changes import Change, indented
from converter.syntax.script import Script, method_name, names_bound, nodes_of, parameters
from converter.targets.ddp.calls import downloads, writes
from converter.targets.ddp.scopes import Scopes
from converter.targets.ddp.training import LOADER, Training, is_loader, looped_over

EVALUATES, WRITES, DOWNLOADS = "TMG179", "TMG180", "TMG183"
BARRIER = "dist.barrier()"
_TRAINING = ("load_state_dict", "step", "backward")
_CHANGING = frozenset((*"append extend insert update add pop clear remove setdefault".split(), *_TRAINING))


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
    def script(self) -> Script:
        """The script."""
        return self.training.script

    @property
    def scopes(self) -> Scopes:
        """The script's names."""
        return self.training.scopes

    @cached_property
    def functions(self) -> list[ast.FunctionDef]:
        """Functions that go through data which is not the training data, and do not lead to the training loop."""
        found: list[ast.FunctionDef] = []
        others = [one for one in self.scopes.functions.values() if one not in self.training.path]
        while more := [one for one in others if one not in found and self._goes_through(one, found)]:
            found += more
        return found

    def _goes_through(self, function: ast.FunctionDef, known: list[ast.FunctionDef]) -> bool:
        evaluates = any(self.scopes.called(call) in known for call in nodes_of(ast.Call, function))
        return evaluates or any(map(self.loads, nodes_of(ast.For, function)))

    def loads(self, loop: ast.For) -> bool:
        """Whether a loop goes over a loader that is not the training data's."""
        over = looped_over(self.script, loop)
        if loop is self.training.loop:
            return False
        made_here = isinstance(over, ast.Call) and self.script.name(over.func) == LOADER
        return made_here or is_loader(self.scopes, over)

    def covers(self, node: ast.AST) -> bool:
        """True if rank 0 alone executes a node."""
        alone = (*self.blocks, *self.gated, *self.functions)
        return any(one in alone for one in (node, *self.script.above(node)))

    def of_all(self, node: ast.AST) -> bool:
        """Whether all processes come to a node, outside of classes."""
        return not self.covers(node) and self.script.class_around(node) is None


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
    script = by_rank_0.script
    found: list[ast.stmt] = []
    for node in script.nodes(ast.For):
        if by_rank_0.loads(node) and by_rank_0.of_all(node):
            stmt: ast.stmt = node
            parent = script.parent(stmt)
            while isinstance(parent, ast.With) and len(parent.body) == 1:
                stmt, parent = parent, script.parent(parent)
            found.append(stmt)
    outer = [one for one in found if not any(above in found for above in script.above(one))]
    by_rank_0.blocks += outer
    for stmt in outer:
        if by_rank_0.training.loop in ast.walk(stmt):
            script.finding(stmt, "TMG296 holds_training")
            continue
        _check_statement(by_rank_0, stmt)
        yield from _only_rank_0(by_rank_0, stmt, EVALUATES)
        names = _read_later(by_rank_0, stmt)
        left = ", ".join(names) if len(names) > 1 else "".join(f"[{name}]" for name in names)
        yield _line_behind(script, stmt, f"{left} = from_rank_0({', '.join(names)})" if names else BARRIER, EVALUATES)


def _read_later(by_rank_0: RankZero, stmt: ast.stmt) -> list[str]:
    """Names that a statement binds or changes and that are read elsewhere; refused where they may not be bound."""
    script, scopes = by_rank_0.script, by_rank_0.scopes
    scope, loops, inside = scopes.scope(stmt), scopes.loops(stmt), set(ast.walk(stmt))
    begin = loops[-1].lineno if loops else stmt.lineno + 1

    def is_read_later(one: ast.Name) -> bool:
        if one in inside or one.lineno < begin or scopes.home(one).scope is not scope:
            return False
        if scope is not None and not script.is_inside(one, scope):
            return False
        left_out = any(above in by_rank_0.blocks for above in script.above(one))
        return not left_out and not _is_bound_anew(by_rank_0, one, inside)

    names = []
    for name, node in _changed(stmt).items():
        if not any(map(is_read_later, script.reads(name))):
            continue
        bound = (b.stmt for origin, bindings in scopes.bindings.items() if origin.name == name for b in bindings)
        if not any(one in _before(script, stmt) for one in bound if one not in inside):
            script.finding(node, "TMG296 read_by_all", name=name)
        names.append(name)
    return names


def _changed(stmt: ast.stmt) -> dict[str, ast.AST]:
    """The names that a statement binds, or whose objects it changes, each with where it does so first."""
    changed: dict[str, ast.AST] = {}
    for node in ast.walk(stmt):
        if isinstance(node, ast.Call):
            if isinstance(node.func, ast.Attribute) and node.func.attr in _CHANGING:
                changed.setdefault(ast.unparse(node.func.value), node)
            continue
        target = node.value if isinstance(node, ast.Subscript) else node
        if isinstance(target, ast.Name) and isinstance(getattr(node, "ctx", None), ast.Store):
            changed.setdefault(target.id, node)
    return changed


def _is_bound_anew(by_rank_0: RankZero, read: ast.Name, inside: set[ast.AST]) -> bool:
    """Whether a name that is read is the target of a loop around it, other than the one that is left out."""
    loops = (loop for loop in by_rank_0.scopes.loops(read) if isinstance(loop, ast.For) and loop not in inside)
    return any(read.id in names_bound(loop.target) for loop in loops)


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


def _line_behind(script: Script, stmt: ast.stmt, text: str, code: str) -> Change:
    place = script.line((stmt.end_lineno or 0) + 1)
    return Change(place, place, f"{script.indentation(stmt)}{text}{script.newline}", code)


def _only_rank_0(by_rank_0: RankZero, stmt: ast.stmt, code: str, waits: bool = False) -> Iterator[Change]:
    script = by_rank_0.script
    if not script.has_own_lines(stmt, stmt):
        script.finding(stmt, "TMG296 shares_its_line")
        return
    begin = script.line(stmt.lineno)
    yield Change(begin, begin, f"{script.indentation(stmt)}if rank == 0:{script.newline}", code)
    yield from indented(script, stmt, stmt, code)
    if waits:
        yield _line_behind(script, stmt, BARRIER, code)


def _calls(by_rank_0: RankZero) -> Iterator[Change]:
    """Calls of functions that evaluate, in code that all processes run."""
    script, scopes = by_rank_0.script, by_rank_0.scopes
    for call in script.calls:
        function = scopes.called(call)
        if function not in by_rank_0.functions or not by_rank_0.of_all(call) or function is scopes.scope(call):
            continue
        if by_rank_0.training.in_loop(call):
            script.finding(call, "TMG296 between_batches")
        end = script.span(call.func)[1]
        opened = script.text.index("(", end) + 1
        blank = "" if not call.args and not call.keywords else ", "
        yield Change(script.span(call.func)[0], opened, f"on_rank_0({script.of(call.func)}{blank}", EVALUATES)
    for function in by_rank_0.functions:
        if len(script.uses(function.name)) != len(scopes.calls_of(function)):
            script.finding(function, "TMG296 function_passed_on", name=function.name)


def _check_functions(by_rank_0: RankZero) -> None:
    script = by_rank_0.script
    for node in script.nodes(ast.comprehension):
        if by_rank_0.of_all(node) and is_loader(by_rank_0.scopes, node.iter):
            script.finding(node.iter, "TMG296 data_read_by_all")
    for function in by_rank_0.functions:
        for stmt in function.body:
            _check_statement(by_rank_0, stmt, function)


def _check_statement(by_rank_0: RankZero, stmt: ast.stmt, function: ast.FunctionDef | None = None) -> None:
    """Refuse what rank 0 alone would change for all."""
    script = by_rank_0.script
    for node in ast.walk(stmt):
        if isinstance(node, ast.Global | ast.Nonlocal):
            script.finding(node, "TMG296 changes_variables")
        elif isinstance(node, ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Store):
            listed = function is None and isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name)
            if not listed and not _is_local(by_rank_0, node.value, function):
                script.finding(node, "TMG296 changes", code=ast.unparse(node))
        elif method_name(node) in _CHANGING and isinstance(node, ast.Call):
            elsewhere = function is not None and not _is_local(by_rank_0, node.func, function)
            if method_name(node) in _TRAINING or elsewhere:
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
    return by_rank_0.scopes.home(node).scope is function and node.id not in parameters(function)


def _check_mode(by_rank_0: RankZero) -> None:
    """Refuse an evaluation that leaves rank 0 in another mode than the others."""
    training, script = by_rank_0.training, by_rank_0.script
    calls = [call for call in script.calls if isinstance(call.func, ast.Attribute) and training.is_net(call.func.value)]
    evaluated = [call for call in calls if method_name(call) == "eval" and by_rank_0.covers(call)]
    block = script.block(training.loop)
    trained = any(
        training.in_loop(call) or (script.statement(call) in block and by_rank_0.of_all(call))
        for call in calls
        if method_name(call) == "train"
    )
    if evaluated and not trained:
        script.finding(evaluated[0], "TMG296 mode_of_evaluation")


def _gate(by_rank_0: RankZero) -> None:
    """Collect in `gated` the statements that write files, and the statements that read names bound only by those."""
    script = by_rank_0.script
    for call in script.calls:
        if not writes(script, call):
            continue
        if script.class_around(call):
            script.finding(call, "TMG299 file_written_by_class")
        elif by_rank_0.of_all(call):
            _gated(by_rank_0, call)
    done: set[str] = set()
    while bound := names_bound(*by_rank_0.gated) - done:
        done |= bound
        for node in script.nodes(ast.Name):
            if node.id in bound and isinstance(node.ctx, ast.Load) and by_rank_0.of_all(node):
                _gated(by_rank_0, node)


def _gated(by_rank_0: RankZero, node: ast.expr) -> None:
    script, scopes = by_rank_0.script, by_rank_0.scopes
    stmt = script.statement(node)
    inside = list(ast.walk(stmt))
    own = any(scopes.called(one) is not None for one in inside)
    if not isinstance(stmt, ast.Expr | ast.Assign | ast.With) or own or by_rank_0.training.loop in inside:
        script.finding(node, "TMG296 file_written_by_all")
        return
    if isinstance(stmt, ast.With):
        _check_statement(by_rank_0, stmt)
    for name in [] if isinstance(stmt, ast.Expr) else sorted(names_bound(stmt)):
        bound = (b.stmt for o, bindings in scopes.bindings.items() if o.name == name for b in bindings)
        if any(one not in inside and not by_rank_0.covers(one) for one in bound):
            script.finding(stmt, "TMG296 bound_elsewhere", name=name)
    if stmt not in by_rank_0.gated:
        by_rank_0.gated.append(stmt)


def _saves(script: Script, stmt: ast.stmt) -> bool:
    """Whether a statement writes a checkpoint, which others may read next."""
    return any(script.name(call.func) == "torch.save" for call in nodes_of(ast.Call, stmt))


def _downloads(by_rank_0: RankZero) -> Iterator[Change]:
    """Data that is downloaded: rank 0 goes first, the others find it."""
    script = by_rank_0.script
    firsts: dict[ast.stmt, ast.Call] = {}
    for call in script.calls:
        if downloads(call) and by_rank_0.of_all(call):
            firsts.setdefault(script.statement(call), call)
    for stmt, call in firsts.items():
        if not isinstance(stmt, ast.Assign | ast.Expr) or not script.has_own_lines(stmt, stmt):
            script.finding(call, "TMG296 downloaded_by_all")
            continue
        blanks, end = script.indentation(stmt), script.newline
        begin = script.line(stmt.lineno)
        first = f"{blanks}if rank > 0:{end}{blanks}{script.unit}{BARRIER}  # rank 0 downloads it{end}"
        yield Change(begin, begin, first, DOWNLOADS)
        yield _line_behind(script, stmt, f"if rank == 0:{end}{blanks}{script.unit}{BARRIER}", DOWNLOADS)
