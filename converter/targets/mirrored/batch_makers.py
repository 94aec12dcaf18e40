"""Where a program says how many examples its generators give: `flow(x, y, batch_size=32)`, `batches(data, 32)`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from converter.dataclass import dataclass
from converter.syntax.changes import Change, added_argument, replaced
from converter.syntax.script import Script, argument, called_name, is_given, is_on, is_spread, parameters
from converter.targets.mirrored.counts import is_batch_size
from converter.targets.mirrored.elsewhere import module_beside
from converter.targets.mirrored.keras import DEFAULT_BATCH
from converter.targets.mirrored.program import Program
from converter.targets.mirrored.replicated import reachable

# Methods of ImageDataGenerator (keras_preprocessing/image/image_data_generator.py, 1.1.2): the place of batch_size.
_FLOWS = {"flow": 2, "flow_from_directory": 5, "flow_from_dataframe": 9}
_DATA = {"fit": "x", "fit_generator": "generator"}  # what gives the batches, by the method that trains
_EVALUATES = ("val", "test", "eval")


@dataclass(frozen=True)
class Maker:
    """The call that makes the generator of a training.

    file: where it stands. size: what it is told for the number of examples of a batch; None for the default of Keras.
    code: the function or class of the program that it calls, with its file.
    """

    file: Script
    call: ast.Call
    size: ast.expr | None
    code: tuple[Script, ast.AST] | None = None


def makers_of(program: Program, file: Script, fit: ast.Call) -> list[Maker] | None:
    """The calls that make the generators of a training; None if the size of their batches cannot be found."""
    name = _DATA.get(called_name(fit))
    given = argument(fit, 0, name) if name and not is_spread(fit) else None
    if given is None:
        return None
    found = []
    for where, made in program.origins(file, given, lambda where, one: _maker(program, where, one) is not None):
        maker = _maker(program, where, made)
        if maker is None:
            return None
        found.append(maker)
    return found or None


def _maker(program: Program, file: Script, made: ast.expr) -> Maker | None:
    if not isinstance(made, ast.Call) or is_spread(made):
        return None
    if (method := file.method(made)) in _FLOWS:
        size = argument(made, _FLOWS[method], "batch_size")
        return Maker(file, made, size) if size is None or is_given(size) else None
    where = _constructor(program, file, made.func) or program.definition(file, made.func)
    if where is None:
        return None
    code, function = where
    place = _place(function)
    size = argument(made, *place) if place is not None else None
    return Maker(file, made, size, (code, code.class_around(function) or function)) if size is not None else None


def is_of_arrays(fit: ast.Call) -> bool:
    """Whether a call trains on arrays, of which it takes batches itself."""
    return called_name(fit) == "fit" and is_on(argument(fit, 1, "y")) and not is_spread(fit)


def grown_makers(makers: list[Maker], times: str, width: int, rule: str) -> Iterator[tuple[Script, Change]]:
    """The numbers of examples of generators, multiplied."""
    for maker in {maker.call: maker for maker in makers}.values():
        file = maker.file
        if maker.size is None:
            text = f"batch_size={DEFAULT_BATCH} * {times}"
            yield file, added_argument(file, maker.call, text, width, rule)
        else:
            yield file, replaced(file, maker.size, f"{file.operand(maker.size)} * {times}", rule)


def reads_of(makers: list[Maker]) -> Iterator[tuple[Script, int, int]]:
    """Where a file reads the size of a batch off such a generator: it has grown there."""
    for file in {id(maker.file): maker.file for maker in makers}.values():
        names = {name for name, values in file.bindings.items() if any(m.call in values for m in makers)}
        for node in file.nodes(ast.Attribute):
            if is_batch_size(node) and ast.unparse(node.value) in names:
                yield file, *file.span(node)


def inside_makers(program: Program, file: Script, makers: list[Maker]) -> Iterator[tuple[int, int]]:
    """Where the code of a generator reads the size that it is given: it has grown there."""
    for maker in makers:
        if maker.code is None or maker.code[0] is not file:
            continue
        for node in reachable(file, maker.code[1]):
            if isinstance(node, ast.Name | ast.Attribute) and is_batch_size(node):
                function = file.function(node)
                if function is not None and ast.unparse(node).partition(".")[0] in parameters(function):
                    yield file.span(node)


def _place(function: ast.FunctionDef) -> tuple[int, str] | None:
    """The place and the name of the one parameter for the size of a batch, of a function or a constructor."""
    names = [one.arg for one in function.args.args]
    names = names[1:] if names[:1] == ["self"] else names
    sizes = [name for name in names if is_batch_size(ast.Name(name, ast.Load()))]
    if len(sizes) > 1:
        sizes = [name for name in sizes if not any(word in name.lower() for word in _EVALUATES)]
    return (names.index(sizes[0]), sizes[0]) if len(sizes) == 1 else None


def _constructor(program: Program, file: Script, function: ast.expr) -> tuple[Script, ast.FunctionDef] | None:
    """The constructor of a class of the program, which is a sequence of batches, with its file."""
    module, _, name = file.name(function).rpartition(".")
    name = name or (function.id if isinstance(function, ast.Name) else "")
    files = [module_beside(file, module, program.folder)] if module else program.files
    for where, node in program.classes(name):
        methods = (one for one in node.body if isinstance(one, ast.FunctionDef) and where in files)
        made = next((one for one in methods if one.name == "__init__"), None)
        if made is not None:
            return where, made
    return None
