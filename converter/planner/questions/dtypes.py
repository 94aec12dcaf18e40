"""The dtype of a value, as far as the script shows it."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from converter.analysis.facts import Facts
from converter.analysis.traits import Argument, Trait, has, positions
from converter.analysis.values import Input, Sequence, Tensor, Value, Variable, closure

FLOAT32 = {"float32", "float"}
INTEGERS = {"int32", "int64", "uint8", "int8", "int16", "bool"}


def names_other_types(facts: Facts) -> bool:
    """Whether a script names other floating point types than float32 anywhere."""
    return any(has(node.attr, Trait.OTHER_FLOATS) for node in facts.nodes(ast.Attribute)) or any(
        node.value in ("float64", "double", "float16") for node in facts.nodes(ast.Constant)
    )


def is_float32(value: Value) -> bool:
    """Whether a value is float32 for sure: NumPy's arrays are not by default, nor are iterators over them.

    One operand tells, as TensorFlow does not mix types: where some operand of this type leads to a value through
    operations that keep it, there is no other.
    """
    tensors = (one for one in closure([value], _alike) if isinstance(one, Tensor))
    return any(map(_is_leaf, tensors))


def _alike(value: Value) -> Iterable[Value]:
    if isinstance(value, Sequence):
        return value.parts()
    return _of_its_type(value) if isinstance(value, Tensor) else ()


def _of_its_type(tensor: Tensor) -> Iterable[Value]:
    """The operands that have a tensor's type."""
    if has(tensor.op, Trait.OWN_DTYPE) or (isinstance(tensor, Input) and not has(tensor.op, Trait.HAS_DEFAULT)):
        return ()
    operands = tensor.operands
    if has(tensor.op, Trait.CASTS_LABELS):
        told = all(is_float32(t) or _is_integer(t) for t in _tensors(operands))
        return operands if told else ()
    return operands


def _tensors(values: Iterable[Value]) -> Iterator[Tensor]:
    for value in values:
        if isinstance(value, Sequence):
            yield from _tensors(value.parts())
        elif isinstance(value, Tensor):
            yield value


def _is_integer(tensor: Tensor) -> bool:
    """Whether a tensor counts or chooses: labels of classes."""
    if isinstance(tensor, Input):
        return tensor.dtype in INTEGERS
    node = tensor.node
    return has(tensor.op, Trait.INTEGER) or (
        tensor.op == "cast" and isinstance(node, ast.Call) and _type_of(node, 1) in INTEGERS
    )


def _is_leaf(tensor: Tensor) -> bool:
    """True if an operation gives float32 for operands of any type."""
    node = tensor.node
    if isinstance(tensor, Input):
        return tensor.dtype in FLOAT32 and not has(tensor.op, Trait.HAS_DEFAULT)
    if has(tensor.op, Trait.FLOAT32):
        return True
    if not isinstance(node, ast.Call):
        return False
    if has(tensor.op, Trait.TAKES_DTYPE):
        return _type_of(node, 1) in FLOAT32
    if (place := positions(Argument.DTYPE).get(tensor.op)) is not None:
        return _type_of(node, place) in (*FLOAT32, None)
    if has(tensor.op, Trait.FLOAT32_UNLESS_FILLED):
        return _type_of(node, 5) in (*FLOAT32, None) and not _given(node, 2, "on_value", "off_value")
    if tensor.op == "constant":
        return _type_of(node, 1) in FLOAT32 or (_type_of(node, 1) is None and _is_written(node))
    if isinstance(tensor, Variable) and not tensor.raw:
        return _type_of(node, 2) in FLOAT32 or (_type_of(node, 2) is None and _initialized_by_object(node))
    return False


def _type_of(call: ast.Call, place: int) -> str | None:
    """The type that a call is given, None for none; "?" where it is not written there."""
    node = next((k.value for k in call.keywords if k.arg == "dtype"), None)
    if node is None and len(call.args) > place:
        node = call.args[place]
    if node is None:
        return "?" if any(k.arg is None for k in call.keywords) else None
    named = node.attr if isinstance(node, ast.Attribute) else getattr(node, "value", "?")
    return named if isinstance(named, str) else "?"


def _given(call: ast.Call, place: int, *names: str) -> bool:
    return len(call.args) > place or any(k.arg in (*names, None) for k in call.keywords)


def _is_written(call: ast.Call) -> bool:
    """Whether a constant is of numbers in the script's text, with a point."""
    node = next((k.value for k in call.keywords if k.arg == "value"), call.args[0] if call.args else None)
    parts = list(ast.walk(node)) if node is not None else []
    plain = (ast.Constant, ast.List, ast.Tuple, ast.UnaryOp, ast.expr_context, ast.unaryop)
    return all(isinstance(p, plain) for p in parts) and any(isinstance(getattr(p, "value", None), float) for p in parts)


def _initialized_by_object(call: ast.Call) -> bool:
    """Whether a variable's first value is made in the variable's type, which is float32 then."""
    made = next((k.value for k in call.keywords if k.arg == "initializer"), None)
    if made is None:
        return not any(k.arg is None for k in call.keywords)
    function = made.func if isinstance(made, ast.Call) else None
    return getattr(function, "attr", getattr(function, "id", "")).endswith("nitializer")
