"""Values that differ between the processes, and the decisions that must not depend on them.

A process that leaves a loop, or skips a step, while the others go on makes them wait for ever.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from string import Formatter

from converter.syntax.changes import Change
from converter.syntax.script import Script, all_arguments
from converter.targets.ddp.rank_0 import RankZero
from converter.targets.ddp.scopes import ScopedName
from converter.targets.ddp.training import Training, looped_over

FIGURES = "TMG182"
_OWN = ("random.", "numpy.random.", "time.", "torch.rand", "torch.normal", "torch.bernoulli", "torch.multinomial")
_SAME_SEED = ("random.seed", "numpy.random.seed", "time.sleep")
_SHOWING = ("add_scalar", "set_postfix", "set_description", "info", "write", "append")
_COLLECTIVE = ("step", "backward", "zero_grad", "load_state_dict")


class DifferingValues:
    """The names that hold different values in different processes.

    averaged: sums over the loop's batches that are replaced by their means over the processes behind it.
    """

    def __init__(self, training: Training, by_rank_0: RankZero) -> None:
        self.training, self.by_rank_0, self.script = training, by_rank_0, training.script
        self.own: set[ScopedName] = set()
        self.returned: set[ast.FunctionDef] = set()
        self.averaged: set[ScopedName] = set()
        self._spread()
        self.averaged = {origin for origin in self.sums() if origin in self.own}
        self.own, self.returned = set(), set()
        self._spread()

    def _spread(self) -> None:
        """Follows values of one process through assignments, calls and returns until nothing new is found."""
        size = -1
        while size != len(self.own) + len(self.returned):
            size = len(self.own) + len(self.returned)
            for node in ast.walk(self.script.tree):
                if self.script.class_around(node) is None and not self._is_alone(node):
                    self._look(node)

    def _is_alone(self, node: ast.AST) -> bool:
        """True if rank 0 alone executes a node and sends its result to the others."""
        by_rank_0 = self.by_rank_0
        return any(one in by_rank_0.blocks or one in by_rank_0.functions for one in (node, *self.script.above(node)))

    def _look(self, node: ast.AST) -> None:
        scopes = self.training.scopes
        if isinstance(node, ast.For):
            over_batches = node is self.training.loop
            if over_batches or self.differs(node.iter):
                skipped = _counter(self.script, node)
                self._mark(node.target, skipped)
        elif isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign | ast.NamedExpr):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            placed = any(isinstance(one, ast.Subscript) and self.differs(one.slice) for one in targets)
            if node.value is not None and (placed or self.differs(node.value) or self._decided(node)):
                for target in targets:
                    self._mark(target)
        elif isinstance(node, ast.Return) and node.value is not None and self.differs(node.value):
            function = scopes.scope(node)
            if function is not None and function not in self.by_rank_0.functions:
                self.returned.add(function)
        elif isinstance(node, ast.Call):
            self._look_at_call(node)

    def _look_at_call(self, call: ast.Call) -> None:
        """Own functions take what they are given; objects keep what their methods are given."""
        function = self.training.scopes.called(call)
        given = all_arguments(call)
        if function is not None:
            for arg in [*function.args.args, *function.args.kwonlyargs]:
                value = self.training.scopes.given(call, function, arg.arg)
                if value is not None and self.differs(value):
                    self.own.add(ScopedName(function, arg.arg))
            return
        owner = call.func.value if isinstance(call.func, ast.Attribute) else None
        if isinstance(owner, ast.Name) and any(map(self.differs, given)) and not self._is_of_training(owner):
            self._mark(owner)

    def _is_of_training(self, node: ast.Name) -> bool:
        """Whether an object has the same state in all processes, whatever its methods are given."""
        if self.training.is_net(node) or self.script.names.of(node):
            return True
        return any(
            self.script.name(made.func).startswith(("torch.nn.", "torch.cuda.amp", "torch.amp", "argparse"))
            for made in self.training.scopes.calls_behind(node)
        )

    def _mark(self, target: ast.expr, skipped: ast.expr | None = None) -> None:
        for node in ast.walk(target):
            if isinstance(node, ast.Name) and node is not skipped:
                home = self.training.scopes.home(node)
                self.own.add(home)

    def _decided(self, node: ast.AST) -> bool:
        """Whether a statement is reached by a decision of this process alone."""
        return any(
            isinstance(above, ast.If | ast.While) and self.differs(above.test) for above in self.script.above(node)
        )

    def differs(self, node: ast.AST) -> bool:
        """Whether an expression may have another value in each process."""
        if isinstance(node, ast.Lambda):
            return False
        if isinstance(node, ast.Name):
            return self._is_own(node)
        if isinstance(node, ast.Call):
            function = self.training.scopes.called(node)
            if function in self.by_rank_0.functions and self.by_rank_0.of_all(node):
                return False
            if function in self.returned:
                return True
            if self.training.is_net(node.func) and self._trains(node):
                return True  # statistics of batches and dropout are each process's own
            if isinstance(node.func, ast.Name) and node.func.id in ("next", "iter") and self._trains(node):
                return True
            if isinstance(node.func, ast.Name) and node.func.id == "len" and self._same_length(node):
                return False
            name = self.script.name(node.func)
            if name.startswith(_OWN) and name not in _SAME_SEED and self._trains(node):
                return True
        return any(map(self.differs, ast.iter_child_nodes(node)))

    def _same_length(self, call: ast.Call) -> bool:
        """The length of a loader is the same in all processes: each share has as many examples."""
        return len(call.args) == 1 and isinstance(call.args[0], ast.Name | ast.Attribute)

    def _trains(self, node: ast.AST) -> bool:
        """Whether a node runs while the script trains."""
        scope = self.training.scopes.scope(node)
        late = node.lineno >= self.training.wrap.lineno if isinstance(node, ast.expr) else False
        return late or scope in self.training.path[1:] or (scope is not None and scope not in self.training.path)

    def _is_own(self, node: ast.Name) -> bool:
        home = self.training.scopes.home(node)
        if home in self.averaged and not self.training.in_loop(node) and isinstance(node.ctx, ast.Load):
            return False
        return home in self.own

    def counts(self, origin: ScopedName) -> bool:
        """Whether a sum grows with the examples of one process: its losses, its hits, how many there are."""
        added = [b.stmt.value for b in self.training.scopes.bindings[origin] if isinstance(b.stmt, ast.AugAssign)]
        return any(self._is_own(n) for value in added for n in ast.walk(value) if isinstance(n, ast.Name))

    def sums(self) -> Iterator[ScopedName]:
        """Names that the training loop adds to, and that are read behind it."""
        loop, scopes = self.training.loop, self.training.scopes
        for node in ast.walk(loop):
            if not (
                isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add) and isinstance(node.target, ast.Name)
            ):
                continue
            home = scopes.home(node.target)
            stores = [b for b in scopes.bindings.get(home, []) if self.training.in_loop(b.stmt)]
            if home.scope is not scopes.scope(loop) or any(not isinstance(b.stmt, ast.AugAssign) for b in stores):
                continue
            begun = [b.value for b in scopes.bindings[home] if not isinstance(b.stmt, ast.AugAssign)]
            if not all(isinstance(value, ast.Constant) and isinstance(value.value, int | float) for value in begun):
                continue
            read = [
                one
                for one in ast.walk(home.scope or self.script.tree)
                if isinstance(one, ast.Name) and one.id == home.name and isinstance(one.ctx, ast.Load)
                if not self.training.in_loop(one) and one.lineno > loop.lineno
            ]
            plain = not any(isinstance(next(self.script.above(one)), ast.Attribute | ast.Subscript) for one in read)
            if read and plain:
                yield home


def _counter(script: Script, loop: ast.For) -> ast.expr | None:
    """The number that enumerate() gives: the same in all processes."""
    over, plain = looped_over(script, loop), loop.iter
    counted = over is not plain and isinstance(loop.target, ast.Tuple) and len(loop.target.elts) == 2
    if counted and "enumerate" in {n.id for n in ast.walk(plain) if isinstance(n, ast.Name)}:
        assert isinstance(loop.target, ast.Tuple)
        return loop.target.elts[0]
    return None


def figures(differing: DifferingValues) -> list[Change]:
    """Behind the training loop its sums become the means over the processes."""
    training, script = differing.training, differing.script
    whole = list(_formatted_whole(differing))
    shown = next(_shown_sums(differing), None)
    if shown is not None and not whole:
        script.finding(shown, "TMG375", name=shown.id)
    names = sorted({origin.name for origin in differing.averaged})
    if not names:
        return []
    for node in whole:
        script.finding(node, "TMG297", code=ast.unparse(node))
    left = ", ".join(names) if len(names) > 1 else f"[{names[0]}]"
    place = script.line((training.loop.end_lineno or 0) + 1)
    line = f"{script.indentation(training.loop)}{left} = mean_of_ranks({', '.join(names)}){script.newline}"
    return [Change(place, place, line, FIGURES)]


def _shown_sums(differing: DifferingValues) -> Iterator[ast.Name]:
    """Sums over the training batches that are printed or noted behind the loop without being divided."""
    loop, scopes = differing.training.loop, differing.training.scopes
    homes = {origin for origin in differing.sums() if differing.counts(origin)}
    for call in filter(_shows, differing.script.calls):
        if call.lineno > loop.lineno and not differing.training.in_loop(call):
            yield from (
                name for name in _undivided(call) if scopes.home(name) in homes and not _made_ratio(differing, name)
            )


def _made_ratio(differing: DifferingValues, name: ast.Name) -> bool:
    """Whether a sum is divided or multiplied between the training loop and a place: total /= len(loader)."""
    loop, scopes = differing.training.loop, differing.training.scopes
    made = [binding.stmt for binding in scopes.bindings[scopes.home(name)]]
    return any(
        isinstance(stmt, ast.AugAssign)
        and isinstance(stmt.op, ast.Div | ast.Mult)
        and (loop.end_lineno or 0) < stmt.lineno < name.lineno
        for stmt in made
    )


def _undivided(node: ast.AST) -> Iterator[ast.Name]:
    """The names in an expression that are not part of a ratio or a product."""
    if isinstance(node, ast.Name):
        yield node
    elif not (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div | ast.Mult)):
        for inner in ast.iter_child_nodes(node):
            yield from _undivided(inner)


def _formatted_whole(differing: DifferingValues) -> Iterator[ast.Name]:
    """Averaged sums that are formatted by d, which takes no mean: '{:d}'.format(n), f'{n:d}'."""
    for node in ast.walk(differing.script.tree):
        held: list[ast.expr] = []
        if isinstance(node, ast.FormattedValue) and node.format_spec is not None:
            held = [node.value] if ast.unparse(node.format_spec).rstrip("'\"").endswith("d") else []
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "format":
            held = list(_whole_arguments(node, node.func.value))
        for one in held:
            behind = isinstance(one, ast.Name) and not differing.training.in_loop(one)
            if behind and isinstance(one, ast.Name) and differing.training.scopes.home(one) in differing.averaged:
                yield one


def _whole_arguments(call: ast.Call, text: ast.expr) -> Iterator[ast.expr]:
    """The arguments of str.format() that a text formats by d."""
    if not isinstance(text, ast.Constant) or not isinstance(text.value, str):
        return
    try:
        fields = [(name, spec) for _, name, spec, _ in Formatter().parse(text.value) if name is not None]
    except ValueError:
        return
    for number, (name, spec) in enumerate(fields):
        place = number if not name else int(name) if name.isdigit() else None
        if spec and spec.endswith("d"):
            if place is not None and place < len(call.args):
                yield call.args[place]
            yield from (keyword.value for keyword in call.keywords if keyword.arg == name)


def check_decisions(differing: DifferingValues) -> None:
    """Refuse decisions that part the processes (TMG295); warn of figures of one process (TMG370)."""
    training, by_rank_0, script = differing.training, differing.by_rank_0, differing.script
    for node in ast.walk(script.tree):
        if isinstance(node, ast.If | ast.While) and by_rank_0.of_all(node) and differing.differs(node.test):
            what = _parts(differing, node)
            if what:
                script.finding(node.test, "TMG295 parts_processes", what=what)
        elif isinstance(node, ast.For) and node is not training.loop and by_rank_0.of_all(node):
            if differing.differs(node.iter) and (what := _parts(differing, node, leaves=False)):
                script.finding(node.iter, "TMG295 repeats", what=what)
        elif isinstance(node, ast.Assert | ast.IfExp) and by_rank_0.of_all(node) and differing.differs(node.test):
            if isinstance(node, ast.Assert) or any(n is training.forward for n in ast.walk(node)):
                script.finding(node.test, "TMG295 decides")
        elif isinstance(node, ast.Call) and by_rank_0.of_all(node):
            _check_given(differing, node)
        elif isinstance(node, ast.Assign) and by_rank_0.of_all(node) and differing.differs(node.value):
            for target in node.targets:
                if "param_groups" in ast.unparse(target):
                    script.finding(node, "TMG295 learning_rate")
    _warn_of_figures(differing)


def _parts(differing: DifferingValues, stmt: ast.stmt, leaves: bool = True) -> str:
    """In words, what a statement does that all processes have to do together; "" for nothing."""
    training, script = differing.training, differing.script
    for node in ast.walk(stmt):
        if leaves and isinstance(node, ast.Break | ast.Continue | ast.Return | ast.Raise):
            return f"leave here ({type(node).__name__.lower()}, line {node.lineno})"
        if not isinstance(node, ast.Call):
            continue
        function = training.scopes.called(node)
        if function is not None and (function in training.path or function in differing.by_rank_0.functions):
            return f"call {function.name}() in line {node.lineno}"
        if node is training.forward or node is training.backward:
            return f"compute gradients in line {node.lineno}"
        if isinstance(node.func, ast.Attribute) and node.func.attr in _COLLECTIVE:
            return f"call {ast.unparse(node.func)}() in line {node.lineno}"
        if script.name(node.func) in ("torch.save", "sys.exit", "exit", "quit") or _exits(node):
            return f"call {ast.unparse(node.func)}() in line {node.lineno}"
        if function is not None and any(_exits(n) or _waits(script, n) for n in ast.walk(function)):
            return f"call {function.name}() in line {node.lineno}"
    return ""


def _exits(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("exit", "quit")


def _waits(script: Script, node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and script.name(node.func) in ("torch.save", "sys.exit")


def _check_given(differing: DifferingValues, call: ast.Call) -> None:
    """Schedulers that look at a figure have to be given the same one everywhere."""
    if isinstance(call.func, ast.Attribute) and call.func.attr == "step" and call not in differing.training.steps:
        for given in call.args:
            if differing.differs(given):
                differing.script.finding(given, "TMG295 schedule")


def _warn_of_figures(differing: DifferingValues) -> None:
    """Warn at the first print, in the training functions, of numbers that only rank 0 has."""
    for call in filter(_shows, differing.script.calls):
        if not differing.by_rank_0.of_all(call) and not _in_gated(differing, call):
            continue
        if any(map(differing.differs, all_arguments(call))):
            differing.script.finding(call, "TMG370")
            return


def _shows(call: ast.Call) -> bool:
    """Whether a call prints what it is given, or notes it down."""
    if isinstance(call.func, ast.Name):
        return call.func.id == "print"
    return isinstance(call.func, ast.Attribute) and call.func.attr in _SHOWING


def _in_gated(differing: DifferingValues, node: ast.AST) -> bool:
    return any(above in differing.by_rank_0.gated for above in differing.script.above(node))
