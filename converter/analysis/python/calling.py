"""Calls: into the script's functions and classes, into the library by its rules, and elsewhere."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from functools import partial, reduce
from typing import TYPE_CHECKING

from converter.analysis.call import Call, Handler
from converter.analysis.effects import EffectKind
from converter.analysis.facts import StepNumber
from converter.analysis.flow.collected import Collected
from converter.analysis.flow.joined import is_variable
from converter.analysis.flow.undo import Changes, take_back
from converter.analysis.inputs.decided import joined_by
from converter.analysis.inputs.embedded_data import data_arguments, enter, summed_axis, used_by_python
from converter.analysis.inputs.seen_in_a_run import traced_value
from converter.analysis.library import handlers, naming
from converter.analysis.python.containers import iterate
from converter.analysis.python.functions.counting import counts_examples
from converter.analysis.python.inheriting import dotted, inherited, library_bases, make_base
from converter.analysis.python.joins import join
from converter.analysis.python.namedtuples import fields_of, fields_of_dataclass, make_record
from converter.analysis.python.naming import name_numbers
from converter.analysis.python.settings import asked_for, settings_of
from converter.analysis.python.settled import before, note_call, result_of_settled
from converter.analysis.python.several_classes import methods_of_each
from converter.analysis.reasons import Why
from converter.analysis.traits import Trait, has, step_counters, step_numbers
from converter.analysis.values import (
    ATTRIBUTES,
    OPTIMIZER,
    Bound,
    Choice,
    Class,
    Constant,
    Frame,
    Function,
    Host,
    Instance,
    Mapping,
    Number,
    Partial,
    Sequence,
    Symbol,
    Tensor,
    Typed,
    Value,
    opaque,
    tensors_in,
)
from converter.analysis.walk import MAX_DEPTH

if TYPE_CHECKING:
    from converter.analysis.walk import Walk


# Methods that change a list, also one that the walk does not follow: `rows = list(data[i:j])`, then `rows.append(row)`.
CHANGES = ("append", "appendleft", "extend", "insert", "pop", "popleft", "remove", "reverse", "sort", "clear")
DICTS = ("dict", "OrderedDict", "defaultdict")
NEXT = ("__next__", "next")  # Python 2 calls the second
RECURSION = 4  # calls of one function inside of each other that are followed
SPREAD = "**"  # the key of a dict that is not known: the function may be given any of its parameters


def call(walk: Walk, node: ast.Call) -> Value:
    """The value of a call expression."""
    function = walk.evaluate(node.func)
    args: list[Value] = []
    kwargs: dict[str, Value] = {}
    unseen: list[Value] = []
    for arg in node.args:
        if isinstance(arg, ast.Starred):
            args += iterate(walk.evaluate(arg.value), None)
        else:
            args.append(walk.evaluate(arg))
    for keyword in node.keywords:
        value = walk.evaluate(keyword.value)
        if keyword.arg is None:
            pairs = value.pairs if isinstance(value, Mapping) else []
            kwargs.update({str(k.value): v for k, v in pairs if isinstance(k, Constant)})
            unseen += [k for k, _ in pairs if isinstance(k, Host)] if isinstance(value, Mapping) else [value]
        else:
            kwargs[keyword.arg] = value
            name_numbers(walk, keyword.arg, value)
    takes = isinstance(function, (Function, Class, Bound)) or (
        isinstance(function, Symbol) and has(dotted(function), Trait.HOLDS_SETTINGS)
    )
    if unseen and takes:
        kwargs[SPREAD] = unseen[-1]
    result = call_value(walk, function, args, kwargs, node)
    if unseen and not takes and isinstance(result, Host):
        result.inputs = (*result.inputs, *unseen)  # `argparse.Namespace(**json.load(f))`
    walk.facts.results[walk.frame.uid, node] = result
    if isinstance(result, Host):
        walk.facts.given_to_host.update(value.uid for value in result.inputs)
    return result


def call_value(walk: Walk, function: Value, args: list[Value], kwargs: dict[str, Value], node: ast.Call) -> Value:
    """The result of calling a value with arguments that are evaluated already."""
    if isinstance(function, Function):
        return call_function(walk, function, args, kwargs, node)
    if isinstance(function, Class):
        return _instantiate(walk, function, args, kwargs, node)
    if isinstance(function, Choice):
        return _called_each(walk, function.options, args, kwargs, node)
    if isinstance(function, Partial):
        return call_value(walk, function.function, function.args + args, {**function.kwargs, **kwargs}, node)
    if isinstance(function, Bound):
        return _call_bound(walk, function, args, kwargs, node)
    if isinstance(function, Symbol):
        return _call_symbol(walk, function, args, kwargs, node)
    if isinstance(function, Instance) and (found := _call_instance(walk, function, args, kwargs, node)) is not None:
        return found
    if isinstance(function, Typed) and function.options:
        return _called_each(walk, function.options, args, kwargs, node)
    if isinstance(function, Typed):
        handler = handlers().get(f"{function.kind}.__call__")
        if handler:
            return handler(
                Call(
                    walk=walk, name=f"{function.kind}.__call__", args=args, kwargs=kwargs, node=node, receiver=function
                )
            )
    if isinstance(function, Tensor) and (handler := handlers().get(f"{type(function).__name__}.__call__")):
        return handler(Call(walk=walk, name="__call__", args=args, kwargs=kwargs, node=node, receiver=function))
    if isinstance(function, Host) and (handler := handlers().get(f"Host.{function.call}")):
        return handler(
            Call(walk=walk, name=f"Host.{function.call}", args=args, kwargs=kwargs, node=node, receiver=function)
        )
    return unknown(walk, function, args, kwargs, node, "")


def _call_instance(
    walk: Walk, instance: Instance, args: list[Value], kwargs: dict[str, Value], node: ast.Call
) -> Value | None:
    """The result of calling an object: by a method of its class, or of a library's class that this is derived from."""
    options = walk.options_taken(instance)
    if any(each.cls is None or each.cls.find("__call__") is None for each in options):
        return _called_each(walk, options, args, kwargs, node)
    found = call_method(walk, instance, "__call__", args, node, kwargs)
    if found is not None:
        return found
    if handler := _inherited_call(instance):
        return handler(Call(walk=walk, name="__call__", args=args, kwargs=kwargs, node=node, receiver=instance))
    method = inherited(instance, "__call__")
    return call_value(walk, method, args, kwargs, node) if method is not None else None


def _inherited_call(instance: Instance) -> Handler | None:
    """What calling an object does whose class is derived from one of a library that the rules know."""
    bases = library_bases(instance.cls) if instance.cls is not None else []
    return next((found for base in bases if (found := handlers().get(f"{dotted(base)}.__call__"))), None)


def _called_each(
    walk: Walk, functions: Iterable[Value], args: list[Value], kwargs: dict[str, Value], node: ast.Call
) -> Value:
    """The result of calling one of several functions."""
    return _one_result(walk, (partial(call_value, walk, option, args, kwargs, node) for option in functions), node)


def _one_result(walk: Walk, calls: Iterable[Callable[[], Value]], node: ast.AST) -> Value:
    """The result of one of several calls: each begins with what there was before, as a branch does."""
    from converter.analysis.python.statements import put_back

    made: list[Value] = []
    left: list[Changes] = []
    collected = Collected(walk.collections)
    for number, run in enumerate(calls):
        mark = len(walk.undo_log)
        collected.next_branch()
        with walk.in_arm(node, number):
            made.append(walk.stamp(run(), node))
        left.append(take_back(walk.undo_log, mark, walk.frame))
    collected.join()
    if walk.site is not None:
        put_back(walk, left[0], [pair for changes in left[1:] for pair in changes], walk.site.stmt)
    return reduce(lambda one, two: joined_by(walk, join(one, two), node), made)


def _call_symbol(walk: Walk, symbol: Symbol, args: list[Value], kwargs: dict[str, Value], node: ast.Call) -> Value:
    if symbol.library == naming().library:
        args, kwargs = _entering(walk, symbol.name, args, kwargs, node)
        call = Call(walk=walk, name=symbol.name, args=args, kwargs=kwargs, node=node, receiver=None)
        _note_step_numbers(call)
        handler = handlers().get(symbol.name)
        return handler(call) if handler else _unknown_operation(call)
    if symbol.library == "builtins" and (handler := handlers().get(f"builtins.{symbol.name}")):
        used_by_python(walk, args, node)
        return handler(Call(walk=walk, name=symbol.name, args=args, kwargs=kwargs, node=node, receiver=None))
    name = dotted(symbol)
    if name == "functools.partial" and args:
        return Partial(args[0], args[1:], kwargs)
    handler = handlers().get(name)
    if handler:
        return handler(Call(walk=walk, name=name, args=args, kwargs=kwargs, node=node, receiver=None))
    return unknown(walk, symbol, args, kwargs, node, name)


def _note_step_numbers(call: Call) -> None:
    """Keep the arguments of a call that count training steps, as they are written."""
    counted_by = step_counters().get(call.name)
    counter = call.get(*counted_by) if counted_by is not None else None
    for position, keyword in step_numbers().get(call.name, ()):
        node, value = call.node_of(position, keyword), call.get(position, keyword)
        if node is not None and value is not None:
            call.walk.facts.step_numbers.append(StepNumber(call.name, node, value, counter))


def _entering(
    walk: Walk, name: str, args: list[Value], kwargs: dict[str, Value], node: ast.Call
) -> tuple[list[Value], dict[str, Value]]:
    """The arguments of a function of the library; data that the towers share is an input there."""
    places = data_arguments(name)
    if not places:
        return args, kwargs
    given = {**{str(at): value for at, value in enumerate(args)}, **kwargs}
    tensors = [v for v in given.values() if isinstance(v, Tensor)]
    meets = tensors[0] if tensors else None
    plain = has(name, Trait.PRODUCT) and not kwargs.keys() - {"a", "b", "name"}
    columns = {"1", "b"} if plain and meets is not None else set()
    entered = {}
    for key, value in given.items():
        other = next((t for t in tensors if t is not value), None)
        summed = _summed(given, key) if has(name, Trait.PRODUCT) else None
        entered[key] = enter(walk, value, (node, key), other, key in columns, summed) if key in places else value
    return [entered[str(at)] for at in range(len(args))], {key: entered[key] for key in kwargs}


def _summed(given: dict[str, Value], key: str) -> int | None:
    """The axis of the other operand of `tf.matmul` that is summed over; None where a flag is not known."""
    left = key in ("0", "a")
    names = ("3", "transpose_b", "adjoint_b") if left else ("2", "transpose_a", "adjoint_a")
    flags = [given[name] for name in names if name in given]
    known = [flag.value for flag in flags if isinstance(flag, Constant)]
    return summed_axis(left, any(known)) if len(known) == len(flags) else None


def _unknown_operation(call: Call, why: Why = Why.UNKNOWN_CALL) -> Value:
    """A function of the library without a rule: if an argument depends on a batch, the result is opaque."""
    values = [*call.args, *call.kwargs.values()]
    made = [v for f in values if isinstance(f, Function) for v in (call_with_unknowns(call.walk, f),)]
    values += made
    if any(t.batch.kind != "free" for v in values for t in tensors_in(v)):
        if (seen := traced_value(call.walk, values, call.node, call.name)) is not None:
            return seen
        if has(call.name, Trait.KERAS):  # a model that is built on a tensor of the script
            call.walk.effect(EffectKind.OBJECT_VARIABLE, call.name, None, call.node)
        name = call.name if why is Why.CUSTOM else f"{naming().library}.{call.name}"
        return Tensor(opaque(why, name), values, None, call.name)
    last = call.name.rpartition(".")[2]
    if last[:1].isupper():
        return Typed("Object", call.name, call.args, call.kwargs, call.node)
    if has(call.name, Trait.NO_OPERATIONS):
        return Host(values, call.name, call.node)
    return Tensor(inputs=values, op=call.name)


def _called_back(value: Value) -> tuple[Function | None, tuple[Value, ...]]:
    """What code that is not followed may call of a value that it is given, and the object whose method that is."""
    if isinstance(value, Bound) and isinstance(value.receiver, Instance):
        return value.function, (value.receiver,)
    if isinstance(value, Instance) and value.cls is not None:
        method = value.cls.find("__call__")
        return (method, (value,)) if isinstance(method, Function) else (None, ())
    return (value, ()) if isinstance(value, Function) else (None, ())


def unknown(
    walk: Walk, function: Value, args: list[Value], kwargs: dict[str, Value], node: ast.Call, name: str
) -> Value:
    """A call into code that is not followed."""
    values = [*args, *kwargs.values()]
    used_by_python(walk, values, node)
    batched = any(t.batch.kind != "free" for v in values for t in tensors_in(v))
    for value in values:
        target, first = _called_back(value)
        if target is not None and target.node not in walk.entered:
            call_with_unknowns(walk, target, *first)
    if (seen := traced_value(walk, [function, *values], node, name)) is not None:
        return seen
    if not kwargs.keys() - {"fallback", "default"} and (setting := asked_for(walk, function, args, node)) is not None:
        return setting
    result = Host((function, *values), name or getattr(node.func, "attr", getattr(node.func, "id", "")), node)
    receiver = function.inputs[0] if isinstance(function, Host) and function.inputs else None
    if batched and isinstance(receiver, Host) and isinstance(receiver.node, ast.Call):
        receiver.inputs = (*receiver.inputs, *values)  # `deque.append(tensor)`
        receiver.roots = receiver.roots.union(*(t.roots for v in values for t in tensors_in(v)))
    if result.call in CHANGES and isinstance(receiver, Host):
        walk.effect(EffectKind.MUTATION, f"list.{result.call}", receiver, node)
    if not name.startswith(("numpy.", "matplotlib.", "pprint.", "logging.", "builtins.", "time.", "os.", "sys.")):
        walk.effect(EffectKind.UNFOLLOWED, name, result, node)
        if batched:
            walk.effect(EffectKind.ESCAPE, name, Sequence(values), node)
    return result


# -- functions of the script ----------------------------------------------------------------------


def call_function(walk: Walk, function: Function, args: list[Value], kwargs: dict[str, Value], node: ast.AST) -> Value:
    """The result of executing a function of the script; a host value where it is too deep or called too often."""
    from converter.analysis.python.statements import execute_block

    walk.entered.add(function.node)
    for functions, arguments in reversed(walk.given):
        if function.node in functions:
            kwargs = {**arguments, **kwargs}
    given = [*args, *kwargs.values()]
    if (known := result_of_settled(walk, function, given, node)) is not None:
        return known
    deep = walk.stack.count(function) >= RECURSION or len(walk.stack) > MAX_DEPTH
    if deep or not walk.repeats.may_call(node, function, walk.stack, walk.graph_clock):
        result = Host((function, *given), function.name, node)
        walk.effect(EffectKind.RECURSION if deep else EffectKind.REPETITION, function.name, result, node)
        return result
    frame = Frame(function.node, function.closure, walk.site, function, walk.clock)
    frame.owner, frame.call = function.owner, node
    frame.chosen = {} if walk.turning else walk.arms
    _bind_parameters(walk, frame, function, args, kwargs)
    since = before(walk, function)
    walk.stack.append(function)
    try:
        with walk.inside(frame):
            if isinstance(function.node, ast.Lambda):
                walk.count()  # its body is no statement, and may call further ones
                return walk.evaluate(function.node.body)
            execute_block(walk, function.node.body)
    finally:
        walk.stack.pop()
    returned = _result(walk, frame)
    if since is not None:
        note_call(walk, frame, function, given, returned, since)
    return returned


def _result(walk: Walk, frame: Frame) -> Value:
    if not frame.returns:
        return Constant(None)
    value = frame.returns[0]
    for other in frame.returns[1:]:
        value = join(value, other)
    if len(frame.returns) > 1 and frame.call is not None:
        joined_by(walk, value, frame.call)
    if any(v.uid in walk.facts.generators for v in frame.returns):
        walk.facts.generators.add(value.uid)
    if any(isinstance(v, Constant) and v.value is None for v in frame.returns) and isinstance(value, Tensor):
        walk.maybe_none.add(value.uid)
    return value


def _bind_parameters(walk: Walk, frame: Frame, function: Function, args: list[Value], kwargs: dict[str, Value]) -> None:
    spec = function.node.args
    names = [a.arg for a in (*spec.posonlyargs, *spec.args)]
    values = dict(zip(names, args, strict=False))
    values.update({k: v for k, v in kwargs.items() if k in names or k in {a.arg for a in spec.kwonlyargs}})
    given, given_by = frozenset(values), kwargs.get(SPREAD)
    for name in (*names, *(a.arg for a in spec.kwonlyargs)):
        spread = given_by is not None and _may_hold(walk, given_by, name)
        if name not in values and (spread or (function.injected and counts_examples(name, function.node))):
            values[name] = _spread_parameter(walk, function, name)
        elif name not in values:
            values[name] = function.defaults.get(name) or _unknown_parameter(walk, function, name)
        asked = function.name == "next_batch" and name in ("n", "num", "size", "count", "k")
        name_numbers(walk, "batch_size" if asked else name, values[name])
    if spec.vararg:
        values[spec.vararg.arg] = Sequence(args[len(names) :])
    if spec.kwarg:
        rest = {k: v for k, v in kwargs.items() if k not in values and k != SPREAD}
        values[spec.kwarg.arg] = given_by or Mapping([(Constant(k), v) for k, v in rest.items()])
    for value in values.values():
        if value.site is None:
            walk.stamp(value, function.node)
    if function.defaults:
        frame.by_default = frozenset(n for n, v in function.defaults.items() if n not in given and values.get(n) is v)
    frame.locals.update(values)


def _unknown_parameter(walk: Walk, function: Function, name: str) -> Value:
    """An argument from a caller that is not followed; a parameter named like a batch size is an unknown number."""
    if not isinstance(function.node, ast.Lambda) and counts_examples(name, function.node):
        origin = walk.origin(function.node, "parameter", name)
        return Number(None, frozenset((origin,)), frozenset((origin,)))
    return Host((), "parameter", function.node)


def _may_hold(walk: Walk, spread: Value, name: str) -> bool:
    """Whether a dict that is not known may give a parameter; parsed arguments hold nothing but the script's flags."""
    of = settings_of(spread)
    parsed = isinstance(of, Typed) and has(of.kind, Trait.SETTINGS)
    return not parsed or any(flag.name == name for flag in walk.facts.flags)


def _spread_parameter(walk: Walk, function: Function, name: str) -> Value:
    """A parameter that `f(**settings)` may give: in place of the default, of which no branch can be sure."""
    if not isinstance(function.node, ast.Lambda) and counts_examples(name, function.node):
        origin = walk.origin(function.node, "spread", name)
        return Number(None, frozenset((origin,)), frozenset((origin,)))
    value = function.defaults.get(name) or _unknown_parameter(walk, function, name)
    walk.assumed.add(value.uid)
    return value


def call_with_unknowns(walk: Walk, function: Function, *first: Value) -> Value:
    """Enters a function with its defaults, and with unknown values for the other parameters."""
    parameters = function.node.args.args[len(first) :]
    own = {a.arg: function.defaults.get(a.arg) for a in parameters if not counts_examples(a.arg, function.node)}
    rest = {a.arg: _unknown_parameter(walk, function, a.arg) for a in parameters if own.get(a.arg) is None}
    walk.assumed.update(value.uid for value in (*own.values(), *rest.values()) if value is not None)
    node = ast.copy_location(ast.Call(ast.Name("?", ast.Load()), [], []), function.node)
    around = function.site.stmt if isinstance(function.node, ast.Lambda) and function.site else function.node
    if walk.site is None and isinstance(around, ast.stmt):
        with walk.at(around, None):
            return call_function(walk, function, [*first], rest, node)
    return call_function(walk, function, [*first], rest, node)


def use_with_unknowns(walk: Walk, cls: Class) -> None:
    """Makes an object of a class that the script only defines, and calls the methods that were not called yet.

    Methods that no other one mentions come first, as they pass known arguments to the others: a `next_batch` that was
    called with an unknown size would leave that in the object, beside the size that `train` gives it.
    """
    instance = Instance(cls)
    with walk.at(cls.node, None):
        walk.stamp(instance, cls.node)
        init = cls.find("__init__")
        if isinstance(init, Function):
            call_with_unknowns(walk, init, instance)
        methods = {name: value for name, value in cls.attributes.items() if isinstance(value, Function)}
        mentions = {name: _own_attributes(value.node) for name, value in methods.items()}
        for name in sorted(methods, key=lambda name: any(name in m for other, m in mentions.items() if other != name)):
            if methods[name].node not in walk.entered:
                call_with_unknowns(walk, methods[name], instance)


def _own_attributes(method: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> set[str]:
    """The attributes of its object that a method mentions: `self.name`."""
    first = next((a.arg for a in (*method.args.posonlyargs, *method.args.args)), None)
    attributes = (inner for inner in ast.walk(method) if isinstance(inner, ast.Attribute))
    return {a.attr for a in attributes if isinstance(a.value, ast.Name) and a.value.id == first}


# -- classes and methods --------------------------------------------------------------------------


def _instantiate(walk: Walk, cls: Class, args: list[Value], kwargs: dict[str, Value], node: ast.Call) -> Value:
    walk.entered.update(c.node for c in cls.lineage())
    fields = fields_of(cls)
    named = {name: value for name, value in kwargs.items() if name != SPREAD}
    if fields is not None:
        return make_record(cls, fields, args, named)
    instance = Instance(cls, OPTIMIZER if _is_optimizer(cls) else "")
    walk.stamp(instance, node)
    written = fields_of_dataclass(cls)
    init = cls.find("__init__") if written is None else None
    if _is_attribute_dict(cls, init):
        instance.kind = ATTRIBUTES
        if not isinstance(init, Function) or _takes_entries(init.node.args):
            filled = f"{ATTRIBUTES}.update"
            handlers()[filled](Call(walk=walk, name=filled, args=args, kwargs=kwargs, node=node, receiver=instance))
    if isinstance(init, Function):
        call_function(walk, init, [instance, *args], kwargs, node)
        return instance
    instance.inputs = (*args, *kwargs.values())
    make_base(walk, instance, cls, args, kwargs, node)
    if written is not None:
        named = {**_of_unknown(written, kwargs), **dict(zip(written, args, strict=False)), **named}
    for name, value in named.items():
        instance.attributes[name] = value
    if written is not None:
        call_method(walk, instance, "__post_init__", [], node)
    return instance


def _is_optimizer(cls: Class) -> bool:
    """Whether a class of the script is derived from one of the library's optimizers."""
    bases = library_bases(cls)
    return any(base.library == naming().library and has(base.name, Trait.OPTIMIZER) for base in bases)


def _of_unknown(fields: tuple[str, ...], kwargs: dict[str, Value]) -> dict[str, Value]:
    """Values for the fields of a data class, any of which a dict that is not known may give."""
    return {name: Host([kwargs[SPREAD]]) for name in fields} if SPREAD in kwargs else {}


def _is_attribute_dict(cls: Class, init: Value | None) -> bool:
    """Whether the entries of a dict of the script's own class are its attributes, too.

    Such a class has `self.__dict__ = self` in its constructor, or `__getattr__ = dict.get` or the like.
    """
    if not any(isinstance(base, Symbol) and base.name in DICTS for each in cls.lineage() for base in each.bases):
        return False
    body = init.node.body if isinstance(init, Function) and not isinstance(init.node, ast.Lambda) else []
    itself = any(isinstance(stmt, ast.Assign) and ast.unparse(stmt) == "self.__dict__ = self" for stmt in body)
    found = cls.find("__getattr__")
    return itself or (found is not None and not isinstance(found, Function))


def _takes_entries(parameters: ast.arguments) -> bool:
    """Whether a constructor is given what a dict is given: `*args` or `**kwargs`, and nothing else but the object."""
    named = len(parameters.posonlyargs) + len(parameters.args) + len(parameters.kwonlyargs)
    return named == 1 and bool(parameters.vararg or parameters.kwarg)


def call_method(
    walk: Walk,
    instance: Instance,
    name: str,
    args: list[Value],
    node: ast.AST,
    kwargs: dict[str, Value] | None = None,
) -> Value | None:
    """The result of a method of an object of the script; None where its class does not define it."""
    if instance.options:
        methods = methods_of_each(instance, name, walk.options_taken(instance))
        bound = [(m.function, m.receiver) for m in methods if m.function is not None]
        calls = [partial(call_function, walk, f, [receiver, *args], kwargs or {}, node) for f, receiver in bound]
        return _one_result(walk, calls, node) if calls else None
    found = instance.cls.find(name) if instance.cls is not None else None
    if isinstance(found, Function):
        return call_function(walk, found, [instance, *args], kwargs or {}, node)
    return None


def iterated(walk: Walk, value: Value, node: ast.AST) -> Value:
    """The elements of a value, as a list of any number of them if an object's methods give them; else the value."""
    if not isinstance(value, Instance):
        return value
    over = call_method(walk, value, "__iter__", [], node)
    if isinstance(over, Instance):
        element = next_of(walk, over, node)
    elif over is not None:
        return over  # a generator, or another thing that can be iterated over
    else:
        element = call_method(walk, value, "__getitem__", [Number(None)], node)
    if element is None or isinstance(element, Constant):
        return value
    return walk.stamp(Sequence([element], many=True), node)


def next_of(walk: Walk, iterator: Instance, node: ast.AST) -> Value | None:
    """What an iterator's own method gives next; None if its class has none."""
    for name in NEXT:
        element = call_method(walk, iterator, name, [], node)
        if element is not None:
            return element
    return None


def _call_bound(walk: Walk, bound: Bound, args: list[Value], kwargs: dict[str, Value], node: ast.Call) -> Value:
    receiver = bound.receiver
    if bound.function is not None:
        return call_function(walk, bound.function, [receiver, *args], kwargs, node)
    if isinstance(receiver, Typed) and receiver.kind == "Super" and bound.name == "__init__":
        instance, owner = receiver.args
        if (
            isinstance(instance, Instance)
            and isinstance(owner, Class)
            and make_base(walk, instance, owner, args, kwargs, node)
        ):
            return Constant(None)
    if isinstance(receiver, Typed) and receiver.options:
        methods = [Bound(option, bound.name) for option in receiver.options]
        return _called_each(walk, methods, args, kwargs, node)
    if bound.name != "update":
        kwargs = {name: value for name, value in kwargs.items() if name != SPREAD}
    kind = receiver.kind if isinstance(receiver, Typed) else type(receiver).__name__
    if isinstance(receiver, Instance) and receiver.kind:
        kind = receiver.kind
    if kind == "Tensor" and is_variable(receiver):
        kind = "Variable"  # one of several, by a branch
    call = Call(walk=walk, name=f"{kind}.{bound.name}", args=args, kwargs=kwargs, node=node, receiver=receiver)
    handler = handlers().get(call.name)
    if handler is not None:
        return handler(call)
    if isinstance(receiver, Tensor) and has(receiver.op, Trait.LOADS_OPERATIONS):
        given = [receiver, *args]
        made = Call(walk=walk, name=bound.name, args=given, kwargs=kwargs, node=node, receiver=receiver)
        return _unknown_operation(made, Why.CUSTOM)
    if isinstance(receiver, Tensor):
        return _unknown_operation(
            Call(
                walk=walk,
                name=f"Tensor.{bound.name}",
                args=[receiver, *args],
                kwargs=kwargs,
                node=node,
                receiver=receiver,
            )
        )
    return unknown(walk, bound, args, kwargs, node, "")
