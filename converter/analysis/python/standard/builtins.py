"""Python's own functions and methods, as far as they decide how a graph is built."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from itertools import zip_longest

from converter.analysis.arrays.shapes import shape_of
from converter.analysis.call import Call, Handler
from converter.analysis.effects import EffectKind
from converter.analysis.facts import Fallback
from converter.analysis.flow.joined import choices, left_out
from converter.analysis.flow.undo import StateChange
from converter.analysis.frames import Place
from converter.analysis.library import naming
from converter.analysis.python.calling import SPREAD, call_method, call_value, iterated, next_of
from converter.analysis.python.containers import (
    element_at,
    in_turn,
    item_place,
    iterate,
    loosen,
    loosened,
    note_position,
    put_behind,
    put_key,
    under,
)
from converter.analysis.python.inheriting import dotted, library_bases
from converter.analysis.python.items import get_attribute
from converter.analysis.python.joins import is_feed, one_of
from converter.analysis.python.namedtuples import is_record_of
from converter.analysis.python.operators import truth
from converter.analysis.python.settings import (
    fill,
    flags_of,
    note_setting,
    read_setting,
    replace_sizes,
    set_all,
    set_attribute,
    settings_of,
    unseen_setting,
)
from converter.analysis.python.standard.texts import spelled
from converter.analysis.python.standard.told import is_told, name_of
from converter.analysis.tensors import algebra
from converter.analysis.tensors.sparse import PART
from converter.analysis.traits import Trait, has
from converter.analysis.values import (
    ENTRIES,
    STATES,
    Absent,
    Bound,
    Choice,
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
    Partial,
    Record,
    Sequence,
    ShapeOf,
    Symbol,
    Tensor,
    Typed,
    Value,
    needed,
    tensors_in,
)

# Types of Python; `isinstance(True, int)` holds.
KINDS = {"str": "str", "basestring": "str", "list": "list", "tuple": "tuple", "dict": "dict"}
KINDS |= {"int": "int", "float": "float", "bool": "bool"}
TENSORS = {"Tensor", "LSTMStateTuple"}  # types of TensorFlow that a plain list, tuple or dict does not have
LISTS = ("zip", "map", "filter")  # which Python 2 makes at once


def _once(handler: Handler) -> Handler:
    """A handler whose results can be iterated over once; Python 2 makes lists of some."""

    def handle(call: Call) -> Value:
        made = handler(call)
        if call.name not in LISTS or not call.walk.project.python2:
            call.walk.facts.iterators.add(made.uid)
        return made

    return handle


def _len(call: Call) -> Value:
    (value,) = call.args[:1] or [Host()]
    if isinstance(value, Instance) and (length := call_method(call.walk, value, "__len__", [], call.node)) is not None:
        return length
    call.walk.facts.iterators.discard(value.uid)  # a list of Python 2's
    if isinstance(value, ShapeOf) and value.tensor.rank is not None:
        return Number(value.tensor.rank, inputs=(value,))
    if (rows := _picked_rows(value)) is not None:
        return Number(rows, inputs=(value,))
    if isinstance(value, (Sequence, Mapping)) and not getattr(value, "unmeasured", False) and not _collects(value):
        length = Number(len(value.elements if isinstance(value, Sequence) else value.pairs), inputs=(value,))
    else:
        origin = call.walk.origin(call.node, "computed")
        length = Number(None, frozenset((origin,)), frozenset((origin,)), (value,))
    if isinstance(value, (Sequence, Mapping)) and all(t.batch.kind != "opaque" for t in tensors_in(value)):
        length.roots = frozenset()  # there is no entry for each example: it is the same in all towers
    return length


def _picked_rows(value: Value) -> int | None:
    """The number of rows that are picked out of an array by a list of numbers which is written out."""
    places = value.inputs[1] if isinstance(value, Host) and value.call == "[]" and len(value.operands) == 2 else None
    shape = shape_of(places) if isinstance(places, Sequence) and places.mutable else None
    return shape[0] if shape is not None and len(shape) == 1 else None


def _collects(value: Value) -> bool:
    """True if a list collects data while the script runs, so that its length does not matter to the model."""
    return isinstance(value, Sequence) and value.mutable and any(_of_host(e) for e in value.elements)


def _of_host(value: Value) -> bool:
    if isinstance(value, Host):
        return not isinstance(value.source, ShapeOf)  # the length of an axis, which is not known as a number
    return isinstance(value, Sequence) and any(_of_host(e) for e in value.elements)


def _range(call: Call) -> Value:
    bounds = [a.value for a in call.args if isinstance(a, Number) and isinstance(a.value, int)]
    if bounds and len(bounds) == len(call.args) and bounds[2:] != [0]:
        numbers = range(*bounds)
        if len(numbers) <= 40:
            return _ranging(call, Sequence([Number(n, inputs=call.args) for n in numbers]))
    origins = frozenset().union(*(a.origins for a in call.args if isinstance(a, Number)))
    step = call.args[2] if len(call.args) > 2 else None
    linear = step.linear if isinstance(step, Number) else frozenset()
    return _ranging(call, Sequence([Number(None, origins, linear, call.args)], many=True))


def _ranging(call: Call, made: Sequence) -> Sequence:
    for number in made.elements:
        assert isinstance(number, Number)
        number.turn = made.uid
    call.walk.facts.ranges[made.uid] = list(call.args)
    call.walk.facts.range_calls[made.uid] = call.node
    return made


def _zip(call: Call) -> Value:
    given = [iterated(call.walk, a, call.node) for a in call.args]
    columns = [iterate(a, None) for a in given]
    many = any(not isinstance(a, Sequence) or a.many for a in given)
    spreads = any(isinstance(arg, ast.Starred) for arg in call.node.args)  # `zip(*rows)`, of any number of rows
    rows = [Sequence(row, many=spreads) for row in zip(*columns, strict=False)]
    if (times := _times(call)) is not None:
        for row in rows:
            row.inputs = (*row.inputs, times)
    elif (whole := _spread_rows(call)) is not None:
        call.walk.facts.listed.update((row.uid, whole) for row in rows)
    made = Sequence(rows, mutable=True, many=many and bool(rows)).like(*given)
    if not spreads:
        call.walk.facts.zipped[made.uid] = given
    return made


def _spread_rows(call: Call) -> Sequence | Host | None:
    """The rows of `zip(*rows)`, each of whose columns has as many entries; None for other calls."""
    star = call.node.args[0] if len(call.node.args) == 1 else None
    if not isinstance(star, ast.Starred) or not isinstance(star.value, ast.Name):
        return None
    kept = call.walk.frame.lookup(star.value.id)
    return kept[1] if kept is not None and isinstance(kept[1], (Sequence, Host)) else None


def _times(call: Call) -> Number | None:
    """How often one iterator stands in `zip(*[iter(rows)] * n)`, which gives n rows at a time; None for other calls."""
    star = call.node.args[0] if len(call.node.args) == 1 else None
    named = star.value if isinstance(star, ast.Starred) else None
    if isinstance(named, ast.BinOp) and isinstance(named.op, ast.Mult):
        listed, number = (named.left, named.right) if isinstance(named.left, ast.List) else (named.right, named.left)
        plain = not any(isinstance(n, ast.Call) for n in ast.walk(number))  # executed once more, without an effect
        single = isinstance(listed, ast.List) and len(listed.elts) == 1
        times = call.walk.evaluate(number) if single and plain else None
        return times if isinstance(times, Number) else None
    kept = call.walk.frame.lookup(named.id) if isinstance(named, ast.Name) else None
    same = kept[1] if kept is not None and isinstance(kept[1], Sequence) else None
    if same is None or not same.inputs or len({element.uid for element in same.elements}) != 1:
        return None
    last = same.inputs[-1]
    return last if isinstance(last, Number) and last not in same.elements else None


def _enumerate(call: Call) -> Value:
    (value,) = call.args[:1] or [Host()]
    note_position(call.walk, value)
    value = iterated(call.walk, value, call.node)
    many, given = not isinstance(value, Sequence) or value.many, call.get(1, "start")
    start = getattr(given, "value", None) if given is not None else 0
    begin = () if given is None else (given, given)
    rows = [Sequence([Number((start or 0) + i, inputs=begin), v]) for i, v in enumerate(iterate(value, None))]
    for row in rows:
        assert isinstance(row.elements[0], Number)
        row.elements[0].turn = rows[0].uid
    if many or start is None:  # a condition on it may turn out otherwise in further turns
        call.walk.assumed.update(row.elements[0].uid for row in rows)
    return _listing(call, value, Sequence(rows, many=many and bool(rows)).like(value))


def _listing(call: Call, of: Value, made: Sequence) -> Sequence:
    """A list that has as many elements as what it is made of."""
    call.walk.facts.listed[made.uid] = of
    return made


def _list(call: Call) -> Value:
    if not call.args:
        return Sequence([], mutable=call.name == "list")
    value = iterated(call.walk, call.args[0], call.node)
    if isinstance(value, (Sequence, Mapping, ShapeOf)):
        made = Sequence(iterate(value, None), call.name == "list", _is_of_any_length(value)).like(value)
        return _listing(call, value, made)
    return Host((value,), call.name, call.node)


def _is_of_any_length(value: Value) -> bool:
    """Whether it is not known how many elements a value has."""
    return value.tensor.rank is None if isinstance(value, ShapeOf) else getattr(value, "many", False)


def make_dict(call: Call) -> Value:
    """A dict: of another one or of pairs, and of keyword arguments."""
    of = settings_of(call.args[0]) if call.args else None
    if isinstance(of, Typed) and not call.kwargs:
        return call.args[0]  # of parsed arguments: what is read from either is the same
    made = Mapping(pairs_of(call))
    for given in (*(a for a in call.args if isinstance(a, (Host, Typed))), *_spread(call)):
        fill(call.walk, made, given, call.node)
    return made


def _spread(call: Call) -> list[Value]:
    """The dict that is not known of `f(**settings)`."""
    return [value for name, value in call.kwargs.items() if name == SPREAD]


def pairs_of(call: Call) -> list[tuple[Value, Value]]:
    """What `dict(…)` or `update(…)` is given: a dict or pairs, and keyword arguments."""
    pairs: list[tuple[Value, Value]] = [(Constant(k), v) for k, v in call.kwargs.items() if k != SPREAD]
    for given in call.args[:1]:
        if isinstance(given, Mapping):
            pairs = [*given.pairs, *pairs]
        elif isinstance(given, Sequence):
            rows = [r.elements for r in in_turn(given) if isinstance(r, Sequence) and len(r.elements) == 2]
            pairs = [*((key, value) for key, value in rows), *pairs]
    return pairs


def _number(call: Call) -> Value:
    value = call.args[0] if call.args else Number(0)
    if call.name in ("int", "long") and is_told(value):
        _note_fallbacks(call, name_of(value))
        if (name := name_of(value)) is not None:  # the same number wherever it is asked for by this name
            number = read_setting(call.walk, name, call.node)
            return Number(None, number.origins, number.linear, (value,))
        told = frozenset((call.walk.origin(call.node, "literal"),))
        return Number(None, told, told, (value,))
    if isinstance(value, Number):
        known = None if value.value is None else (int if call.name in ("int", "long", "round") else float)(value.value)
        made = Number(known, value.origins, value.linear, (value,), chosen=value.chosen)
        made.op = "int" if call.name == "long" else call.name
        return made
    if isinstance(value, Count):
        return value
    return (
        Number(None, inputs=(value,))
        if isinstance(value, Host) and not value.inputs
        else Host((value,), call.name, call.node)
    )


def _note_fallbacks(call: Call, name: str | None) -> None:
    """Notes the numbers that stand for what the user does not tell: `int(os.environ.get('N', 64))`."""
    setting = call.walk.facts.origin_of(call.node).key if name is None else ("flag", name)
    for node in ast.walk(call.node):
        parts = node.args if isinstance(node, ast.Call) else node.values if isinstance(node, ast.BoolOp) else []
        call.walk.facts.fallbacks += [Fallback(setting, other) for other in parts[1:]]


def _sum(call: Call) -> Value:
    value = call.args[0] if call.args else Host()
    if any(isinstance(start, Sequence) for start in call.args[1:]):
        return Host((value, *call.args[1:]), call.name, call.node)  # lists or tuples that are joined
    if isinstance(value, Tensor):
        return algebra.elementwise(call.walk.facts, "add_n", iterate(value, None))
    if isinstance(value, Sequence) and any(isinstance(e, Tensor) for e in value.elements):
        return algebra.elementwise(call.walk.facts, "add_n", value.elements)
    return Host((value,), call.name, call.node)


def _abs(call: Call) -> Value:
    if call.args and isinstance(call.args[0], Tensor):
        return algebra.elementwise(call.walk.facts, "abs", call.args)
    return Host(call.args, call.name, call.node)


def _host(call: Call) -> Value:
    return Host(call.args, call.name, call.node)


def _str(call: Call) -> Value:
    text = spelled(call.args[0]) if len(call.args) == 1 else None
    return _host(call) if text is None else Constant(text)


def _print(call: Call) -> Value:
    return Constant(None)


def _getattr(call: Call) -> Value:
    name = call.constant(1, "")
    holder = call.args[0] if call.args else Host()
    if not isinstance(name, str):
        options = [get_attribute(call.walk, holder, name, call.node) for name in _named_by_flag(call, holder)]
        return Choice(options) if len(options) > 1 else options[0] if options else Host(call.args, "getattr", call.node)
    if len(call.args) > 2 and isinstance(holder, Instance) and name not in holder.attributes:
        known = holder.cls.find(name) if holder.cls is not None else None
        if known is None:
            call.walk.read(Place("attr", holder.uid, name, holder=holder), Absent(), call.node)
            return call.args[2]
    return get_attribute(call.walk, holder, name, call.node)


def _named_by_flag(call: Call, holder: Value) -> list[str]:
    """The methods of an object, or the functions and classes of a module, that a flag may name.

    Those that a text of the flag (a default, a choice) or of the file (a comparison) names; where that is one at most,
    and the object is the script's, all public methods that need no argument and that no other method asks for.
    """
    flags = flags_of(call.walk.facts, call.args[1] if len(call.args) > 1 else None)
    if not flags:
        return []
    tree = call.walk.facts.tree_of(call.walk.facts.path_of(call.node))
    said = [tree, *(flag.call for flag in flags)]
    texts: set[object] = {node.value for each in said for node in ast.walk(each) if isinstance(node, ast.Constant)}
    texts.update(text for flag in flags for text in (flag.fallback, *flag.choices))
    known = _public_functions(holder)
    named = [name for name in known if name in texts]
    methods = {name: one for name, one in known.items() if isinstance(one, Function)}
    asked = {n.attr for one in methods.values() for n in ast.walk(one.node) if isinstance(n, ast.Attribute)}
    free = [name for name, one in methods.items() if name not in asked and _needs_no_argument(one)]
    return named if len(named) > 1 or not isinstance(holder, Instance) else list(dict.fromkeys([*named, *free]))


def _public_functions(holder: Value) -> dict[str, Value]:
    """The functions and classes that an object or a module of the script has, without those that begin with `_`."""
    if isinstance(holder, Module):
        held = dict(holder.frame.locals)
    else:
        cls = holder.cls if isinstance(holder, Instance) else holder
        owners = reversed(list(cls.lineage())) if isinstance(cls, Class) else ()
        held = {name: value for owner in owners for name, value in owner.attributes.items()}
    return {n: v for n, v in held.items() if isinstance(v, (Function, Class)) and not n.startswith("_")}


def _needs_no_argument(method: Function) -> bool:
    """Whether a method can be called without arguments."""
    arguments = method.node.args
    required = len(arguments.posonlyargs) + len(arguments.args) - len(arguments.defaults)
    return required <= 1 and all(default is not None for default in arguments.kw_defaults)


def _setattr(call: Call) -> Value:
    """`setattr(config, name, value)`, or `setattr(config, *pair)`: an unknown name may be that of any attribute."""
    holder, name = call.args[0] if call.args else Host(), call.constant(1, "")
    if isinstance(name, str) and len(call.args) > 2:
        set_attribute(call.walk, holder, name, call.args[2], call.node)
    else:
        set_all(call.walk, holder, Host(call.args[1:]), call.node)
    return Constant(None)


def _vars(call: Call) -> Value:
    """`vars(args)`: the dict of an object, such as that of parsed arguments, in which its values may be set too."""
    holder = call.args[0] if call.args else Host()
    parsed = isinstance(holder, Typed) and holder.kind == "Namespace"
    followed = parsed or isinstance(holder, (Instance, Class, Module))
    return call.typed(ENTRIES) if followed else Host(call.args, call.name, call.node)


def _globals(call: Call) -> Value:
    return Typed(ENTRIES, call.name, [Module(call.walk.frame.module)], {}, None)


def _locals(call: Call) -> Value:
    frame = call.walk.frame
    return _globals(call) if frame is frame.module else Host((), call.name, call.node)


def _exec(call: Call) -> Value:
    """`exec(open('config.txt').read())` may bind any name of the module, or any key of the dict that it is given."""
    given = call.args[1] if len(call.args) > 1 else _globals(call)
    holder = settings_of(given)
    if not isinstance(call.constant(0), str):
        replace_sizes(call.walk, given if holder is None else holder, Host(call.args), call.node)
    return Constant(None)


def _isinstance(call: Call) -> Value:
    """Whether a value is a string, a list, a tuple or a dict, where that is sure; of other types nothing is known.

    A list, a tuple or a dict of Python is no tensor; what the analysis takes for a tensor may be a sparse one.
    """
    value, asked = (call.args[0], call.node.args[-1]) if len(call.args) == 2 else (Host(), call.node)
    kinds = asked.elts if isinstance(asked, ast.Tuple) else [asked]
    types = getattr(call.args[-1], "elements", [call.args[-1]]) if call.args else []
    if any(isinstance(each, Symbol) and _is_made_by(value, each) for each in types):
        return Constant(True)
    if (record := _is_of_named_tuples(call, value, types)) is not None:
        return Constant(record)
    names = {_kind_named(call, kind, meant) for kind, meant in zip_longest(kinds, types)}
    maybe_one = isinstance(value, Tensor) or (isinstance(value, Record) and "LSTMStateTuple" in names)
    known = None if "" in names or (maybe_one and names & TENSORS) else _kinds_of(call, value)
    return Host(call.args, "isinstance") if known is None else Constant(not names.isdisjoint(known))


def _type(call: Call) -> Value:
    """The type of a list, a tuple, a number, a text or a tensor, where that is sure; a dict may be an ordered one."""
    value = call.args[0] if len(call.args) == 1 else Host()
    kinds = None if isinstance(value, (Record, Mapping)) else _kinds_of(call, value)
    if kinds is None:
        return Host(call.args, call.name, call.node)
    if isinstance(value, Constant):
        kinds = {type(value.value).__name__}
    return Symbol("builtins", kinds.pop()) if kinds else Symbol(naming().library, "Tensor")


def _is_of_named_tuples(call: Call, value: Value, types: Iterable[Value]) -> bool | None:
    """Whether a record is of one of several named tuples; None where that is not sure."""
    if not isinstance(value, Record) or value.maybe_other or call.walk.is_partly_none(value):
        return None
    found = [is_record_of(value, cls) for cls in types]
    return None if None in found else any(found)


def _is_made_by(value: Value, cls: Symbol) -> bool:
    """Whether an object is of a class of a library, or of one of the script's that is derived from it."""
    if isinstance(value, Instance) and value.cls is not None and not value.maybe_other:
        return any(dotted(base) == dotted(cls) for base in library_bases(value.cls))
    if not isinstance(value, Typed) or value.options or value.maybe_other:
        return False
    return cls.library == naming().library and value.name == cls.name


def _kind_named(call: Call, kind: ast.AST | None, meant: Value | None) -> str:
    """The kind of value that an expression stands for as a type, "" for one that is not known."""
    if isinstance(kind, ast.Attribute) and kind.attr == "string_types":  # of six
        return "str"
    last = meant.name.rpartition(".")[2] if isinstance(meant, Symbol) and meant.library == naming().library else ""
    if last in TENSORS:
        return last
    bound = call.walk.frame.lookup(kind.id) if isinstance(kind, ast.Name) else None
    return KINDS.get(kind.id, "") if isinstance(kind, ast.Name) and bound is None else ""


def _kinds_of(call: Call, value: Value) -> set[str] | None:
    """The kinds among those of `KINDS` that a value is on every way that leads here; None where that is not sure."""
    if value.maybe_other or call.walk.is_partly_none(value):
        return None
    if isinstance(value, Constant):
        return {kind for kind in set(KINDS.values()) if any(c.__name__ == kind for c in type(value.value).__mro__)}
    if isinstance(value, Number):
        return {type(value.value).__name__} if _is_of_plain_numbers(value) else None
    if isinstance(value, Sequence) and value.ends is None and value.uid not in call.walk.facts.iterators:
        return {"list" if value.mutable else "tuple"}
    if isinstance(value, Mapping):
        return {"dict"}
    return set() if isinstance(value, Tensor) and _is_one_tensor(value) else None


def _is_of_plain_numbers(value: Number) -> bool:
    """Whether a number is known and computed of Python's own numbers alone: no entry of a shape, or of an array."""
    behind = needed([value]).values()
    return value.value is not None and all(isinstance(v, Number) and _keeps_kind(v.op) and not v.chosen for v in behind)


def _keeps_kind(op: str) -> bool:
    """Whether an operation gives a number of the kind of its operands; "" is a number by itself."""
    return op in ("", "negative") or has(op, Trait.COUNTS)


def _is_one_tensor(value: Tensor) -> bool:
    """Whether a value is surely a single tensor, not a list or tuple of several."""
    if value.op == PART and value.inputs:  # in a conversion: a tower's part of an input
        value = next((v for v in value.inputs[:1] if isinstance(v, Tensor)), value)
    if isinstance(value, Input):
        return has(value.op, Trait.PLACEHOLDER)
    if any(left_out(value)) or (value.batch.kind not in ("example", "reduced") and value.lengths is None):
        return False
    return all(one.op != STATES for one in choices(value))


def _super(call: Call) -> Value:
    """The object, or the class, with the methods of the base classes: of the class whose method is being executed."""
    frame = call.walk.frame
    instance = next(iter(frame.locals.values()), Host())
    if isinstance(instance, (Instance, Class)) and isinstance(frame.owner, Class):
        return Typed("Super", "super", [instance, frame.owner], {}, call.node)
    return Host(call.args, "super")


def _map(call: Call) -> Value:
    over = [iterated(call.walk, value, call.node) for value in call.args[1:]]
    if not over or not all(isinstance(value, (Sequence, Mapping, ShapeOf)) for value in over):
        return Host(call.args, call.name, call.node)
    many = any(map(_is_of_any_length, over))
    if many and len(over) > 1:
        return Host(call.args, call.name, call.node)
    columns = (value.elements if isinstance(value, Sequence) else iterate(value, None) for value in over)
    turns = zip(*columns, strict=False)
    made = [call_value(call.walk, call.args[0], [*given], {}, call.node) for given in turns]
    return Sequence(made, mutable=True, many=many).like(over[0])


def _filter(call: Call) -> Value:
    value = call.args[-1] if call.args else Host()
    if isinstance(value, Sequence) and value.elements:
        made = loosened(value)
        made.many = True
        return made
    return Host(call.args, call.name, call.node)


def _sorted(call: Call) -> Value:
    """A list of all that the first argument holds, in another order."""
    made, of = _filter(call), call.args[0] if call.args else None
    if isinstance(made, Sequence) and isinstance(of, Sequence):
        return _listing(call, of, made)
    return made


def _chosen_by(call: Call) -> Value:
    """`filter(function, values)`: any of them; the function is followed once for each kind of value."""
    function, value = (call.args[0], call.args[-1]) if call.args else (Host(), Host())
    if isinstance(function, Function) and isinstance(value, Sequence):
        kinds = {(type(e), getattr(e, "op", "")): e for e in value.elements}
        for one in kinds.values():
            call_value(call.walk, function, [one], {}, call.node)
    return _filter(call)


def _reversed(call: Call) -> Value:
    value = call.args[0] if call.args else Host()
    if not isinstance(value, Sequence) or value.many:
        return _sorted(call)
    made = Sequence(reversed(value.elements), mutable=True).like(value)
    made.ends = made.ends and (made.ends[1], made.ends[0])
    return _listing(call, value, made)


def _iter(call: Call) -> Value:
    """An iterator over a list is another object than the list: reading it leaves the list as it is.

    `iter(function, end)` gives what the function returns, any number of times.
    """
    if len(call.args) == 2 and isinstance(call.args[0], Function):
        return Sequence([call_value(call.walk, call.args[0], [], {}, call.node)], many=True)
    value = iterated(call.walk, _same(call), call.node)
    if isinstance(value, Sequence) and len(call.args) == 1 and value.uid not in call.walk.facts.iterators:
        return _listing(call, value, Sequence(value.elements, many=value.many).like(value))
    return value


def _same(call: Call) -> Value:
    return call.args[0] if call.args else Host()


def _hasattr(call: Call) -> Value:
    name = call.constant(1, "")
    if call.args and isinstance(call.args[0], Instance) and isinstance(name, str):
        holder = call.args[0]
        known = holder.attributes.get(name)
        call.walk.read(Place("attr", holder.uid, name, holder=holder), known or Absent(), call.node)
        found = known or (holder.cls.find(name) if holder.cls is not None else None)
        return Constant(found is not None)
    return Host(call.args, "hasattr")


def _bool(call: Call) -> Value:
    known = truth(call.args[0]) if call.args else False
    return Host(call.args, "bool") if known is None else Constant(known)


def _callable(call: Call) -> Value:
    value = call.args[0] if call.args else Host()
    if isinstance(value, (Function, Class, Partial)) or (isinstance(value, Bound) and value.function is not None):
        return Constant(True)
    known = isinstance(value, (Constant, Number, Sequence, Mapping, Tensor))
    return Constant(False) if known else Host(call.args, "callable")


def _exit(call: Call) -> Value:
    return Host(call.args, "exit")


def _next(call: Call) -> Value:
    """`next(generator)`: arrays that are made anew each time, where a generator of the script gives them."""
    source = call.receiver or (call.args[0] if call.args else Host())
    if isinstance(source, Instance) and (given := next_of(call.walk, source, call.node)) is not None:
        return given
    if not isinstance(source, Sequence) or not source.many or not source.elements:
        return Host((source,), "builtins.next", call.node)
    return _given(call, source.elements[0])


def _given(call: Call, given: Value) -> Value:
    """An element of a list of any number of them, as another one in each turn of a loop: its arrays are made anew."""
    if not isinstance(given, Sequence):
        return _anew(call, given)
    made = Sequence([_anew(call, e) for e in given.elements], given.mutable, given.many)
    if (over := call.walk.facts.listed.get(given.uid)) is not None:  # as many elements as the comprehension gave
        call.walk.facts.listed[made.uid] = over
    return made


def _anew(call: Call, value: Value) -> Value:
    return Host((value,), "next", call.node) if isinstance(value, Host) else value


BUILTINS: dict[str, Handler] = {
    "len": _len,
    "range": _range,
    "xrange": _range,
    "zip": _once(_zip),
    "enumerate": _once(_enumerate),
    "list": _list,
    "tuple": _list,
    "dict": make_dict,
    "int": _number,
    "float": _number,
    "long": _number,
    "round": _number,
    "abs": _abs,
    "sum": _sum,
    "print": _print,
    "getattr": _getattr,
    "setattr": _setattr,
    "hasattr": _hasattr,
    "isinstance": _isinstance,
    "type": _type,
    "super": _super,
    "map": _once(_map),
    "filter": _once(_chosen_by),
    "sorted": _sorted,
    "reversed": _once(_reversed),
    "iter": _once(_iter),
    "bool": _bool,
    "max": _host,
    "min": _host,
    "str": _str,
    "open": _host,
    "exit": _exit,
    "quit": _exit,
    "callable": _callable,
    "next": _next,
    "vars": _vars,
    "globals": _globals,
    "locals": _locals,
    "exec": _exec,
    "execfile": _exec,
    "slice": _host,
}


# -- methods of followed values -------------------------------------------------------------------


def _append(call: Call) -> Value:
    _put(call, [call.args[0] if call.args else Host()])
    return Constant(None)


def _extend(call: Call) -> Value:
    value = call.args[0] if call.args else Host()
    sequence = _put(call, iterate(value, None))
    if isinstance(value, Sequence):
        sequence.many |= value.many
        sequence.open |= value.open
        if value.ends is not None:
            loosen(sequence)
    return Constant(None)


def _put(call: Call, values: list[Value]) -> Sequence:
    """Append values to a list."""
    sequence = changed(call)
    put_behind(sequence, values)
    return sequence


def _insert(call: Call) -> Value:
    sequence, place = changed(call), _place(call)
    if place is None or abs(place) > len(sequence.elements):
        sequence.elements.append(call.args[-1] if call.args else Host())
        _loosen(sequence)
        return Constant(None)
    sequence.elements.insert(place, call.args[-1])
    if sequence.ends is not None:
        head, tail = sequence.ends
        sequence.ends = (head + 1, tail) if 0 <= place <= head else (0, 0)
    elif sequence.unmeasured and place:
        _loosen(sequence)
    return Constant(None)


def _pop(call: Call) -> Value:
    sequence = changed(call)
    note_position(call.walk, sequence)
    if not sequence.elements:
        return Host((sequence,))
    place = _place(call) if call.args else -1
    taken = element_at(sequence, place)
    if taken is not None and place == 0 and sequence.many and not any(tensors_in(sequence)):
        return _given(call, taken)
    if place is None or taken is None or sequence.ends is not None:
        taken = taken or one_of(sequence.elements)
        _loosen(sequence)
        return taken  # any may be the one that is left
    return sequence.elements.pop(place)


def _place(call: Call) -> int | None:
    """The first argument, where it is a place in a list that is known."""
    given = call.args[0] if call.args else None
    return given.value if isinstance(given, Number) and isinstance(given.value, int) else None


def _loosen(sequence: Sequence) -> None:
    if len(sequence.elements) > 1:
        loosen(sequence)


def _reverse(call: Call) -> Value:
    sequence = changed(call)
    sequence.elements.reverse()
    if sequence.ends is not None:
        sequence.ends = sequence.ends[1], sequence.ends[0]
    return Constant(None)


def _sort(call: Call) -> Value:
    _loosen(changed(call))
    return Constant(None)


def _remove(call: Call) -> Value:
    sequence, value = changed(call), call.args[0] if call.args else None
    if value in sequence.elements and sequence.ends is None and not sequence.many:
        sequence.elements.remove(value)
    else:
        _loosen(sequence)
    return Constant(None)


def _clear(call: Call) -> Value:
    changed(call).take(Sequence([]))
    return Constant(None)


def _copy(call: Call) -> Value:
    assert isinstance(call.receiver, Sequence)
    return call.receiver.copy()


def changed(call: Call) -> Sequence:
    """The list that a method changes, after its contents were saved for undoing the change."""
    sequence = call.receiver
    assert isinstance(sequence, Sequence)
    call.walk.undo_log.append(StateChange(sequence, "", sequence.copy()))
    _mutated(call)
    return sequence


def _mutated(call: Call) -> None:
    call.walk.effect(EffectKind.MUTATION, call.name, call.receiver, call.node)


def _items(call: Call) -> Value:
    mapping = call.receiver
    assert isinstance(mapping, Mapping)
    name = call.name.rpartition(".")[2]
    rows: list[Value] = [
        Sequence([k, v]) if name in ("items", "iteritems") else v if name in ("values", "itervalues") else k
        for k, v in mapping.pairs
    ]
    return Sequence(rows)


def _dict_get(call: Call) -> Value:
    mapping = call.receiver
    assert isinstance(mapping, Mapping)
    default = call.args[1] if len(call.args) > 1 else Constant(None)
    if not call.args:
        return default
    known = mapping.get(call.args[0]) or Absent()
    call.walk.read(item_place(mapping, call.args[0]), known, call.node)
    note_setting(call.walk, mapping, call.constant(0), known, call.node)
    if isinstance(known, Absent) and (setting := unseen_setting(call.walk, mapping, call.constant(0), call.node)):
        return setting
    return under(mapping, call.args[0], default) or default


def _has_key(call: Call) -> Value:
    """Python 2's way to say `key in mapping`."""
    mapping, key = call.receiver, call.args[0] if call.args else Host()
    assert isinstance(mapping, Mapping)
    call.walk.read(item_place(mapping, key), mapping.get(key) or Absent(), call.node)
    keys = [one for one, _ in mapping.pairs]
    if isinstance(key, Constant) and all(isinstance(one, Constant) for one in keys):
        return Constant(any(isinstance(one, Constant) and one.value == key.value for one in keys))
    return Host((mapping, key), "compare")


def _setdefault(call: Call) -> Value:
    mapping = call.receiver
    assert isinstance(mapping, Mapping)
    given = _dict_get(call)
    if call.args and mapping.get(call.args[0]) is None:
        call.walk.undo_log.append(StateChange(mapping, call.args[0], None))
        mapping.set(call.args[0], given)
        call.walk.write(item_place(mapping, call.args[0]), given, call.node)
        _mutated(call)
    return given


def _update_entries(call: Call) -> Value:
    """`vars(config).update(settings)`, `config.__dict__.update(…)`."""
    holder = settings_of(call.receiver) if call.receiver is not None else None
    if holder is None:
        return Constant(None)
    for given in call.args:
        set_all(call.walk, holder, _of_frame(call, holder) if _is_locals(given) else given, call.node)
    set_all(call.walk, holder, Mapping([(Constant(k), v) for k, v in call.kwargs.items() if k != SPREAD]), call.node)
    for given in _spread(call):
        set_all(call.walk, holder, given, call.node)
    return Constant(None)


def _is_locals(given: Value) -> bool:
    return isinstance(given, Host) and given.call == "locals"


def _of_frame(call: Call, holder: Value) -> Mapping:
    """What `locals()` gives: `self.__dict__.update(locals())` keeps each of them but the object itself."""
    frame, found = call.walk.frame, Mapping()
    for name, value in frame.locals.items():
        if value is not holder:
            call.walk.read(Place("name", frame.uid, name, frame=frame), value, call.node)
            found.set(Constant(name), value)
    return found


def _update(call: Call) -> Value:
    mapping = call.receiver
    assert isinstance(mapping, Mapping)
    for key, value in pairs_of(call):
        put_key(call.walk, mapping, key, value, call.node)
    for given in (*call.args, *_spread(call)):
        if isinstance(given, Host) and is_feed(mapping):
            put_key(call.walk, mapping, given, Host((given,)), call.node)  # whatever it feeds
        elif isinstance(given, (Host, Typed)):
            fill(call.walk, mapping, given, call.node)
    _mutated(call)
    return Constant(None)


def _dict_pop(call: Call) -> Value:
    mapping = call.receiver
    assert isinstance(mapping, Mapping)
    taken = _dict_get(call)
    if call.args:
        call.walk.undo_log.append(StateChange(mapping, call.args[0], mapping.get(call.args[0])))
        mapping.drop(call.args[0])
        _mutated(call)
    return taken


def _popitem(call: Call) -> Value:
    """One of the items: which of them, differs between versions of Python."""
    mapping = call.receiver
    assert isinstance(mapping, Mapping)
    _mutated(call)
    values = [value for _, value in mapping.pairs]
    return Sequence([Host((mapping,)), one_of(values) if values else Host((mapping,))])


def _dict_clear(call: Call) -> Value:
    mapping = call.receiver
    assert isinstance(mapping, Mapping)
    for key, value in list(mapping.pairs):
        call.walk.undo_log.append(StateChange(mapping, key, value))
        mapping.drop(key)
    _mutated(call)
    return Constant(None)


def _dict_copy(call: Call) -> Value:
    assert isinstance(call.receiver, Mapping)
    return Mapping(call.receiver.pairs)


def _setting(call: Call) -> Value:
    """`vars(args).get('batch_size', 64)`: that argument, which is always there."""
    name, holder = call.constant(0, ""), call.receiver
    settings = settings_of(holder) if holder is not None else None
    if settings is None or not isinstance(name, str):
        return Host(call.values(), call.name, call.node)
    return get_attribute(call.walk, settings, name, call.node)


METHODS: dict[str, Handler] = {
    "Sequence.append": _append,
    "Sequence.extend": _extend,
    "Sequence.insert": _insert,
    "Sequence.pop": _pop,
    "Sequence.reverse": _reverse,
    "Sequence.sort": _sort,
    "Sequence.remove": _remove,
    "Sequence.clear": _clear,
    "Sequence.copy": _copy,
    "Sequence.next": _next,
    "Sequence.__next__": _next,
    f"{ENTRIES}.get": _setting,
    f"{ENTRIES}.update": _update_entries,
    f"{ENTRIES}.copy": lambda call: call.receiver or Host(),
    "Mapping.items": _items,
    "Mapping.iteritems": _items,
    "Mapping.iterkeys": _items,
    "Mapping.has_key": _has_key,
    "Mapping.values": _items,
    "Mapping.keys": _items,
    "Mapping.itervalues": _items,
    "Mapping.get": _dict_get,
    "Mapping.update": _update,
    "Mapping.setdefault": _setdefault,
    "Mapping.pop": _dict_pop,
    "Mapping.popitem": _popitem,
    "Mapping.clear": _dict_clear,
    "Mapping.copy": _dict_copy,
}

CALLS: dict[str, Handler] = {**{f"builtins.{name}": handler for name, handler in BUILTINS.items()}, **METHODS}
