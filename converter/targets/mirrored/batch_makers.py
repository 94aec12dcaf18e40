"""Where a script says how many examples its generators give: `flow(x, y, batch_size=32)`, `batches(data, 32)`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from converter.dataclass import dataclass
from converter.syntax.changes import Change, added_argument
from converter.syntax.script import Script, argument, is_given, is_on, is_spread
from converter.targets.mirrored.counts import is_batch_size
from converter.targets.mirrored.elsewhere import definition, module_beside
from converter.targets.mirrored.keras import DEFAULT_BATCH

# Methods of ImageDataGenerator (keras_preprocessing/image/image_data_generator.py, 1.1.2): the place of batch_size.
_FLOWS = {"flow": 2, "flow_from_directory": 5, "flow_from_dataframe": 9}
_DATA = {"fit": "x", "fit_generator": "generator"}  # what gives the batches, by the method that trains


@dataclass(frozen=True)
class Maker:
    """The call that makes the generator of a training.

    size: what it is told for the number of examples of a batch; None for the default of Keras.
    """

    call: ast.Call
    size: ast.expr | None


def maker_of(script: Script, fit: ast.Call) -> Maker | None:
    """What makes the batches that a call trains on; None where it is not seen how many examples they have."""
    name = _DATA.get(getattr(fit.func, "attr", ""))
    given = argument(fit, 0, name) if name and not is_spread(fit) else None
    made = script.value(given) if given is not None else None
    if not isinstance(made, ast.Call) or is_spread(made):
        return None
    method = getattr(made.func, "attr", "")
    if method in _FLOWS and not script.name(made.func):
        size = argument(made, _FLOWS[method], "batch_size")
        return Maker(made, size) if size is None or is_given(size) else None
    place = _place(script, made.func)
    size = argument(made, *place) if place is not None else None
    return Maker(made, size) if size is not None else None


def is_of_arrays(fit: ast.Call) -> bool:
    """Whether a call trains on arrays, of which it takes batches itself."""
    return getattr(fit.func, "attr", "") == "fit" and is_on(argument(fit, 1, "y")) and not is_spread(fit)


def grown_makers(script: Script, makers: list[Maker], times: str, width: int, rule: str) -> Iterator[Change]:
    """The numbers of examples of generators, multiplied."""
    for maker in {maker.call: maker for maker in makers}.values():
        if maker.size is None:
            yield added_argument(script, maker.call, f"batch_size={DEFAULT_BATCH} * {times}", width, rule)
        else:
            begin, end = script.span(maker.size)
            yield Change(begin, end, f"{script.operand(maker.size)} * {times}", rule)


def reads_of(script: Script, makers: list[Maker]) -> Iterator[tuple[int, int]]:
    """Where the script reads the size of a batch off such a generator: it has grown there."""
    names = {name for name, values in script.bindings.items() if any(m.call in values for m in makers)}
    for node in ast.walk(script.tree):
        if isinstance(node, ast.Attribute) and is_batch_size(node) and ast.unparse(node.value) in names:
            yield script.span(node)


def _place(script: Script, function: ast.expr) -> tuple[int, str] | None:
    """The place and the name of the one parameter for the size of a batch, of a function or class of the project."""
    made = _constructor(script, function)
    found = definition(script, function)
    if made is None and found is None:
        return None
    names = [one.arg for one in made.args.args[1:]] if made is not None else []
    names = [one.arg for one in found[1].args.args] if made is None and found is not None else names
    sizes = [name for name in names if is_batch_size(ast.Name(name, ast.Load()))]
    return (names.index(sizes[0]), sizes[0]) if len(sizes) == 1 else None


def _constructor(script: Script, function: ast.expr) -> ast.FunctionDef | None:
    """The constructor of a class of the project, which is a sequence of batches."""
    module, _, name = script.name(function).rpartition(".")
    file = module_beside(script, module) if module else script
    name = name or (function.id if isinstance(function, ast.Name) else "")
    classes = (n for n in ast.walk(file.tree) if isinstance(n, ast.ClassDef) and n.name == name) if file else ()
    methods = (one for node in classes for one in node.body if isinstance(one, ast.FunctionDef))
    return next((one for one in methods if one.name == "__init__"), None)
