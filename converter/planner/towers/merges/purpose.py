"""What a value of the towers is read for: to be shown alone, or to decide.

    spread = largest / smallest                         # a value of the towers
    _, shown = sess.run([train_op, spread], feed)
    print('step %d: %.3f' % (step, shown))              # it is printed, and goes nowhere else

A value is only shown if each way that it goes ends in a print, a log, a summary or a plot. It is followed through
tuples, dicts, names, attributes, runs and functions of the script. What is not known ends as a decision: a condition,
a feed, a file, a call that is not followed.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator
from functools import cached_property

from converter.analysis.facts import Facts
from converter.analysis.flow.joined import choices
from converter.analysis.traits import Trait, has
from converter.analysis.values import (
    Bound,
    Constant,
    Function,
    Input,
    Instance,
    Mapping,
    Module,
    Number,
    Sequence,
    Symbol,
    Tensor,
    Value,
    is_of_own,
    tensors_in,
)
from converter.dataclass import dataclass
from converter.planner.own.names import uses_of
from converter.planner.questions.keeps_nothing import keeps_nothing
from converter.planner.questions.statements import called
from converter.planner.region.region import Region

Path = tuple[object, ...]  # the keys under which the value lies in what an expression gives; () for any part of it
ANY = object()  # in a path: under any of the keys
Step = tuple[ast.AST, Path]

DEEPEST = 4  # lists and dicts within each other that are followed
MOST = 1000  # expressions that are looked at for one value
SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef, ast.Module)
# Expressions that give what their parts make.
MADE_OF_PARTS = (ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.JoinedStr, ast.FormattedValue, ast.Starred)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
# Builtins and methods that give something computed of their arguments, and keep nothing.
COMPUTES = frozenset(
    ("float", "int", "str", "repr", "round", "abs", "sum", "min", "max", "len", "list", "tuple", "zip")
    + ("enumerate", "sorted", "format", "join", "dict", "bool", "mean", "std", "var", "argmax", "argmin", "any")
    + ("all", "tolist", "item", "items", "values", "keys", "flatten", "ravel", "reshape", "squeeze", "transpose")
    + ("astype", "copy", "get", "rjust", "ljust")
)
LOGS = frozenset(
    ("debug", "info", "warn", "warning", "error", "critical", "exception", "log", "set_postfix", "set_description")
)
LOGGERS = ("log", "logger", "logging", "LOG", "LOGGER", "_logger", "pbar", "bar", "progress")
PAIRS, VALUES = ("items", "iteritems"), ("values", "itervalues")  # of a dict: what lies under its keys
WRITES = ("write", "writelines", "writerow")  # methods of files and of the csv module's writers
GROWS = ("append", "extend", "add", "insert")
KEEPS = ("save", "random", "copyto", "put", "lib", "memmap")  # functions of NumPy that do not only compute
DRAWS = frozenset(
    (
        "plot",
        "imshow",
        "matshow",
        "hist",
        "scatter",
        "bar",
    )
)  # methods of a plot


class Unknown(Exception):
    """Raised where a value may decide something, or goes where it cannot be followed."""


def is_only_shown(facts: Facts, region: Region, value: Value) -> bool:
    """True if all that reads a tensor, or a list or dict of them, behind the towers leads to prints and logs only.

    A summary, a plot and a log file of numbers count as well.
    """
    held = [tensor for tensor in tensors_in(value) if tensor.batch.kind != "free"]
    if any(named is tensor or tensor in choices(named) for named, _, _ in facts.named for tensor in held):
        return False
    try:
        number = all(tensor.rank == 0 for tensor in held)
        flow = Flow(facts, region, frozenset(run.call for run in facts.runs), number)
        return flow.ends_in_what_shows(_reads(facts, region, value))
    except Unknown:
        return False


def is_target_only_shown(facts: Facts, region: Region, target: ast.AST) -> bool:
    """The same for what a loop binds to its target in each turn."""
    try:
        flow = Flow(facts, region, frozenset(run.call for run in facts.runs), number=True)
        return flow.ends_in_what_shows(iter([*flow.bound(target, ())]))
    except Unknown:
        return False


def _reads(facts: Facts, region: Region, value: Value) -> Iterator[Step]:
    """The expressions behind the towers that give the value, or something that holds it.

    A tensor of a list or a dict that also has a name of its own is merged under that name, where it is read by it.
    """
    paths: dict[int, list[Path]] = {}
    for access in region.reads_after:
        held = access.value
        if held.uid not in paths:
            paths[held.uid] = _paths_to(held, value)
        if not paths[held.uid]:
            continue
        if isinstance(held, Tensor) and not isinstance(value, Tensor) and access.place.kind != "item":
            continue
        if isinstance(held, Tensor) or not _is_one_item(facts.parents.get(access.node), access.node):
            yield from [(access.node, path) for path in paths[held.uid]]


def _paths_to(held: Value, value: Value) -> list[Path]:
    """Where in something the value lies, or the tensors of it that depend on the batch; nothing where they do not."""
    parts = {tensor.uid for tensor in tensors_in(value) if tensor.batch.kind != "free"} | {value.uid}
    found = dict.fromkeys(_paths(held, parts, ()))
    hidden = not found and isinstance(held, (Sequence, Mapping)) and any(t.uid in parts for t in tensors_in(held))
    return [()] if hidden else [*found]


def _paths(held: Value, parts: set[int], path: Path) -> Iterator[Path]:
    """The same for lists and dicts, under as many keys as the parts are deep in there."""
    if isinstance(held, (Sequence, Mapping)) and len(path) < DEEPEST:
        pairs = held.pairs if isinstance(held, Mapping) else [(ANY, one) for one in held.elements]
        for key, one in pairs:
            yield from _paths(one, parts, (*path, key.value if isinstance(key, Constant) else ANY))
    elif isinstance(held, Tensor):
        chosen = choices(held) if held.op == "join" else [held]
        if held.uid in parts or any(one.uid in parts for one in chosen):
            yield path


def _only_stops(test: ast.Assert | ast.If) -> bool:
    """Whether a condition only guards against numbers with which training cannot go on: `if np.isnan(loss): raise`."""
    if isinstance(test, ast.Assert):
        return True
    *before, last = test.body
    ends = isinstance(last, ast.Expr) and isinstance(last.value, ast.Call) and called(last.value) in ("exit", "quit")
    return (ends or isinstance(last, ast.Raise)) and not test.orelse and all(isinstance(s, ast.Expr) for s in before)


def _is_one_item(parent: ast.AST | None, node: ast.AST) -> bool:
    """True for an item under a written key: if it holds the value, reading it is an access of its own."""
    return isinstance(parent, ast.Subscript) and parent.value is node and isinstance(parent.slice, ast.Constant)


@dataclass(frozen=True)
class Flow:
    """Follows a value through the syntax of the project's files.

    number: it is a single number, which fits beside any other value.
    """

    facts: Facts
    region: Region
    runs: frozenset[ast.AST]
    number: bool = False

    def ends_in_what_shows(self, begin: Iterator[Step]) -> bool:
        """Whether each way of a value ends in what shows it; raises Unknown where it goes anywhere else."""
        ahead = [*begin]
        seen = set[Step]()
        while ahead:
            step = ahead.pop()
            if step not in seen:
                seen.add(step)
                if len(seen) > MOST:
                    return False
                ahead += self._above(*step)
        return True

    def _above(self, node: ast.AST, path: Path) -> Iterator[Step]:
        """Goes to the expression or statement that an expression is a part of."""
        parent = self.facts.parents.get(node)
        if isinstance(parent, ast.Expr):
            return
        if isinstance(parent, MADE_OF_PARTS):
            self._check_alone(parent, node)
            yield (parent, path if _of_many(path) and isinstance(parent, ast.BinOp) else ())
        elif isinstance(parent, (ast.List, ast.Tuple, ast.Dict)):
            yield (parent, _within(parent, node, path))
        elif isinstance(parent, (ast.Assign, ast.AnnAssign, ast.AugAssign)) and node is parent.value:
            for target in parent.targets if isinstance(parent, ast.Assign) else [parent.target]:
                yield from self.bound(target, () if isinstance(parent, ast.AugAssign) else path)
        elif isinstance(parent, ast.Subscript):
            yield from self._item(parent, node, path)
        elif isinstance(parent, (ast.Call, ast.keyword)):
            yield from self._argument(parent, node, path)
        else:
            yield from self._rarer(parent, node, path)

    def _rarer(self, parent: ast.AST | None, node: ast.AST, path: Path) -> Iterator[Step]:
        if isinstance(parent, ast.Attribute):
            yield from self._attribute(parent, path)
        elif isinstance(parent, ast.Return):
            yield from self._returned(node, path)
        elif isinstance(parent, ast.IfExp) and node is not parent.test:
            yield (parent, path)
        elif isinstance(parent, COMPREHENSIONS):
            yield (parent, ())
        elif isinstance(parent, (ast.For, ast.comprehension)) and node is parent.iter:
            if not self._gives_keys(node, path):
                yield from self._each(parent, path)
        elif not self.number or not isinstance(parent, (ast.Assert, ast.If)) or not _only_stops(parent):
            raise Unknown

    def _gives_keys(self, node: ast.AST, path: Path) -> bool:
        """Whether a loop goes over the keys of the dict in which the value lies."""
        return _of_many(path) and isinstance(self.facts.read_or_written.get(node), Mapping)

    def _each(self, loop: ast.For | ast.comprehension, path: Path) -> Iterator[Step]:
        """A loop over the value, or over what it lies in; raises Unknown."""
        if isinstance(loop, ast.For) and (not _only_calls(loop) or self._runs_in(loop)):
            raise Unknown
        yield from self.bound(loop.target, path[1:] if _of_many(path) else ())
        if isinstance(loop, ast.comprehension):
            yield (self.facts.parents[loop], ())

    def _check_alone(self, parent: ast.AST, node: ast.AST | None = None, but: ast.AST | None = None) -> None:
        """Raises Unknown if other parts hold more than plain numbers, such as rows of the whole batch."""
        if self.number or _is_text(parent):
            return  # a text shows them side by side
        ahead = [parent]
        while ahead:
            for part in ast.iter_child_nodes(ahead.pop()):
                held = self.facts.read_or_written.get(part)
                if part is node or part is but or isinstance(held, (Number, Constant, Symbol, Module)):
                    continue
                if held is not None and part in self._read_outside and not self._is_first_towers(part):
                    raise Unknown
                if held is None and isinstance(part, ast.Call) and not self._is_of_library(part):
                    raise Unknown
                ahead += [part] if held is None else []

    def _is_first_towers(self, part: ast.AST) -> bool:
        """Whether what an expression gives behind the towers is of the first tower's own example alone."""
        held = [access.value for access in self.facts.accesses_at(part)]
        return bool(held) and all(isinstance(v, Input) and v.is_own or is_of_own(v) for v in held)

    @cached_property
    def _read_outside(self) -> frozenset[ast.AST]:
        """What is read outside of the towers, in any execution; what towers alone read is a share, as the value is."""
        found = (all_of for site, all_of in self.facts.accesses_by_site if not self.region.in_any_tower(site))
        return frozenset(access.node for all_of in found for _, access in all_of)

    def _is_of_library(self, call: ast.Call) -> bool:
        """Whether a call computes something of its arguments alone, which are looked at."""
        called = self._called(call.func)
        return isinstance(called, Symbol) and called.library == "tf" and has(called.name, Trait.COMPUTES_ONE)

    def _hands_to_python(self, call: ast.Call, called: Value | None) -> bool:
        """Whether a call puts a function of the script into the graph that keeps nothing of what it is given."""
        if not isinstance(called, Symbol) or called.library != "tf" or not has(called.name, Trait.CALLS_PYTHON):
            return False
        named = [keyword.value for keyword in call.keywords if keyword.arg == "func"]
        function = self._called((*call.args, *named)[0]) if call.args or named else None
        return isinstance(function, Function) and keeps_nothing(self.facts, function.node)

    def _runs_in(self, loop: ast.For) -> bool:
        return any(node in self.runs for node in ast.walk(loop))

    def _item(self, parent: ast.Subscript, node: ast.AST, path: Path) -> Iterator[Step]:
        """`values[key]`: the value itself if it lies under that key."""
        if isinstance(parent.ctx, ast.Store) and node is parent.value:
            return  # what holds the value is given another one
        if not isinstance(parent.ctx, ast.Load) or node is parent.slice:
            raise Unknown
        if not path and any(isinstance(part, ast.Name) for part in ast.walk(parent.slice)):
            raise Unknown  # a row that a share may not have
        if _of_many(path):
            yield (parent, path if isinstance(parent.slice, ast.Slice) else path[1:])
            return
        written = isinstance(parent.slice, ast.Constant) and node is parent.value and path
        if written and isinstance(parent.slice, ast.Constant) and parent.slice.value != path[0]:
            return
        yield (parent, path[1:] if written else ())

    def _attribute(self, parent: ast.Attribute, path: Path) -> Iterator[Step]:
        call = self.facts.parents.get(parent)
        if not isinstance(call, ast.Call) or call.func is not parent:
            yield (parent, ())
        elif parent.attr == "keys" and self._gives_keys(parent.value, path):
            return
        elif parent.attr in PAIRS and path:
            yield (call, (ANY, 1, *path[1:]))
        elif parent.attr in VALUES and path:
            yield (call, (ANY, *path[1:]))
        elif call in self.runs or parent.attr in COMPUTES:
            yield (call, ())
        elif parent.attr not in GROWS and not (parent.attr == "update" and self._is_dict(parent.value)):
            raise Unknown

    def _is_dict(self, node: ast.expr) -> bool:
        return isinstance(self.facts.read_or_written.get(node), Mapping)

    def _argument(self, parent: ast.Call | ast.keyword, node: ast.AST, path: Path) -> Iterator[Step]:
        """The steps by which a value goes on when it is an argument of a call; raises Unknown."""
        call = self.facts.parents[parent] if isinstance(parent, ast.keyword) else parent
        keyword = parent.arg if isinstance(parent, ast.keyword) else ""
        if not isinstance(call, ast.Call) or node is call.func:
            raise Unknown
        called = self._called(call.func)
        name = getattr(call.func, "attr", getattr(call.func, "id", ""))
        if call in self.runs:
            if keyword != "fetches" and not (call.args and node is call.args[0]):
                raise Unknown
            yield (call, path)
        elif _shows(call.func, called, name) or (self.number and _writes_text(call.func, called)):
            yield from [(call, path)] if name == "Print" and node is call.args[0] else []
        elif name in GROWS and isinstance(call.func, ast.Attribute):
            yield from self.bound(call.func.value, ())
        elif name == "update" and isinstance(call.func, ast.Attribute) and call.args == [node]:
            if not self._is_dict(call.func.value):
                raise Unknown
            yield from self.bound(call.func.value, path)
        elif self._hands_to_python(call, called):
            number = path[0] if path else None
            given = node.elts[number] if isinstance(node, (ast.List, ast.Tuple)) and isinstance(number, int) else None
            self._check_alone(node, given)
            yield (call, ())
        elif _computes(call.func, called, name):
            if not _fills_in(call.func):
                self._check_alone(call, node, but=call.func)
            yield (call, ())
        elif isinstance(called, Function) and isinstance(called.node, ast.FunctionDef):
            yield from self._passed(called.node, call, node, keyword, path)
        else:
            raise Unknown

    def _called(self, function: ast.expr) -> Value | None:
        """The function that a call calls; a library's function is looked up by its full name."""
        attributes: list[str] = []
        root: ast.expr = function
        while isinstance(root, ast.Attribute):
            attributes.insert(0, root.attr)
            root = root.value
        holder = self.facts.read_or_written.get(root)
        if isinstance(holder, Symbol):
            return Symbol(holder.library, ".".join(filter(None, (holder.name, *attributes))))
        found = self.facts.read_or_written.get(function)
        if found is None and isinstance(holder, Instance) and holder.cls is not None and len(attributes) == 1:
            return holder.cls.find(attributes[0])  # a method
        return found.function if isinstance(found, Bound) else found

    def _passed(
        self, function: ast.FunctionDef, call: ast.Call, node: ast.AST, keyword: str | None, path: Path
    ) -> Iterator[Step]:
        """An argument of a function of the script: its parameter is followed."""
        names = [one.arg for one in (*function.args.posonlyargs, *function.args.args)]
        names = names[1:] if isinstance(call.func, ast.Attribute) and names[:1] == ["self"] else names
        if any(isinstance(arg, ast.Starred) for arg in call.args) or keyword is None:
            raise Unknown
        position = next((i for i, arg in enumerate(call.args) if arg is node), len(names))
        given = keyword or (names[position] if position < len(names) else "")
        if given not in [*names, *(one.arg for one in function.args.kwonlyargs)]:
            raise Unknown
        yield from self._loads(function, given, path)

    def _returned(self, node: ast.AST, path: Path) -> Iterator[Step]:
        """The values that a function returns, wherever it is called."""
        function = self._scope(node)
        if not isinstance(function, ast.FunctionDef):
            raise Unknown
        for read in (*self.facts.nodes(ast.Name), *self.facts.nodes(ast.Attribute)):
            if getattr(read, "attr", getattr(read, "id", "")) == function.name:
                call = self.facts.parents.get(read)
                called = isinstance(call, ast.Call) and call.func is read
                if not called and not function.decorator_list:
                    raise Unknown
                yield (call if called and call is not None else read, path)

    def bound(self, target: ast.AST, path: Path) -> Iterator[Step]:
        """A target that gets the value: all that reads it is followed."""
        if isinstance(target, ast.Name):
            yield from self._loads(self._scope(target), target.id, path)
        elif isinstance(target, (ast.Tuple, ast.List)):
            known = path and isinstance(path[0], int) and not any(isinstance(t, ast.Starred) for t in target.elts)
            number = path[0] if known else None
            for index, inner in enumerate(target.elts):
                if number is None or index == number:
                    yield from self.bound(inner, path[1:] if number is not None or _of_many(path) else ())
        elif isinstance(target, ast.Subscript):
            written = isinstance(target.slice, ast.Constant)
            key = target.slice.value if isinstance(target.slice, ast.Constant) else None
            yield from self.bound(target.value, (key, *path) if written else ())
        elif isinstance(target, ast.Attribute):
            yield from [(n, path) for n in self._attributes(target.attr)]
        else:
            raise Unknown

    def _attributes(self, name: str) -> list[ast.Attribute]:
        return [n for n in self.facts.nodes(ast.Attribute) if n.attr == name and isinstance(n.ctx, ast.Load)]

    def _loads(self, scope: ast.AST, name: str, path: Path) -> Iterator[Step]:
        """All reads of a name in its function; of a module's name, those of other files as well."""
        if isinstance(scope, (ast.Lambda, ast.ClassDef)):
            raise Unknown
        outer = any(name in node.names for node in self.facts.nodes(ast.Global))
        outer = outer or any(name in node.names for node in self.facts.nodes(ast.Nonlocal))
        if outer or (isinstance(scope, ast.Module) and self._is_imported(scope, name)):
            raise Unknown
        if isinstance(scope, ast.Module) and len(self.facts.trees()) > 1:
            yield from [(node, path) for node in self._attributes(name)]
        yield from [(node, path) for node in uses_of(scope, name) if isinstance(node.ctx, ast.Load)]

    def _is_imported(self, module: ast.Module, name: str) -> bool:
        """Whether another file may import a name out of a file, by itself or with all others: `from train import *`."""
        path = next((p for p, one in self.facts.modules.items() if one.tree is module), self.facts.path)
        folder, file = os.path.split(os.path.splitext(path)[0])
        called = os.path.basename(folder) if file == "__init__" else file
        asked = [node for node in self.facts.nodes(ast.ImportFrom) if {name, "*"} & {one.name for one in node.names}]
        return any(node.module is None or node.module.rpartition(".")[2] == called for node in asked)

    def _scope(self, node: ast.AST) -> ast.AST:
        """The function, class or module around a node."""
        around: ast.AST | None = self.facts.parents.get(node)
        while around is not None and not isinstance(around, SCOPES):
            around = self.facts.parents.get(around)
        if around is None:
            raise Unknown
        return around


def _of_many(path: Path) -> bool:
    """Whether the value lies in a list or a dict, under a key that is not known."""
    return path[:1] == (ANY,)


def _within(parent: ast.List | ast.Tuple | ast.Dict, node: ast.AST, path: Path) -> Path:
    """Where the value lies in a list, tuple or dict that is written out."""
    if isinstance(parent, ast.Dict):
        key = next((k for k, value in zip(parent.keys, parent.values, strict=True) if value is node), None)
        return (key.value, *path) if isinstance(key, ast.Constant) else ()
    if any(isinstance(element, ast.Starred) for element in parent.elts):
        return ()
    return (next(i for i, element in enumerate(parent.elts) if element is node), *path)


def _only_calls(loop: ast.For) -> bool:
    """True for a loop that only calls functions, such as one that prints one value after the other."""
    return not loop.orelse and all(isinstance(s, ast.Expr) and isinstance(s.value, ast.Call) for s in loop.body)


def _shows(function: ast.AST, called: Value | None, name: str) -> bool:
    """True for a call that prints, logs, plots or summarises its arguments."""
    if isinstance(called, Symbol):
        logs = "logging" in (called.library, called.name.partition(".")[0])
        plots = called.library == "matplotlib"
        return has(called.name, Trait.SHOWS) or (logs and name in LOGS) or plots
    if isinstance(function, ast.Name):
        return name == "print" and not isinstance(called, Function)
    if not isinstance(function, ast.Attribute) or isinstance(called, Function):
        return False
    holder = ast.unparse(function.value)
    if name == "write":
        return holder in ("sys.stdout", "sys.stderr")
    return has(name, Trait.SHOWS) or name in DRAWS or (name in LOGS and holder.rpartition(".")[2] in LOGGERS)


def _writes_text(function: ast.AST, called: Value | None) -> bool:
    """True for `file.write(text)`: a number in it is one more line of a log."""
    return isinstance(function, ast.Attribute) and function.attr in WRITES and not isinstance(called, Function)


def _computes(function: ast.AST, called: Value | None, name: str) -> bool:
    """True for a call that gives something computed of its arguments and keeps none of them."""
    if isinstance(called, Symbol):
        return has(called.name, Trait.COMPUTES_ONE) if called.library == "tf" else _is_of_numpy(called)
    if called is not None and isinstance(function, ast.Name):
        return name in COMPUTES and not isinstance(called, Function)
    texts = isinstance(function, ast.Attribute) and name in ("format", "join")
    return name in COMPUTES and (isinstance(function, ast.Name) or texts)


def _fills_in(function: ast.AST) -> bool:
    """True for `'text {}'.format`, which shows each argument by itself."""
    return isinstance(function, ast.Attribute) and (function.attr, type(function.value)) == ("format", ast.Constant)


def _is_text(node: ast.AST) -> bool:
    """Whether a written text is filled with values: `'%d' % n`, `'{}'.format(n)`, `f'{n}'`."""
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, ast.Mod) and isinstance(node.left, ast.Constant)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.func.attr == "format" and isinstance(node.func.value, ast.Constant)
    return isinstance(node, (ast.JoinedStr, ast.FormattedValue))


def _is_of_numpy(called: Symbol) -> bool:
    return called.library == "numpy" and not called.name.startswith(KEEPS)
