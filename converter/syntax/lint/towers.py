"""Tower loops written by hand: where they stand, what they bind, and what they do to losses and gradients."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import cached_property

from converter.analysis.traits import Trait, has
from converter.dataclass import dataclass
from converter.diagnostics import Diagnostic
from converter.rule import message
from converter.syntax.known import is_known
from converter.syntax.script import Script, argument, method_name, names_bound, names_read, nodes_of


def is_scaled(node: ast.expr) -> bool:
    """Whether an expression is a product or a quotient, or a sum with one."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
        return is_scaled(node.left) or is_scaled(node.right)
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult | ast.Div)


@dataclass(frozen=True)
class TowerLoop:
    """A loop that builds the model on one device after the other.

    script: that it stands in. node: the loop.
    """

    script: Script
    node: ast.For

    @cached_property
    def variables(self) -> set[str]:
        """The loop's variables."""
        return names_bound(self.node.target)

    @cached_property
    def bound(self) -> set[str]:
        """The names that its body binds."""
        return names_bound(*self.node.body)

    @cached_property
    def walked(self) -> list[ast.AST]:
        """All nodes of the body."""
        return [node for stmt in self.node.body for node in ast.walk(stmt)]

    @cached_property
    def calls(self) -> list[ast.Call]:
        """All calls in the body."""
        return list(nodes_of(ast.Call, *self.node.body))

    @property
    def end(self) -> int:
        """Its last line."""
        return self.node.end_lineno or 0

    @cached_property
    def number(self) -> int | None:
        """The number of towers, where the script writes it out."""
        over = self.script.value(self.node.iter)
        if isinstance(over, ast.Call) and self.of(over) in ("range", "xrange", "enumerate") and len(over.args) == 1:
            over = self.script.value(over.args[0])
        if isinstance(over, ast.List | ast.Tuple):
            return len(over.elts)
        return over.value if isinstance(over, ast.Constant) and isinstance(over.value, int) else None

    @cached_property
    def counts(self) -> str:
        """The expression for the number of towers: FLAGS.num_gpus of `range(FLAGS.num_gpus)`; else ""."""
        over = self.node.iter
        if isinstance(over, ast.Call) and self.of(over) in ("range", "xrange") and len(over.args) == 1:
            return ast.unparse(over.args[0])
        return ""

    @cached_property
    def contexts(self) -> list[ast.expr]:
        """The expressions that the body's `with` statements enter."""
        return [item.context_expr for node in nodes_of(ast.With, *self.node.body) for item in node.items]

    @cached_property
    def own(self) -> set[str]:
        """Names whose values differ from tower to tower, as far as can be seen.

        They are made from the tower's number or its scope, or by what is not TensorFlow's: a reader, a model function.
        """
        found = set(self.variables)
        entered = [one for node in nodes_of(ast.With, *self.node.body) for one in node.items if one.optional_vars]
        made = [(one.context_expr, names_bound(one)) for one in entered]
        made += [(stmt.value, names_bound(*stmt.targets)) for stmt in self.assignments]
        size = -1
        while size != len(found):
            size = len(found)
            for value, names in made:
                others = (call for call in nodes_of(ast.Call, value) if not self.of(call).startswith("tf."))
                if names_read(value) & found or any(others):
                    found |= names
        return found

    @cached_property
    def assignments(self) -> list[ast.Assign]:
        """The assignments in the body."""
        return list(nodes_of(ast.Assign, *self.node.body))

    @cached_property
    def of_first(self) -> set[str]:
        """Names that the body binds in `if i == 0:` alone: values of the first tower."""
        branches = [node for node in nodes_of(ast.If, *self.node.body) if self._is_first(node.test)]
        inside = [stmt for branch in branches for stmt in branch.body]
        first = set(nodes_of(ast.Name, *inside))
        stored = (node for node in nodes_of(ast.Name, *self.node.body) if isinstance(node.ctx, ast.Store))
        return names_bound(*inside) - {node.id for node in stored if node not in first}

    def _is_first(self, test: ast.expr) -> bool:
        """True for `i == 0`, `0 == i` and `not i`, where i is the tower's number."""
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            return isinstance(test.operand, ast.Name) and test.operand.id in self.variables
        if not (isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.Eq | ast.Is) and len(test.ops) == 1):
            return False
        sides = (test.left, test.comparators[0])
        named = any(isinstance(one, ast.Name) and one.id in self.variables for one in sides)
        return named and any(isinstance(one, ast.Constant) and one.value == 0 for one in sides)

    @cached_property
    def results(self) -> set[str]:
        """The names that hold results of one tower: what calls and arithmetic give, not lists that all towers fill."""
        made = [stmt for stmt in self.assignments if isinstance(stmt.value, ast.Call | ast.BinOp)]
        return names_bound(*(target for stmt in made for target in stmt.targets)) & self.own - self.variables

    def averages(self, name: str) -> bool:
        """True if the body binds a name to tf.reduce_mean(x) alone: NaN where x has no rows."""
        made = [stmt.value for stmt in self.assignments if name in names_bound(*stmt.targets)]
        return bool(made) and all(self._averages(value) for value in made)

    def collects_means(self, name: str) -> bool:
        """True if the towers fill a list of this name with means of their examples."""
        put = self.appended.get(name, [])
        return any(self.averages(one.id) if isinstance(one, ast.Name) else self._averages(one) for one in put)

    def _averages(self, value: ast.expr) -> bool:
        return isinstance(value, ast.Call) and len(value.args) == 1 and self._is(value, Trait.AVERAGES)

    @property
    def looks_after_collections(self) -> bool:
        """True if towers enter a context manager of the script, which may handle collections itself."""
        return any(isinstance(c, ast.Call) and not self.of(c).startswith("tf.") for c in self.contexts)

    @cached_property
    def templates(self) -> set[str]:
        """The beginnings of the towers' scope names, up to the number: `tower_` of `'tower_%d' % i`."""
        calls = [c for c in self.contexts if isinstance(c, ast.Call) and c.args]
        entered = [call for call in calls if self._is(call, Trait.NAMES_OPERATIONS)]
        return {found for call in entered if (found := template(call.args[0]))}

    @cached_property
    def appended(self) -> dict[str, list[ast.expr]]:
        """The lists that the towers fill, each with what is put into it."""
        found: dict[str, list[ast.expr]] = {}
        for call in self.calls:
            if isinstance(call.func, ast.Attribute) and method_name(call) == "append" and len(call.args) == 1:
                found.setdefault(ast.unparse(call.func.value), []).append(call.args[0])
        return found

    @cached_property
    def gradient_calls(self) -> list[ast.Call]:
        """Calls that take the gradient of a loss."""
        return [call for call in self.calls if self.gives_gradients(call)]

    @cached_property
    def gradients(self) -> set[str]:
        """Names that the body binds to gradients, or to parts of these."""
        found: set[str] = set()
        for _ in range(2):
            for node in self.walked:
                source = getattr(node, "value", None) if isinstance(node, ast.Assign) else getattr(node, "iter", None)
                targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
                if source is not None and self.takes_gradients(source, found):
                    found |= names_bound(*filter(None, targets))
        return found

    def gives_gradients(self, call: ast.Call) -> bool:
        """True if a call gives gradients, alone or in pairs with their variables."""
        method = self.of(call).rpartition(".")[2]
        return has(method, Trait.GIVES_PAIRS) or self._is(call, Trait.GIVES_GRADIENTS)

    def takes_gradients(self, node: ast.AST, known: set[str]) -> bool:
        """Whether a piece of code takes gradients, or reads names that hold some."""
        return any(map(self.gives_gradients, nodes_of(ast.Call, node))) or bool(names_read(node) & known)

    def _is(self, call: ast.Call, trait: Trait) -> bool:
        return is_known(self.script, call.func, trait)

    def of(self, call: ast.Call) -> str:
        """The name of what is called: of TensorFlow's with "tf." in front, of a method its own after a dot."""
        method = f".{method_name(call)}" if isinstance(call.func, ast.Attribute) else ""
        return self.script.name(call.func) or method or ast.unparse(call.func)

    def scales(self, node: ast.expr) -> bool:
        """Whether a loss is scaled: a product or a quotient, also where the body gives that a name."""
        if self._is_product(node):
            return True
        return isinstance(node, ast.Name) and any(self._scales(stmt, node.id) for stmt in self.walked)

    def _scales(self, stmt: ast.AST, name: str) -> bool:
        """Whether a statement of the body makes a name a product or a quotient."""
        if isinstance(stmt, ast.AugAssign):
            return isinstance(stmt.op, ast.Mult | ast.Div) and name in names_bound(stmt.target)
        return isinstance(stmt, ast.Assign) and name in names_bound(*stmt.targets) and self._is_product(stmt.value)

    def _is_product(self, value: ast.expr) -> bool:
        return is_scaled(value) or (isinstance(value, ast.Call) and self._is(value, Trait.DIVIDES_OR_MULTIPLIES))


@dataclass(frozen=True)
class TowerLoops:
    """A script and its tower loops."""

    script: Script

    @cached_property
    def loops(self) -> list[TowerLoop]:
        """Loops that enter a device for each round."""
        loops = (TowerLoop(self.script, node) for node in self.script.nodes(ast.For))
        return [loop for loop in loops if self._enters_devices(loop)]

    def _enters_devices(self, loop: TowerLoop) -> bool:
        return any(
            isinstance(entered, ast.Call)
            and names_read(entered) & loop.variables
            and is_known(self.script, entered.func, Trait.DEVICE)
            for entered in loop.contexts
        )

    def after(self, loop: TowerLoop) -> list[ast.Call]:
        """The calls behind a loop, in its own function."""
        where = self.script.function(loop.node)
        return [c for c in self.script.calls if c.lineno > loop.end and self.script.function(c) is where]

    def binds_again(self, loop: TowerLoop, name: ast.Name) -> bool:
        """True if a name gets another value between a loop and its use below."""
        stores = (node for node in self.script.uses(name.id) if isinstance(node.ctx, ast.Store))
        return any(loop.end < node.lineno <= name.lineno for node in stores)

    def finding(self, node: ast.expr | ast.stmt, key: str, **about: object) -> Diagnostic:
        """A finding at a node. key: of its message; about: the message's fields."""
        said = message(key)
        place = (said.code, self.script.path, node.lineno, node.col_offset + 1)
        return Diagnostic(*place, *said.of(about), severity=said.severity)

    def batches(self, loop: TowerLoop) -> dict[str, bool]:
        """Names of batches from before a loop; each with whether its number of rows is open."""
        found = {}
        for text, values in self.script.bindings.items():
            if len(values) == 1 and text.isidentifier() and values[0].lineno < loop.node.lineno:
                rows = self._rows(values[0])
                if rows is not None:
                    found[text] = rows
        return found

    def _rows(self, value: ast.expr) -> bool | None:
        """True if a placeholder takes any number of rows, False for a fixed number; None for anything else."""
        if not isinstance(value, ast.Call) or not is_known(self.script, value.func, Trait.PLACEHOLDER):
            return None
        shape = argument(value, 1, "shape")
        if not isinstance(shape, ast.List | ast.Tuple) or not shape.elts:
            return None
        first = shape.elts[0]
        if isinstance(first, ast.Constant):
            return True if first.value is None else None
        return False if "batch" in ast.unparse(first).lower() else None

    def reached(self, nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
        """Nodes, and those of the script's functions that calls among them lead to."""
        todo, seen = list(nodes), set[ast.AST]()
        while todo:
            node = todo.pop()
            yield node
            function = self.script.defined(node.func) if isinstance(node, ast.Call) else None
            if function is not None and function not in seen:
                seen.add(function)
                todo += [inner for stmt in function.body for inner in ast.walk(stmt)]


def template(node: ast.expr) -> str:
    """The beginning of a text that ends in a number: `tower_` of `'tower_%d' % i`; "" for other texts."""
    match node:
        case ast.BinOp(ast.Constant(str(text)), ast.Mod()):
            return text[:-2] if text.endswith(("%d", "%i", "%s")) else ""
        case ast.BinOp(ast.Constant(str(text)), ast.Add(), ast.Call(ast.Name("str"))):
            return text
        case ast.Call(ast.Attribute(owner, "format")):
            text = ast.unparse(owner).strip("'\"")
            return text[: text.rindex("{")] if text.endswith("}") and "{" in text else ""
        case ast.JoinedStr([ast.Constant(str(text)), ast.FormattedValue()]):
            return text
    return ""
