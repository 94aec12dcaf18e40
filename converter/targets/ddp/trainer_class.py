"""Training loops that stand in classes: the functions to write in their place."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from functools import cached_property

from converter.dataclass import dataclass
from converter.syntax.script import Script

Method = ast.FunctionDef


@dataclass(frozen=True)
class TrainerClass:
    """A class of the script one of whose methods takes gradients."""

    script: Script
    cls: ast.ClassDef

    @cached_property
    def methods(self) -> dict[str, Method]:
        """The methods by name, in the order in which they stand."""
        return {node.name: node for node in self.cls.body if isinstance(node, Method)}

    def uses(self, method: Method) -> list[ast.Attribute]:
        """The attributes of its object that a method names, in the order of their places."""
        own = method.args.args[0].arg if method.args.args else ""
        found = [
            node
            for node in ast.walk(method)
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == own
        ]
        return sorted(found, key=lambda node: (node.lineno, node.col_offset))

    def called(self, method: Method) -> list[Method]:
        """The methods of the class that a method names."""
        return [self.methods[use.attr] for use in self.uses(method) if use.attr in self.methods]

    def around(self, step: Method) -> list[Method]:
        """A method, its direct and indirect callers, and all methods that these call; without __init__ as a caller."""
        found = [step]
        while more := [
            other
            for name, other in self.methods.items()
            if name != "__init__" and other not in found and any(one in found for one in self.called(other))
        ]:
            found += more
        for method in found:
            found += [other for other in dict.fromkeys(self.called(method)) if other not in found]
        return [method for method in self.methods.values() if method in found]

    def attributes(self, method: Method, seen: tuple[Method, ...] = ()) -> list[str]:
        """The attributes that a method, or a method that it calls, reads or sets; methods left out."""
        found = [use.attr for use in self.uses(method) if use.attr not in self.methods]
        for other in self.called(method):
            if other not in seen:
                found += self.attributes(other, (*seen, method))
        return list(dict.fromkeys(found))

    @cached_property
    def locals(self) -> set[str]:
        """Names that methods bind beside their parameters."""
        nodes = (node for method in self.methods.values() for node in ast.walk(method) if method.name != "__init__")
        return {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}

    def named(self, attribute: str) -> str:
        """The parameter for an attribute: its name, unless a method binds another value to that."""
        return f"self_{attribute}" if attribute in self.locals else attribute

    def signature(self, method: Method) -> str:
        """The method as a function: its attributes are parameters, those first that any call must give."""
        own = [arg.arg for arg in method.args.args[1:]]
        needed = [self.named(name) for name in self.attributes(method) if name not in own]
        defaults = [ast.unparse(default) for default in method.args.defaults]
        plain = own[: len(own) - len(defaults)]
        optional = [f"{name}={value}" for name, value in zip(own[len(plain) :], defaults, strict=True)]
        return f"{method.name}({', '.join([*needed, *plain, *optional])})"


def advice(script: Script, backward: ast.Call) -> tuple[str, str]:
    """The message for a training step inside a class, and the hint how to write it as functions."""
    cls = next(node for node in script.above(backward) if isinstance(node, ast.ClassDef))
    step = script.function(backward)
    message = f"the training step stands in the class {cls.name}: its model and its loader are attributes"
    trainer = TrainerClass(script, cls)
    if step is None or step.name not in trainer.methods or trainer.methods[step.name] is not step:
        return message, "write the training loop as a function"
    methods = trainer.around(step)
    names = dict.fromkeys(name for method in methods for name in trainer.attributes(method))
    if step.name == "__init__" or not names:
        return message, "write the training loop as a function"
    looped = any(isinstance(one, ast.For) for one in _inside(script, backward, step))
    functions = [method for method in methods if looped or method is not step]
    written = ", ".join(f"def {trainer.signature(method)}" for method in functions)
    hint = (
        f"write the methods as functions of this file: {written}; their parameters stand for {_of_self(names)}, which "
        f"{_makes(script, cls)} makes as __init__ does, and hands over"
    )
    if not looped:
        hint += f"; put what {step.name} does into the loop over the batches, so that this loop calls the model"
    if changed := _changed(trainer, methods):
        hint += f"; return {', '.join(changed)} where a function changes it"
    return message, hint


def _of_self(names: Iterable[str]) -> str:
    return ", ".join(f"self.{name}" for name in names)


def _makes(script: Script, cls: ast.ClassDef) -> str:
    """The code that makes an object of a class: a function, or the module."""
    made = [call for call in script.calls if isinstance(call.func, ast.Name) and call.func.id == cls.name]
    function = script.function(made[0]) if made else None
    where = f"{function.name}()" if function is not None else "the module"
    return f"{where} (line {made[0].lineno})" if made else where


def _inside(script: Script, node: ast.AST, function: Method) -> Iterable[ast.AST]:
    for above in script.above(node):
        if above is function:
            return
        yield above


def _changed(trainer: TrainerClass, methods: Iterable[Method]) -> list[str]:
    stored = [use.attr for method in methods for use in trainer.uses(method) if isinstance(use.ctx, ast.Store)]
    return list(dict.fromkeys(stored))
