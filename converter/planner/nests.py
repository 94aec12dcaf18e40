"""Lists, tuples and dicts of tensors: what goes through the border of the loop as a whole."""

from __future__ import annotations

from converter.analysis.values import Batch, Constant, Input, Mapping, Sequence, Tensor, Value, tensors_in

Nest = Sequence | Mapping


def elements_of(value: Nest) -> list[tuple[str, Value]]:
    """The elements with their keys, as written in the source."""
    if isinstance(value, Mapping):
        return [(repr(k.value), v) for k, v in value.pairs if isinstance(k, Constant)]
    return [(str(i), v) for i, v in enumerate(value.elements)]


def is_fixed(value: Nest) -> bool:
    """Whether elements cannot be put back one by one: in tuples, in lists of unknown length, in nested ones."""
    if isinstance(value, Sequence) and (value.many or not value.mutable):
        return True
    return any(isinstance(v, (Sequence, Mapping)) and any(tensors_in(v)) for _, v in elements_of(value))


def alike(value: Nest) -> Batch | None:
    """The batch that all tensors of a nest have, None where they are not rows of examples along one axis."""
    found: Batch | None = None
    for tensor in _leaves(value):
        if tensor is None or tensor.batch.kind != "example" or tensor.batch.packed or tensor.batch.over is not None:
            return None
        if found is not None and found.axis != tensor.batch.axis:
            return None
        found = tensor.batch
    return found


def _leaves(value: Value) -> list[Tensor | None]:
    """What stands at the ends of a nest: its tensors, None for anything else."""
    if isinstance(value, Mapping):
        return [leaf for _, inner in value.pairs for leaf in _leaves(inner)]
    if isinstance(value, Sequence):
        return [leaf for inner in value.elements for leaf in _leaves(inner)]
    return [value if isinstance(value, Tensor) else None]


def inputs_in(value: Value) -> list[Input]:
    """The inputs that a nest holds, where it holds nothing else of the batch."""
    if not isinstance(value, (Sequence, Mapping)):
        return []
    batched = [t for t in tensors_in(value) if t.batch.kind != "free"]
    inputs = [t for t in batched if isinstance(t, Input)]
    return inputs if len(inputs) == len(batched) else []


def whole_inputs(value: Value) -> list[Input]:
    """The inputs of a nest that holds nothing but inputs cut along one axis; none for others."""
    leaves = _leaves(value) if isinstance(value, (Sequence, Mapping)) else []
    inputs = [t for t in leaves if isinstance(t, Input) and t.batch.kind == "example"]
    return inputs if len(inputs) == len(leaves) and len({i.batch.axis for i in inputs}) == 1 else []


def path_to(value: Value, leaf: Value) -> str | None:
    """The subscripts that lead to a tensor of a nest, None where it is not in it."""
    if value is leaf:
        return ""
    for key, inner in elements_of(value) if isinstance(value, (Sequence, Mapping)) else ():
        rest = path_to(inner, leaf)
        if rest is not None:
            return f"[{key}]{rest}"
    return None
