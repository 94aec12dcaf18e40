"""The batch size is a width of the model, or an index into it, too."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from converter.analysis.effects import VARIABLES
from converter.analysis.tensors import shaping
from converter.analysis.traits import Trait, has
from converter.analysis.values import Host, Number, Sequence, Site, Tensor, Typed, Value
from converter.diagnostics import Diagnostic
from converter.planner.cases import Placed
from converter.planner.checking import check
from converter.planner.wording import finding

CODES = ("TMG255",)
OBJECTS = ("Cell", "Layer")
OF_BATCHES = "batch"  # how arguments begin that are told the batch size: batch_size, batch_input_shape


@check(Placed)
def as_wide_as_the_batch(case: Placed) -> Iterator[Diagnostic]:
    """Widths that would change with the number of GPUs, as the batch size does."""
    keys = {o.key for o in case.size.origins}
    found: dict[ast.AST, None] = {}
    made = {e.node for kind in VARIABLES for e in case.facts.effects_of(kind)}
    for tensor in case.facts.tensors if keys else ():
        for number, maker in _widths(tensor, tensor.node in made):
            here = case.steps[0].call if maker.node is None else maker.node
            if any(o.key in keys for o in number.origins) and _changes(case, maker.site):
                found.setdefault(here)
    for node in found:
        yield finding(case.facts, node, "TMG255 as_wide_as_the_batch")


def _changes(case: Placed, site: Site | None) -> bool:
    """Whether the batch size is another number than the script's where something is made."""
    in_tower = site is not None and any(region.in_any_tower(site) for region in case.regions)
    return in_tower == (case.options.batch == "total")


def _widths(tensor: Tensor, makes_variables: bool) -> Iterator[tuple[Number, Tensor | Typed]]:
    """The numbers that make a tensor as wide as it is, or the objects behind it, each with what is given it."""
    examples = tensor.batch.kind == "example" and bool(tensor.roots)  # not those of `tf.one_hot(tf.range(n), n)`
    if (makes_variables and has(tensor.op, Trait.LAYER)) or (has(tensor.op, Trait.TOLD_WIDTH) and examples):
        for value in tensor.inputs:
            yield from ((number, tensor) for number in _written(value))
    if tensor.op == "reshape" and examples and len(tensor.inputs) > 1:
        entries = shaping.shape_entries(tensor.inputs[1]) or []
        others = (entry for at, entry in enumerate(entries) if at != tensor.batch.axis)
        yield from ((number, tensor) for entry in others for number in _written(entry))
    for value in tensor.inputs:
        for made in _objects(value):
            given = [*made.args, *(v for name, v in made.kwargs.items() if not name.startswith(OF_BATCHES))]
            yield from ((number, made) for each in given for number in _written(each))


def _written(value: Value) -> Iterator[Number]:
    """A number, or the numbers of a list that is written out."""
    if isinstance(value, Number):
        yield value
    elif isinstance(value, Sequence) and not value.unmeasured:
        yield from (element for element in value.elements if isinstance(element, Number))


def _objects(value: Value) -> Iterator[Typed]:
    """Layers and cells, with those that they wrap."""
    if isinstance(value, Typed) and value.kind in OBJECTS:
        yield value
        for given in (*value.args, *value.kwargs.values()):
            yield from _objects(given)
    elif isinstance(value, Sequence):
        for element in value.elements:
            yield from _objects(element)


@check(Placed)
def index_of_batch_size(case: Placed) -> Iterator[Diagnostic]:
    """Entries of batch-free tensors and arrays that are picked by a number which changes with the number of GPUs."""
    keys = {o.key for o in case.size.origins}
    found: dict[ast.AST, None] = {}
    for tensor in case.facts.tensors if keys else ():
        for whole, index, node in _picked(tensor):
            if not _is_of(index, keys) or not _changes(case, tensor.site):
                continue
            if not any(_is_of(v, keys) for v in case.facts.behind(whole).values()):
                found.setdefault(node)
    for node in found:
        yield finding(case.facts, node, "TMG255 index_of_batch_size")


def _is_of(value: Value, keys: set[tuple[object, ...]]) -> bool:
    return isinstance(value, Number) and any(o.key in keys for o in value.origins)


def _picked(tensor: Tensor) -> Iterator[tuple[Value, Value, ast.AST]]:
    """What a tensor picks an entry from, the index and where: also an array's, where the tensor is computed of that."""
    picks: list[Tensor | Host] = [v for v in tensor.inputs if isinstance(v, Host) and v.call == "[]"]
    if tensor.op == "subscript" and tensor.batch.kind == "free":
        picks.append(tensor)
    for value in picks:
        if len(value.inputs) == 2 and value.node is not None and not value.roots:
            yield value.inputs[0], value.inputs[1], value.node
