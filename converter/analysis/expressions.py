"""Evaluation of expressions on stand-in values."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from converter.analysis import batch
from converter.analysis.frames import Frame, Place
from converter.analysis.imports import canonical
from converter.analysis.values import (
    Bound,
    Class,
    Constant,
    Count,
    Function,
    Host,
    Input,
    Instance,
    Mapping,
    Module,
    Number,
    Origin,
    Sequence,
    ShapeOf,
    Symbol,
    Tensor,
    Typed,
    Value,
)

if TYPE_CHECKING:
    from converter.analysis.walk import Walk

ARITHMETIC: dict[type[ast.operator], tuple[str, Callable[[float, float], float]]] = {
    ast.Add: ("add", operator.add),
    ast.Sub: ("subtract", operator.sub),
    ast.Mult: ("multiply", operator.mul),
    ast.Div: ("divide", operator.truediv),
    ast.FloorDiv: ("divide", operator.floordiv),
    ast.Mod: ("mod", operator.mod),
    ast.Pow: ("pow", operator.pow),
    ast.MatMult: ("matmul", operator.mul),
}
COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


# -- names, attributes, items ---------------------------------------------------------------------


def _name(walk: Walk, node: ast.Name) -> Value:
    found = walk.frame.lookup(node.id)
    if found is None:
        return Symbol("builtins", node.id)
    frame, value = found
    walk.read(Place("name", frame.uid, node.id, frame=frame), value, node)
    return value


def _attribute(walk: Walk, node: ast.Attribute) -> Value:
    return get_attribute(walk, walk.evaluate(node.value), node.attr, node)


def get_attribute(walk: Walk, holder: Value, name: str, node: ast.AST) -> Value:
    """What `holder.name` stands for."""
    if isinstance(holder, Symbol):
        dotted = f"{holder.name}.{name}" if holder.name else name
        if holder.library == "tf" and canonical(dotted) == "app.flags.FLAGS":
            return walk.flags
        return Symbol(holder.library, canonical(dotted) if holder.library == "tf" else dotted)
    if isinstance(holder, Module):
        return _module_attribute(walk, holder, name, node)
    if isinstance(holder, (Instance, Class, Typed)):
        value = _own_attribute(walk, holder, name, node)
        if value is not None:
            return value
    if isinstance(holder, (Count, Number)) and name == "value":
        return holder
    if isinstance(holder, Tensor) and name == "shape":
        return ShapeOf(holder)
    if isinstance(holder, Tensor) and name in ("values", "op", "initial_value", "initialized_value"):
        return Tensor(holder.batch, (holder,), holder.dims, name)
    if isinstance(holder, (Tensor, Sequence, Mapping, ShapeOf, Count, Constant, Bound)):
        return Bound(holder, name)
    return Host((holder,), name, node)


def _module_attribute(walk: Walk, holder: Module, name: str, node: ast.AST) -> Value:
    value = holder.frame.locals.get(name)
    if value is None:
        return Host((holder,), name, node)
    walk.read(Place("name", holder.frame.uid, name, frame=holder.frame), value, node)
    return value


def _own_attribute(walk: Walk, holder: Instance | Class | Typed, name: str, node: ast.AST) -> Value | None:
    from converter.analysis.calling import call_function

    place = Place("attr", holder.uid, name, holder=holder)
    own = holder.state if isinstance(holder, Typed) else holder.attributes
    if name in own and not isinstance(holder, Class):
        walk.read(place, own[name], node)
        return own[name]
    cls = holder.cls if isinstance(holder, Instance) else holder
    found = cls.find(name) if isinstance(cls, Class) else None
    if isinstance(found, Typed) and found.kind == "property" and isinstance(found.args[0], Function):
        return call_function(walk, found.args[0], [holder], {}, node)
    if isinstance(found, Typed) and found.kind in ("staticmethod", "classmethod"):
        function = found.args[0]
        assert isinstance(function, Function)
        return function if found.kind == "staticmethod" else Bound(holder, name, function)
    if isinstance(found, Function):
        return Bound(holder, name, found) if isinstance(holder, Instance) else found
    if found is not None:
        walk.read(place, found, node)
        return found
    if isinstance(holder, Typed) and holder.kind == "Super":
        return _base_method(holder, name)
    if isinstance(holder, Typed):
        return _library_attribute(walk, holder, name, node)
    if isinstance(holder, Instance) and name == "__class__" and holder.cls is not None:
        return holder.cls
    return Bound(holder, name) if isinstance(holder, Instance) else None


def _base_method(holder: Typed, name: str) -> Value:
    instance, owner = holder.args
    for base in owner.bases if isinstance(owner, Class) else ():
        found = base.find(name) if isinstance(base, Class) else None
        if isinstance(found, Function):
            return Bound(instance, name, found)
    return Bound(holder, name)


def _library_attribute(walk: Walk, holder: Typed, name: str, node: ast.AST) -> Value:
    if holder.kind in ("Namespace", "Flags"):
        origin = walk.origin(node, "flag", name)
        value = Number(None, frozenset((origin,)), frozenset((origin,)), (holder,))
        walk.read(Place("attr", holder.uid, name, holder=holder), value, node)
        return value
    return Bound(holder, name)


def item_place(holder: Value, key: Value) -> Place:
    """The place of an item of a container, by the key's value or else by its identity."""
    return Place("item", holder.uid, repr(getattr(key, "value", key.uid)), holder=holder)


def _subscript(walk: Walk, node: ast.Subscript) -> Value:
    holder = walk.evaluate(node.value)
    if isinstance(holder, Input) and holder.op.endswith("get_next"):
        return holder.another()  # one of several components
    if isinstance(holder, Tensor):
        return batch.subscript(walk, holder, node.slice)
    key = walk.evaluate(node.slice)
    value = get_item(walk, holder, key, node)
    walk.read(item_place(holder, key), value, node)
    return value


def get_item(walk: Walk, holder: Value, key: Value, node: ast.AST) -> Value:
    """What `holder[key]` stands for."""
    if isinstance(holder, Mapping):
        return holder.get(key) or _any_of(walk, [v for _, v in holder.pairs], (holder, key))
    if isinstance(holder, ShapeOf):
        return batch.dimension(holder, key)
    if isinstance(holder, Sequence):
        if holder.many:
            return (
                holder if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice) else holder.elements[0]
            )
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
            return _slice_of(walk, holder, node.slice)
        if (
            isinstance(key, Number)
            and isinstance(key.value, int)
            and -len(holder.elements) <= key.value < len(holder.elements)
        ):
            return holder.elements[key.value]
        return _any_of(walk, holder.elements, (holder, key))
    if isinstance(holder, Instance) and holder.cls is not None:
        from converter.analysis.calling import call_method

        found = call_method(walk, holder, "__getitem__", [key], node)
        if found is not None:
            return found
    return Host((holder, key), "[]", node)


def _any_of(walk: Walk, candidates: list[Value], inputs: tuple[Value, ...]) -> Value:
    from converter.analysis.statements import join

    if not candidates:
        return Host(inputs)
    value = candidates[0]
    for candidate in candidates[1:]:
        value = join(value, candidate)
    return value


def _slice_of(walk: Walk, holder: Sequence, node: ast.Slice) -> Value:
    bounds = []
    for part in (node.lower, node.upper, node.step):
        value = walk.evaluate(part) if part is not None else Constant(None)
        known = getattr(value, "value", None)
        if part is not None and not isinstance(known, int):
            result = Sequence(holder.elements, holder.mutable, many=bool(holder.elements))
            result.inputs = (*result.inputs, holder, value)
            return result
        bounds.append(known)
    return Sequence(holder.elements[slice(*bounds)], holder.mutable)


def _slice(walk: Walk, node: ast.Slice) -> Value:
    parts = [walk.evaluate(part) for part in (node.lower, node.upper, node.step) if part is not None]
    return Host(parts, "slice", node)


def iterate(walk: Walk, value: Value, length: int | None) -> list[Value]:
    """The values that unpacking or a loop gives, as many as are known to differ."""
    if isinstance(value, Sequence):
        return value.elements * (length or 2) if value.many and value.elements else list(value.elements)
    if isinstance(value, Mapping):
        return [key for key, _ in value.pairs]
    if isinstance(value, ShapeOf):
        rank = value.tensor.rank if value.tensor.rank is not None else length
        return [batch.dimension(value, Number(i)) for i in range(rank or 1)]
    if isinstance(value, Input) and value.op.endswith("get_next"):
        return [value.another() for _ in range(length or 2)]
    if isinstance(value, Tensor):
        parts = batch.unstacked(value)
        return [Tensor(parts.batch, (value,), parts.dims, "unstack") for _ in range(length or 2)]
    return [Host((value,), "item", getattr(value, "node", None)) for _ in range(length or 2)]


# -- literals -------------------------------------------------------------------------------------


def _constant(walk: Walk, node: ast.Constant) -> Value:
    if isinstance(node.value, (int, float)) and not isinstance(node.value, bool):
        origin = walk.origin(node, "literal")
        return Number(node.value, frozenset((origin,)), frozenset((origin,)))
    return Constant(node.value)


def _tuple(walk: Walk, node: ast.Tuple | ast.List | ast.Set) -> Value:
    elements: list[Value] = []
    many = False
    for element in node.elts:
        if isinstance(element, ast.Starred):
            inner = walk.evaluate(element.value)
            elements += iterate(walk, inner, None)
            many |= not isinstance(inner, Sequence) or inner.many
        else:
            elements.append(walk.evaluate(element))
    return Sequence(elements, mutable=isinstance(node, ast.List), many=many)


def _dict(walk: Walk, node: ast.Dict) -> Value:

    pairs: list[tuple[Value, Value]] = []
    for key, value in zip(node.keys, node.values, strict=True):
        if key is None:
            inner = walk.evaluate(value)
            pairs += inner.pairs if isinstance(inner, Mapping) else []
            continue
        key_value, item = walk.evaluate(key), walk.evaluate(value)
        if isinstance(key_value, Constant) and isinstance(key_value.value, str):
            from converter.analysis.statements import name_numbers

            name_numbers(walk, key_value.value, item)
        pairs.append((key_value, item))
    result = Mapping(pairs)
    return result


def _joined_string(walk: Walk, node: ast.JoinedStr) -> Value:
    return Host([walk.evaluate(v.value) for v in node.values if isinstance(v, ast.FormattedValue)], "str")


def _comprehension(walk: Walk, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> Value:
    from converter.analysis.statements import assign

    frame = Frame(node, walk.frame, walk.site)
    pairs: list[tuple[Value, Value]] = []
    many = False

    def turn(index: int) -> None:
        nonlocal many
        if index == len(node.generators):
            if isinstance(node, ast.DictComp):
                pairs.append((walk.evaluate(node.key), walk.evaluate(node.value)))
            else:
                element = walk.evaluate(node.elt)
                pairs.append((element, element))
            return
        generator = node.generators[index]
        iterable = walk.evaluate(generator.iter)
        many |= not isinstance(iterable, (Sequence, Mapping)) or getattr(iterable, "many", False)
        for element in iterate(walk, iterable, None)[:40]:
            assign(walk, generator.target, walk.stamp(element, generator.iter))
            tests = [truth(walk.evaluate(test)) for test in generator.ifs]
            if not any(test is False for test in tests):
                many |= any(test is None for test in tests)
                turn(index + 1)

    with walk.inside(frame):
        turn(0)
    if isinstance(node, ast.DictComp):
        return Mapping(pairs)
    elements = [value for _, value in pairs]
    return Sequence(elements, mutable=True, many=many and bool(elements))


def _lambda(walk: Walk, node: ast.Lambda) -> Value:
    from converter.analysis.statements import _defaults

    return Function(node, walk.frame, _defaults(walk, node.args))


# -- operators ------------------------------------------------------------------------------------


def _binary(walk: Walk, node: ast.BinOp) -> Value:
    return binary(walk, node.op, walk.evaluate(node.left), walk.evaluate(node.right), node)


def binary(walk: Walk, op: ast.operator, left: Value, right: Value, node: ast.AST) -> Value:
    """The result of an arithmetic operator on any two values."""
    name, compute = ARITHMETIC.get(type(op), ("bitwise", operator.add))
    if isinstance(left, Tensor) or isinstance(right, Tensor):
        if isinstance(op, ast.MatMult):
            return batch.matmul(left, right)
        return batch.elementwise(walk, name, [left, right])
    if isinstance(left, (Number, Count)) and isinstance(right, (Number, Count)):
        return combine_numbers(name, compute, left, right)
    if isinstance(left, Sequence) and isinstance(op, ast.Add):
        if isinstance(right, Sequence):
            return Sequence(left.elements + right.elements, left.mutable, left.many or right.many)
        if isinstance(right, ShapeOf):
            return Sequence(left.elements + iterate(walk, right, None), left.mutable)
    if isinstance(left, ShapeOf) and isinstance(right, Sequence) and isinstance(op, ast.Add):
        return Sequence(iterate(walk, left, None) + right.elements, right.mutable)
    if isinstance(left, Sequence) and isinstance(right, Number) and isinstance(op, ast.Mult):
        times = right.value if isinstance(right.value, int) and right.value < 100 else None
        return Sequence(left.elements * (times or 1), left.mutable, many=times is None and bool(left.elements))
    if isinstance(left, Constant) and isinstance(left.value, str):
        return _string(left, right, op)
    return Host((left, right), name, node)


def _string(left: Constant, right: Value, op: ast.operator) -> Value:
    parts = right.elements if isinstance(right, Sequence) else [right]
    values = tuple(getattr(part, "value", None) for part in parts)
    if None not in values:
        try:
            return Constant(left.value % values if isinstance(op, ast.Mod) else left.value + values[0])  # type: ignore[operator]
        except (TypeError, ValueError):
            pass
    return Host((left, right), "str")


def combine_numbers(
    name: str, compute: Callable[[float, float], float], left: Number | Count, right: Number | Count
) -> Value:
    """The result of arithmetic on two numbers, with the origins that it goes on following."""
    if isinstance(left, Count) or isinstance(right, Count):
        count = left if isinstance(left, Count) else right
        assert isinstance(count, Count)
        return (
            Count(count.tensor, (left, right), scaled=True)
            if name in ("multiply", "divide")
            else Host((left, right), name)
        )
    value: float | None = None
    if left.value is not None and right.value is not None:
        try:
            value = compute(left.value, right.value)
        except (ArithmeticError, TypeError, ValueError):
            value = None
    linear: frozenset[Origin] = frozenset()
    if name == "multiply":
        linear = left.linear | right.linear
    elif name in ("add", "subtract"):
        linear = left.linear & right.linear
    elif name == "divide":
        linear = left.linear - right.origins
    return Number(value, left.origins | right.origins, linear, (left, right))


def _unary(walk: Walk, node: ast.UnaryOp) -> Value:
    operand = walk.evaluate(node.operand)
    if isinstance(node.op, ast.Not):
        known = truth(operand)
        return Host((operand,)) if known is None else Constant(not known)
    if isinstance(operand, Tensor):
        return batch.elementwise(walk, "negative", [operand])
    if isinstance(operand, Number):
        value = None if operand.value is None else -operand.value if isinstance(node.op, ast.USub) else operand.value
        return Number(value, operand.origins, operand.linear, (operand,))
    return Host((operand,))


def _compare(walk: Walk, node: ast.Compare) -> Value:
    operands = [walk.evaluate(node.left), *(walk.evaluate(c) for c in node.comparators)]
    if any(isinstance(o, Tensor) for o in operands) and not isinstance(
        node.ops[0], (ast.Is, ast.IsNot, ast.Eq, ast.NotEq)
    ):
        return batch.elementwise(walk, "compare", operands)
    if len(operands) == 2:
        known = _compared(node.ops[0], operands[0], operands[1])
        if known is not None:
            return Constant(known)
    return Host(operands, "compare")


def _compared(op: ast.cmpop, left: Value, right: Value) -> bool | None:
    if isinstance(op, (ast.Is, ast.IsNot, ast.Eq, ast.NotEq)):
        for one, two in ((left, right), (right, left)):
            if isinstance(one, Constant) and one.value is None and not isinstance(two, Host):
                if isinstance(two, Number) and two.value is None:
                    return None
                same = isinstance(two, Constant) and two.value is None
                return same if isinstance(op, (ast.Is, ast.Eq)) else not same
    if isinstance(left, (Constant, Number)) and isinstance(right, (Constant, Number)):
        if isinstance(left, Number) and left.value is None or isinstance(right, Number) and right.value is None:
            return None
        try:
            return COMPARE[type(op)](left.value, right.value) if type(op) in COMPARE else None
        except TypeError:
            return None
    if isinstance(op, (ast.In, ast.NotIn)) and isinstance(left, Constant) and isinstance(right, (Sequence, Mapping)):
        keys = right.elements if isinstance(right, Sequence) else [k for k, _ in right.pairs]
        if all(isinstance(k, Constant) for k in keys) and not getattr(right, "many", False):
            return any(k.value == left.value for k in keys if isinstance(k, Constant)) is isinstance(op, ast.In)
    return None


def truth(value: Value) -> bool | None:
    """Whether a value is true, where that is known without running the script."""
    if isinstance(value, Constant):
        return bool(value.value)
    if isinstance(value, Number):
        return None if value.value is None else bool(value.value)
    if isinstance(value, Sequence) and not value.many:
        return bool(value.elements) if not value.mutable else None
    if isinstance(value, (Function, Class, Instance, Bound)):
        return True if not isinstance(value, Bound) or value.function is not None else None
    if isinstance(value, Typed) and value.kind in ("Optimizer", "Cell"):
        return True
    return None


def _bool(walk: Walk, node: ast.BoolOp) -> Value:
    values = [walk.evaluate(v) for v in node.values]
    stop = isinstance(node.op, ast.Or)
    unknown = False
    for value in values:
        known = truth(value)
        if known is stop and not unknown:
            return value
        unknown |= known is None
    return values[-1] if not unknown else _any_of(walk, values, ())


def _conditional(walk: Walk, node: ast.IfExp) -> Value:
    from converter.analysis.statements import join

    known = truth(walk.evaluate(node.test))
    if known is not None:
        return walk.evaluate(node.body if known else node.orelse)
    return join(walk.evaluate(node.body), walk.evaluate(node.orelse))


def _call(walk: Walk, node: ast.Call) -> Value:
    from converter.analysis.calling import call

    return call(walk, node)


def _starred(walk: Walk, node: ast.Starred) -> Value:
    return walk.evaluate(node.value)


def _await(walk: Walk, node: ast.Await | ast.YieldFrom) -> Value:
    return Host((walk.evaluate(node.value),))


def _yield(walk: Walk, node: ast.Yield) -> Value:
    value = walk.evaluate(node.value) if node.value is not None else Constant(None)
    walk.frame.returns.append(Sequence([value], many=True))
    return Host((value,))


def _named(walk: Walk, node: ast.NamedExpr) -> Value:
    from converter.analysis.statements import assign

    value = walk.evaluate(node.value)
    assign(walk, node.target, value)
    return value


def _nothing(walk: Walk, node: ast.expr) -> Value:
    return Host()


EVALUATE: dict[type[ast.expr], Callable[[Walk, Any], Value]] = {
    ast.Name: _name,
    ast.Attribute: _attribute,
    ast.Subscript: _subscript,
    ast.Slice: _slice,
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
    ast.BinOp: _binary,
    ast.UnaryOp: _unary,
    ast.Compare: _compare,
    ast.BoolOp: _bool,
    ast.IfExp: _conditional,
    ast.Call: _call,
    ast.Starred: _starred,
    ast.Await: _await,
    ast.Yield: _yield,
    ast.YieldFrom: _await,
    ast.NamedExpr: _named,
}
