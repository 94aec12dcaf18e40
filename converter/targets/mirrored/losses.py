"""Whether a loss is a mean or a sum over the examples: of half of a batch only a mean stays the same loss."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator
from enum import Enum

from converter.analysis.traits import Trait
from converter.syntax.known import is_known
from converter.syntax.script import Function, Script, argument, is_given, nodes_of

_MEANS = ("MEAN", "SUM_BY_NONZERO_WEIGHTS", "SUM_OVER_BATCH_SIZE", "SUM_OVER_NONZERO_WEIGHTS", "AUTO", "DEFAULT")


class Dependence(Enum):
    """How an expression depends on the examples of a batch."""

    MEAN = "a mean over the examples"
    FREE = "no examples in it"
    SUM = "a sum over the examples"
    OTHER = "not known to be a mean"


class LossReader:
    """Follows the losses of one script through its names and functions."""

    def __init__(self, script: Script) -> None:
        self._script = script
        self._open: list[str] = []

    def makes(self, node: ast.expr) -> Dependence:
        """How an expression depends on the examples."""
        if isinstance(node, ast.Constant):
            return Dependence.FREE
        if isinstance(node, ast.Name):
            return self._of_name(node)
        if isinstance(node, ast.Attribute | ast.Subscript):
            return self._of_name(node) if ast.unparse(node) in self._script.bindings else _of_setting(node)
        if isinstance(node, ast.UnaryOp):
            return self.makes(node.operand)
        if isinstance(node, ast.IfExp):
            return _one_of([self.makes(node.body), self.makes(node.orelse)])
        if isinstance(node, ast.BinOp):
            return self._of_operation(node)
        return self._of_call(node) if isinstance(node, ast.Call) else Dependence.OTHER

    def of_function(self, function: Function) -> Dependence:
        """How the value that a function returns depends on the examples."""
        if isinstance(function, ast.Lambda):
            return self.makes(function.body)
        if function.name in self._open:
            return Dependence.OTHER
        self._open.append(function.name)
        given = [self.makes(value) for value in self._script.returned(function)]
        self._open.pop()
        return _one_of(given)

    def of_keras(self, given: ast.expr, total: bool) -> Dependence:
        """How the loss that Keras computes depends on the examples: Keras takes the mean of a loss function's results.

        total: whether ratios and roots of sums over the batch matter, which are not the same for parts of it.
        """
        given = self._script.value(given)
        if isinstance(given, ast.Call) and self._script.name(given.func):
            if any(keyword.arg == "reduction" for keyword in given.keywords):
                return _of_loss(given)
            return Dependence.MEAN if is_known(self._script, given.func, Trait.LOSS) else self.makes(given)
        returned = [value for function in self._functions(given) for value in self._script.returned(function)]
        found = [one for one in returned if not isinstance(one, ast.Name) or one.id not in self._script.functions]
        made = set(map(self.makes, found))
        if Dependence.SUM in made:
            return Dependence.SUM
        reduced = total and any(map(self._reduces, found))
        return Dependence.OTHER if reduced and Dependence.OTHER in made else Dependence.MEAN

    def _functions(self, given: ast.AST) -> list[Function]:
        """The functions that an expression names, and those that they return."""
        todo: list[ast.AST] = [given]
        found: list[Function] = []
        while todo:
            one = todo.pop()
            if isinstance(one, ast.FunctionDef | ast.Lambda) and one not in found:
                found.append(one)
                todo += self._script.returned(one)
            elif isinstance(one, ast.Call):
                todo.append(one.func)
            elif isinstance(one, ast.Name):
                todo += self._script.functions.get(one.id, [])
        return found

    def _reduces(self, value: ast.expr) -> bool:
        """Whether an expression holds a number that all examples of a batch make together."""
        calls = (node for node in self._script.behind(value) if isinstance(node, ast.Call))
        reducing = (call for call in calls if is_known(self._script, call.func, Trait.ADDS_UP, Trait.AVERAGES))
        return any(argument(call, 1, "axis") is None for call in reducing)

    def _of_name(self, node: ast.expr) -> Dependence:
        name = ast.unparse(node)
        if name in self._open:
            return Dependence.MEAN  # loss = loss + more: what the others say holds
        values = self._script.bindings.get(name, [])
        added = self._added(name)
        self._open.append(name)
        found = [self.makes(value) for value in (*values, *added)]
        self._open.pop()
        return _sum(found) if values else Dependence.OTHER

    def _added(self, name: str) -> list[ast.expr]:
        added = self._script.nodes(ast.AugAssign)
        return [one.value for one in added if _is(one.target, name)]

    def bound_expression(self, loss: ast.expr) -> ast.expr:
        """The expression that a loss name is bound to, if nothing is added to it later; else the name itself."""
        return loss if self._added(ast.unparse(loss)) else self._script.value(loss)

    def _of_operation(self, node: ast.BinOp) -> Dependence:
        left, right = self.makes(node.left), self.makes(node.right)
        if isinstance(node.op, ast.Add | ast.Sub):
            return _sum([left, right])
        if isinstance(node.op, ast.Mult | ast.Div) and right is Dependence.FREE:
            return left
        if isinstance(node.op, ast.Mult) and left is Dependence.FREE:
            return right
        return Dependence.OTHER

    def _of_call(self, call: ast.Call) -> Dependence:
        script = self._script
        if is_known(script, call.func, Trait.AVERAGES):
            masked = any(is_known(script, inner.func, Trait.MASKS) for inner in nodes_of(ast.Call, call))
            return Dependence.OTHER if masked else Dependence.MEAN
        if is_known(script, call.func, Trait.LOSS):
            return _of_loss(call)
        if _of_variables(script, call):
            return Dependence.FREE
        if is_known(script, call.func, Trait.ADDS_UP):
            axis = argument(call, 1, "axis")
            return Dependence.SUM if axis is None else Dependence.OTHER
        items = call.args[0] if len(call.args) == 1 else None
        if isinstance(items, ast.List | ast.Tuple) and script.name(call.func):  # add_n of several losses
            return _sum(map(self.makes, items.elts))
        function = script.defined(call.func) if isinstance(call.func, ast.Name) else None
        return self.of_function(function) if function is not None else Dependence.OTHER


def _of_loss(call: ast.Call) -> Dependence:
    """A loss of a library: the mean over the examples, unless it is told otherwise."""
    for keyword in call.keywords:
        if keyword.arg == "weights" and not isinstance(keyword.value, ast.Constant):
            return Dependence.OTHER
        if keyword.arg in ("reduction", "loss_reduction"):
            name = ast.unparse(keyword.value).rpartition(".")[2].strip("'\"").upper()
            return Dependence.MEAN if name in _MEANS else Dependence.SUM if name == "SUM" else Dependence.OTHER
    return Dependence.MEAN


def is_library_sum(script: Script, node: ast.expr) -> bool:
    """Whether an expression is a loss of a library that is told to add up the examples."""
    return isinstance(node, ast.Call) and is_known(script, node.func, Trait.LOSS) and _of_loss(node) is Dependence.SUM


def _of_setting(node: ast.expr) -> Dependence:
    """Settings of the script are numbers: FLAGS.weight_decay, params['l2']; attributes of tensors are not."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    holds = isinstance(node, ast.Name) and node.id.lower() in ("flags", "params", "args", "config", "hparams", "opt")
    return Dependence.FREE if holds else Dependence.OTHER


def _of_variables(script: Script, call: ast.Call) -> bool:
    """Whether a call computes of variables alone: weight decay."""
    over = [ast.unparse(script.value(one.iter)) for one in nodes_of(ast.comprehension, call)]
    return all("variables(" in one for one in over) if over else "regulariz" in ast.unparse(call.func).lower()


def _is(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name | ast.Attribute) and ast.unparse(node) == name


def _sum(parts: Iterable[Dependence]) -> Dependence:
    found = {*parts, Dependence.FREE}
    order = (Dependence.OTHER, Dependence.SUM, Dependence.MEAN, Dependence.FREE)
    return next(one for one in order if one in found)


def _one_of(cases: Iterable[Dependence]) -> Dependence:
    found = set(cases) - {Dependence.FREE}
    return found.pop() if len(found) == 1 else Dependence.OTHER


def losses_of(script: Script, nodes: Collection[ast.AST]) -> Iterator[ast.expr]:
    """The losses that a model function gives to its Estimator."""
    for node in nodes:
        if isinstance(node, ast.Call) and is_known(script, node.func, Trait.SPEC):
            loss = argument(node, 2, "loss")
            if is_given(loss):
                yield loss


def check_keras_losses(script: Script, total: bool) -> None:
    """Refuse losses of Keras that add up examples, and with --batch total what is no mean over them (TMG288)."""
    for one in keras_losses(script):
        made = LossReader(script).of_keras(one, total)
        if made is Dependence.SUM and isinstance(one, ast.Call) and script.name(one.func):
            # reduction='sum': the sum over the examples of all GPUs (seen on TensorFlow 1.15.5 and 2.21)
            if not total:
                script.finding(one, "TMG288 keras_sum")
        elif made is Dependence.SUM:  # the mean of the GPUs' sums on TensorFlow 1.15.5, their sum on 2.21
            script.finding(one, "TMG288 sum_of_function")
        elif made is Dependence.OTHER and total:
            script.finding(one, "TMG288 keras_no_mean")


def keras_losses(script: Script) -> Iterator[ast.expr]:
    """The losses that models of Keras are compiled with, or that are added to them."""
    for call in script.calls:
        place = {"compile": 1, "add_loss": 0}.get(script.method(call))
        given = argument(call, place, "loss") if place is not None else None
        yield from _each(script.value(given)) if given is not None else ()


def _each(given: ast.expr) -> Iterator[ast.expr]:
    """The losses of several outputs."""
    if isinstance(given, ast.List | ast.Tuple):
        yield from given.elts
    elif isinstance(given, ast.Dict):
        yield from given.values
    else:
        yield given
