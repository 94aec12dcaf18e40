"""Values that differ between the processes, and the decisions that must not depend on them.

A process that leaves a loop, or skips a step, while the others go on makes them wait for ever.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from string import Formatter

from converter.syntax.changes import Change
from converter.syntax.script import Script, all_arguments, elements, literal, method_name, nodes_of, plain_name
from converter.targets.ddp.rank_0 import RankZero
from converter.targets.ddp.scopes import ScopedName
from converter.targets.ddp.training import Training, looped_over

FIGURES = "TMG182"
_OWN = ("random.", "numpy.random.", "time.", "torch.rand", "torch.normal", "torch.bernoulli", "torch.multinomial")
_SAME_SEED = ("random.seed", "numpy.random.seed", "time.sleep")
_SHOWING = ("add_scalar", "set_postfix", "set_description", "info", "write", "append")
_COLLECTIVE = ("step", "backward", "zero_grad", "load_state_dict")
_EXITS = ("exit", "quit")


class DifferingValues:
    """The names that hold different values in different processes.

    averaged: sums over the loop's batches that are replaced by their means over the processes behind it.
    """

    def __init__(self, training: Training, by_rank_0: RankZero) -> None:
        self.training, self.by_rank_0 = training, by_rank_0
        self.script, self.scopes = training.script, training.scopes
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
        if isinstance(node, ast.For) and (node is self.training.loop or self.differs(node.iter)):
            self._mark(node.target, _counter(self.script, node))
        elif isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign | ast.NamedExpr) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            places = [target.slice for target in targets if isinstance(target, ast.Subscript)]
            if any(map(self.differs, (*places, node.value))) or self._decided(node):
                for target in targets:
                    self._mark(target)
        elif isinstance(node, ast.Return) and node.value is not None and self.differs(node.value):
            function = self.scopes.scope(node)
            if function is not None and function not in self.by_rank_0.functions:
                self.returned.add(function)
        elif isinstance(node, ast.Call):
            self._look_at_call(node)

    def _look_at_call(self, call: ast.Call) -> None:
        """Own functions take what they are given; objects keep what their methods are given."""
        function = self.scopes.called(call)
        owner = call.func.value if isinstance(call.func, ast.Attribute) else None
        if function is not None:
            for arg in [*function.args.args, *function.args.kwonlyargs]:
                value = self.scopes.given(call, function, arg.arg)
                if value is not None and self.differs(value):
                    self.own.add(ScopedName(function, arg.arg))
        elif isinstance(owner, ast.Name) and self.is_given(call) and not self._is_of_training(owner):
            self._mark(owner)

    def is_given(self, call: ast.Call) -> bool:
        """Whether an argument of a call may have another value in each process."""
        return any(map(self.differs, all_arguments(call)))

    def _is_of_training(self, node: ast.Name) -> bool:
        """Whether an object has the same state in all processes, whatever its methods are given."""
        if self.training.is_net(node) or self.script.names.of(node):
            return True
        return any(
            self.script.name(made.func).startswith(("torch.nn.", "torch.cuda.amp", "torch.amp", "argparse"))
            for made in self.scopes.calls_behind(node)
        )

    def _mark(self, target: ast.expr, skipped: ast.expr | None = None) -> None:
        self.own |= {self.scopes.home(node) for node in nodes_of(ast.Name, target) if node is not skipped}

    def _decided(self, node: ast.AST) -> bool:
        """Whether a statement is reached by a decision of this process alone."""
        tests = (above.test for above in self.script.above(node) if isinstance(above, ast.If | ast.While))
        return any(map(self.differs, tests))

    def differs(self, node: ast.AST) -> bool:
        """Whether an expression may have another value in each process."""
        if isinstance(node, ast.Lambda):
            return False
        if isinstance(node, ast.Name):
            return self._is_own(node)
        result = self._result(node) if isinstance(node, ast.Call) else None
        return any(map(self.differs, ast.iter_child_nodes(node))) if result is None else result

    def _result(self, call: ast.Call) -> bool | None:
        """Whether the result of a call differs, where that does not depend on its arguments; else None."""
        function, called, name = self.scopes.called(call), plain_name(call), self.script.name(call.func)
        if function in self.by_rank_0.functions and self.by_rank_0.of_all(call):
            return False
        if function in self.returned:
            return True
        draws = name.startswith(_OWN) and name not in _SAME_SEED
        # The model's own are dropout and the statistics of batches.
        if (draws or called in ("next", "iter") or self.training.is_net(call.func)) and self._trains(call):
            return True
        # Each share has as many examples, so the length of a loader is the same in all processes.
        of_loader = called == "len" and len(call.args) == 1 and isinstance(call.args[0], ast.Name | ast.Attribute)
        return False if of_loader else None

    def _trains(self, node: ast.Call) -> bool:
        """Whether a call is made while the script trains."""
        scope, path = self.scopes.scope(node), self.training.path
        late = node.lineno >= self.training.wrap.lineno
        return late or scope in path[1:] or (scope is not None and scope not in path)

    def _is_own(self, node: ast.Name) -> bool:
        home = self.scopes.home(node)
        if home in self.averaged and not self.training.in_loop(node) and isinstance(node.ctx, ast.Load):
            return False
        return home in self.own

    def counts(self, origin: ScopedName) -> bool:
        """Whether a sum grows with the examples of one process: its losses, its hits, how many there are."""
        added = [b.stmt.value for b in self.scopes.bindings[origin] if isinstance(b.stmt, ast.AugAssign)]
        return any(map(self._is_own, nodes_of(ast.Name, *added)))

    def sums(self) -> Iterator[ScopedName]:
        """Names that the training loop adds to, and that are read behind it."""
        for node in nodes_of(ast.AugAssign, self.training.loop):
            if isinstance(node.op, ast.Add) and isinstance(node.target, ast.Name):
                home = self.scopes.home(node.target)
                if home.scope is self.scopes.scope(self.training.loop) and self._is_sum(home):
                    yield home

    def _is_sum(self, home: ScopedName) -> bool:
        """Whether a name begins as a number, is only added to in the training loop, and is read whole behind it."""
        begun = [b for b in self.scopes.bindings[home] if not isinstance(b.stmt, ast.AugAssign)]
        if any(self.training.in_loop(b.stmt) or not isinstance(literal(b.value), int | float) for b in begun):
            return False
        read = [
            self.script.parent(one)
            for one in self.script.reads(home.name)
            if home.scope is None or self.script.is_inside(one, home.scope)
            if not self.training.in_loop(one) and one.lineno > self.training.loop.lineno
        ]
        return bool(read) and not any(isinstance(one, ast.Attribute | ast.Subscript) for one in read)


def _counter(script: Script, loop: ast.For) -> ast.expr | None:
    """The number that enumerate() gives: the same in all processes."""
    parts = elements(loop.target) if isinstance(loop.target, ast.Tuple) else []
    counted = looped_over(script, loop) is not loop.iter and len(parts) == 2
    return parts[0] if counted and any(n.id == "enumerate" for n in nodes_of(ast.Name, loop.iter)) else None


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
    loop, scopes = differing.training.loop, differing.scopes
    homes = {origin for origin in differing.sums() if differing.counts(origin)}
    for call in filter(_shows, differing.script.calls):
        if call.lineno > loop.lineno and not differing.training.in_loop(call):
            yield from (
                name for name in _undivided(call) if scopes.home(name) in homes and not _made_ratio(differing, name)
            )


def _made_ratio(differing: DifferingValues, name: ast.Name) -> bool:
    """Whether a sum is divided or multiplied between the training loop and a place: total /= len(loader)."""
    made = (binding.stmt for binding in differing.scopes.bindings[differing.scopes.home(name)])
    scaled = (one for one in made if isinstance(one, ast.AugAssign) and isinstance(one.op, ast.Div | ast.Mult))
    return any((differing.training.loop.end_lineno or 0) < one.lineno < name.lineno for one in scaled)


def _undivided(node: ast.AST) -> Iterator[ast.Name]:
    """The names in an expression that are not part of a ratio or a product."""
    if isinstance(node, ast.Name):
        yield node
    elif not (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div | ast.Mult)):
        for inner in ast.iter_child_nodes(node):
            yield from _undivided(inner)


def _formatted_whole(differing: DifferingValues) -> Iterator[ast.Name]:
    """Averaged sums that are formatted by d, which takes no mean: '{:d}'.format(n), f'{n:d}'."""
    script = differing.script
    held = [
        one.value
        for one in script.nodes(ast.FormattedValue)
        if one.format_spec is not None and ast.unparse(one.format_spec).rstrip("'\"").endswith("d")
    ]
    held += [one for call in script.nodes(ast.Call) for one in _whole_arguments(call)]
    names = (one for one in held if isinstance(one, ast.Name) and not differing.training.in_loop(one))
    yield from (name for name in names if differing.scopes.home(name) in differing.averaged)


def _whole_arguments(call: ast.Call) -> Iterator[ast.expr]:
    """The arguments of str.format() that its text formats by d; none for other calls."""
    text = literal(call.func.value) if isinstance(call.func, ast.Attribute) and call.func.attr == "format" else None
    try:
        parsed = list(Formatter().parse(text)) if isinstance(text, str) else []
    except ValueError:
        return
    fields = [(name, spec) for _, name, spec, _ in parsed if name is not None]
    for number, (name, spec) in enumerate(fields):
        place = number if not name else int(name) if name.isdigit() else None
        if spec and spec.endswith("d"):
            if place is not None and place < len(call.args):
                yield call.args[place]
            yield from (keyword.value for keyword in call.keywords if keyword.arg == name)


def check_decisions(differing: DifferingValues) -> None:
    """Refuse decisions that part the processes (TMG295); warn of figures of one process (TMG370)."""
    training, by_rank_0, script = differing.training, differing.by_rank_0, differing.script
    decided = (ast.If, ast.While, ast.Assert, ast.IfExp)
    for node in filter(by_rank_0.of_all, ast.walk(script.tree)):
        if isinstance(node, decided) and differing.differs(node.test):
            if isinstance(node, ast.If | ast.While):
                if what := _parts(differing, node):
                    script.finding(node.test, "TMG295 parts_processes", what=what)
            elif isinstance(node, ast.Assert) or training.forward in ast.walk(node):
                script.finding(node.test, "TMG295 decides")
        elif isinstance(node, ast.For) and node is not training.loop and differing.differs(node.iter):
            if what := _parts(differing, node, leaves=False):
                script.finding(node.iter, "TMG295 repeats", what=what)
        elif isinstance(node, ast.Call):
            _check_given(differing, node)
        elif isinstance(node, ast.Assign) and differing.differs(node.value) and _sets_rate(node):
            script.finding(node, "TMG295 learning_rate")
    _warn_of_figures(differing)


def _sets_rate(stmt: ast.Assign) -> bool:
    return any("param_groups" in ast.unparse(target) for target in stmt.targets)


def _parts(differing: DifferingValues, stmt: ast.stmt, leaves: bool = True) -> str:
    """In words, what a statement does that all processes have to do together; "" for nothing."""
    training, script = differing.training, differing.script
    together = (*training.path, *differing.by_rank_0.functions)
    for node in ast.walk(stmt):
        if leaves and isinstance(node, ast.Break | ast.Continue | ast.Return | ast.Raise):
            return f"leave here ({type(node).__name__.lower()}, line {node.lineno})"
        if not isinstance(node, ast.Call):
            continue
        function = differing.scopes.called(node)
        if node is training.forward or node is training.backward:
            return f"compute gradients in line {node.lineno}"
        inside = nodes_of(ast.Call, function) if function is not None else ()
        if function in together or any(_waits_or_exits(script, call) for call in inside):
            return f"call {ast.unparse(node.func)}() in line {node.lineno}"
        if method_name(node) in _COLLECTIVE or _waits_or_exits(script, node):
            return f"call {ast.unparse(node.func)}() in line {node.lineno}"
    return ""


def _waits_or_exits(script: Script, call: ast.Call) -> bool:
    return script.name(call.func) in ("torch.save", "sys.exit", *_EXITS) or plain_name(call) in _EXITS


def _check_given(differing: DifferingValues, call: ast.Call) -> None:
    """Schedulers that look at a figure have to be given the same one everywhere."""
    if method_name(call) == "step" and call not in differing.training.steps:
        for given in filter(differing.differs, call.args):
            differing.script.finding(given, "TMG295 schedule")


def _warn_of_figures(differing: DifferingValues) -> None:
    """Warn at the first print, in the training functions, of numbers that only rank 0 has."""
    for call in filter(_shows, differing.script.calls):
        told = differing.by_rank_0.of_all(call) or _in_gated(differing, call)
        if told and differing.is_given(call):
            differing.script.finding(call, "TMG370")
            return


def _shows(call: ast.Call) -> bool:
    """Whether a call prints what it is given, or notes it down."""
    return plain_name(call) == "print" or method_name(call) in _SHOWING


def _in_gated(differing: DifferingValues, node: ast.AST) -> bool:
    return any(above in differing.by_rank_0.gated for above in differing.script.above(node))
