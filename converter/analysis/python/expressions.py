"""Evaluation of expressions on stand-in values: literals, comprehensions, calls; names and operators beside it."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from converter.analysis.python.calling import call, iterated
from converter.analysis.python.containers import bounded, iterate, loosen, loosened
from converter.analysis.python.items import ITEMS
from converter.analysis.python.naming import defaults_of, name_numbers
from converter.analysis.python.operators import OPERATORS, truth
from converter.analysis.python.settings import fill
from converter.analysis.python.standard.texts import spelled
from converter.analysis.python.statements import assign
from converter.analysis.values import (
    Constant,
    Frame,
    Function,
    Host,
    Mapping,
    Number,
    Sequence,
    Tensor,
    Value,
)

if TYPE_CHECKING:
    from converter.analysis.walk import Walk


def _constant(walk: Walk, node: ast.Constant) -> Value:
    if isinstance(node.value, (int, float)) and not isinstance(node.value, bool):
        origin = walk.origin(node, "literal")
        return Number(node.value, frozenset((origin,)), frozenset((origin,)))
    return Constant(node.value)


def _tuple(walk: Walk, node: ast.Tuple | ast.List | ast.Set) -> Value:
    elements: list[Value] = []
    unpacked: list[Value] = []
    many = False
    for element in node.elts:
        if isinstance(element, ast.Starred):
            inner = walk.evaluate(element.value)
            unpacked.append(inner)
            elements += iterate(inner, None)
            many |= not isinstance(inner, Sequence) or inner.many
        else:
            elements.append(walk.evaluate(element))
    made = Sequence(elements, mutable=isinstance(node, ast.List), many=many)
    if unpacked:
        walk.facts.unpacked[made.uid] = (*unpacked, *(Number(1) for _ in node.elts[len(unpacked) :]))
    return loosened(made) if isinstance(node, ast.Set) else bounded(made)


def _dict(walk: Walk, node: ast.Dict) -> Value:
    pairs: list[tuple[Value, Value]] = []
    unseen: list[tuple[int, Value]] = []  # dicts that are not known, with the number of entries in front of them
    for key, value in zip(node.keys, node.values, strict=True):
        if key is None:
            inner = walk.evaluate(value)
            pairs += inner.pairs if isinstance(inner, Mapping) else []
            if not isinstance(inner, Mapping):
                unseen.append((len(pairs), inner))
            continue
        key_value, item = walk.evaluate(key), walk.evaluate(value)
        if isinstance(key_value, Constant) and isinstance(key_value.value, str):
            name_numbers(walk, key_value.value, item)
        pairs.append((key_value, item))
    made = Mapping(pairs)
    for before, inner in unseen:
        fill(walk, made, inner, node)
        for key_value, item in pairs[before:]:
            made.set(key_value, item)
            walk.replaced.discard((made.uid, getattr(key_value, "value", None)))
    return made


def _joined_string(walk: Walk, node: ast.JoinedStr) -> Value:
    parts = [v for v in node.values if isinstance(v, ast.FormattedValue)]
    given = {part: walk.evaluate(part.value) for part in parts}
    plain = all(part.conversion == -1 and part.format_spec is None for part in parts)
    texts = [spelled(given[v] if isinstance(v, ast.FormattedValue) else walk.evaluate(v)) for v in node.values]
    if plain and None not in texts:
        return Constant("".join(map(str, texts)))
    return Host(given.values(), "str", node)


MOST_TURNS = 40  # of a comprehension over data; over tensors, such as a model's variables, all are followed


def _comprehension(walk: Walk, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> Value:
    frame = Frame(node, walk.frame, walk.site)
    pairs: list[tuple[Value, Value]] = []
    over: list[Value] = []  # what is iterated over
    many = picked = False

    def turn(index: int) -> None:
        nonlocal many, picked
        if index == len(node.generators):
            if isinstance(node, ast.DictComp):
                pairs.append((walk.evaluate(node.key), walk.evaluate(node.value)))
            else:
                element = walk.evaluate(node.elt)
                pairs.append((element, element))
            return
        generator = node.generators[index]
        iterable = iterated(walk, walk.evaluate(generator.iter), generator.iter)
        over.append(iterable)
        walk.facts.comprehended.append((generator.iter, iterable))
        many |= not isinstance(iterable, (Sequence, Mapping)) or getattr(iterable, "many", False)
        elements = iterate(iterable, None)
        turns = elements if all(isinstance(element, Tensor) for element in elements) else elements[:MOST_TURNS]
        many |= len(turns) < len(elements)
        for number, element in enumerate(walk.repeats.told(iterable, turns)):
            walk.count()
            walk.repeats.comprehended += number > 0
            assign(walk, generator.target, walk.stamp(element, generator.iter))
            tests = [truth(walk.evaluate(test)) for test in generator.ifs]
            if not any(test is False for test in tests):
                picked |= any(test is None for test in tests)
                many |= picked
                turn(index + 1)
            walk.repeats.comprehended -= number > 0

    outer, walk.noted, walk.turning = walk.noted, set(), walk.turning + 1
    with walk.inside(frame):
        turn(0)
    walk.noted, walk.turning = outer, walk.turning - 1
    if isinstance(node, ast.DictComp):
        return Mapping(pairs)
    elements = [value for _, value in pairs]
    made = Sequence(elements, mutable=True, many=many and bool(elements)).like(*over).level()
    if (picked or isinstance(node, ast.SetComp)) and len(elements) > 1 and made.elements == elements:
        loosen(made)
    if isinstance(node, ast.GeneratorExp):
        walk.facts.iterators.add(made.uid)
    if len(node.generators) == 1 and not node.generators[0].ifs:
        walk.facts.listed[made.uid] = over[0]
    return made


def _lambda(walk: Walk, node: ast.Lambda) -> Value:
    return Function(node, walk.frame, defaults_of(walk, node.args))


def _call(walk: Walk, node: ast.Call) -> Value:
    return call(walk, node)


def _starred(walk: Walk, node: ast.Starred) -> Value:
    return walk.evaluate(node.value)


def _await(walk: Walk, node: ast.Await | ast.YieldFrom) -> Value:
    return Host((walk.evaluate(node.value),))


def _yield(walk: Walk, node: ast.Yield) -> Value:
    value = walk.evaluate(node.value) if node.value is not None else Constant(None)
    given = Sequence([value], many=True)
    walk.facts.generators.add(given.uid)
    walk.frame.returns.append(given)
    return Host((value,))


def _named(walk: Walk, node: ast.NamedExpr) -> Value:
    value = walk.evaluate(node.value)
    assign(walk, node.target, value)
    return value


def _nothing(walk: Walk, node: ast.expr) -> Value:
    return Host()


EVALUATE: dict[type[ast.expr], Callable[[Walk, Any], Value]] = {
    **ITEMS,
    **OPERATORS,
    ast.Constant: _constant,
    ast.Tuple: _tuple,
    ast.List: _tuple,
    ast.Set: _tuple,
    ast.Dict: _dict,
    ast.JoinedStr: _joined_string,
    ast.FormattedValue: _nothing,
    ast.ListComp: _comprehension,
    ast.SetComp: _comprehension,
    ast.GeneratorExp: _comprehension,
    ast.DictComp: _comprehension,
    ast.Lambda: _lambda,
    ast.Call: _call,
    ast.Starred: _starred,
    ast.Await: _await,
    ast.Yield: _yield,
    ast.YieldFrom: _await,
    ast.NamedExpr: _named,
}
