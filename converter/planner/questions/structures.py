"""Tensors inside lists, tuples and dicts: how each is written, and how the whole is put together again."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping

from converter.analysis import values
from converter.analysis.facts import Facts
from converter.analysis.values import Constant, Number, Record, Sequence, Tensor, Value
from converter.dataclass import dataclass


@dataclass(frozen=True)
class Part:
    """A tensor in a structure (list, tuple, dict), or a structure whose tensors are all alike.

    text: the expression for it. root and whole: where it lies in tuples, which no item can be assigned to, the
        expression for the outermost of these and its value; "" and None elsewhere.
    """

    text: str
    value: Value
    root: str
    whole: Value | None


def parts(
    text: str,
    value: Value,
    root: str = "",
    whole: Value | None = None,
    as_one: Callable[[str, Sequence], bool] | None = None,
) -> Iterator[Part]:
    """The tensors in a structure whose expression is `text`; those of lists of unknown length are not found.

    as_one: says by its text and value of which list to give the whole in place of its tensors.
    """
    if isinstance(value, Tensor) or (isinstance(value, Sequence) and as_one is not None and as_one(text, value)):
        yield Part(text, value, root, whole)
    elif isinstance(value, (Sequence, values.Mapping)) and not getattr(value, "unmeasured", False):
        fixed = isinstance(value, Sequence) and not value.mutable
        for key, element in parts_of(value):
            of, around = ((root or text), (whole or value)) if fixed else ("", None)
            yield from parts(text + key, element, of, around, as_one)


def parts_of(value: Value) -> list[tuple[str, Value]]:
    """The items of a list, tuple or dict, and how each is written behind the expression of the whole."""
    if isinstance(value, Record):
        return [(f".{name}", e) for name, e in zip(value.fields, value.elements, strict=False)]
    if isinstance(value, Sequence):
        return [(f"[{i}]", e) for i, e in enumerate(value.elements)]
    assert isinstance(value, values.Mapping)
    return [(f"[{k.value!r}]", v) for k, v in value.pairs if isinstance(k, Constant)]


def rebuilt(text: str, value: Value, new: Mapping[str, str]) -> str:
    """The expression for a tuple or named tuple with new values in place of some of its parts, by their texts."""
    if text in new:
        return new[text]
    if not isinstance(value, Sequence) or value.mutable:
        return text
    inner = [(key, rebuilt(text + key, element, new), text + key) for key, element in parts_of(value)]
    changed = [(key, made) for key, made, old in inner if made != old]
    if not changed:
        return text
    if isinstance(value, Record):
        return f"{text}._replace({', '.join(f'{key[1:]}={made}' for key, made in changed)})"
    return f"({', '.join(made for _, made, _ in inner)}{',' if len(inner) == 1 else ''})"


def selected(facts: Facts, text: str, value: Value, node: ast.AST) -> tuple[str, Value]:
    """The part of a structure that the script selects after reading it: `state[0].h` where `state` is read."""
    while (outer := facts.selections.get(node)) is not None:
        found = next((pair for pair in _named(value) if pair[0] == _key(facts, value, outer)), None)
        if found is None:
            break
        text, value, node = text + found[0], found[1], outer
    return text, value


def _named(value: Value) -> list[tuple[str, Value]]:
    known = not getattr(value, "unmeasured", False)
    return parts_of(value) if isinstance(value, (Sequence, values.Mapping)) and known else []


def _key(facts: Facts, value: Value, node: ast.Attribute | ast.Subscript) -> str:
    """How a selected part is written in the spelling of `parts`; "" where that is not known."""
    if isinstance(node, ast.Attribute):
        return f".{node.attr}"
    index = _index(facts, node.slice)
    if isinstance(index, int) and isinstance(value, Sequence) and -len(value.elements) <= index < 0:
        index += len(value.elements)
    if index is None:
        return ""
    if isinstance(value, Record):
        return f".{value.fields[index]}" if isinstance(index, int) and index < len(value.fields) else ""
    return f"[{index!r}]"


def _index(facts: Facts, node: ast.expr) -> object:
    """The index that is written, or the one constant that a name holds each time that it is read; else None."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
        return -node.operand.value if isinstance(node.operand.value, int) else None
    if isinstance(node, ast.Constant):
        return node.value
    held = [access.value for access in facts.accesses_at(node)]
    known = {getattr(value, "value", None) if isinstance(value, (Constant, Number)) else None for value in held}
    return known.pop() if len(known) == 1 else None
