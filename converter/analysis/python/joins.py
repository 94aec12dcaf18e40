"""The value of a name, or of a part of a list, dict or object, after two branches."""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from itertools import chain

from converter.analysis.counts.degrees import origins_behind
from converter.analysis.flow.joined import is_variable
from converter.analysis.library import handlers, naming
from converter.analysis.tensors.algebra import join_batches
from converter.analysis.tensors.sparse import PART
from converter.analysis.values import (
    STATE,
    STATES,
    Absent,
    Bound,
    Choice,
    Class,
    Constant,
    Function,
    Host,
    Input,
    Instance,
    Lengths,
    Mapping,
    Number,
    Origin,
    Partial,
    Record,
    Sequence,
    Symbol,
    Tensor,
    Typed,
    Value,
    Variable,
    tensors_in,
)

DEPTH = 3  # of objects and dicts inside of each other that are joined part by part
DATA_SETS = ("Dataset", "Iterator")
OF_EITHER = ("batched", "endless", "size", "structure", "twice", "window")  # of what is said of data sets


def join(one: Value | None, two: Value | None, depth: int = DEPTH) -> Value:
    """The value of a name after two branches; of one that no rule joins, that of which more is known."""
    if one is None:
        assert two is not None
        return two
    if two is None or one is two:
        return one
    made = next((made for rule in _RULES if (made := rule(one, two, depth)) is not None), None)
    if made is not None:
        return made
    kept = max(one, two, key=_weight)
    kept.maybe_other |= type(one) is not type(two)
    return kept


def _weights(one: Value, two: Value, _: int) -> Value | None:
    """Weights that are fed, or 1.0."""
    for cut, beside in ((one, two), (two, one)):
        one_branch = _number_beside(beside, cut) if _is_fed(cut) else None
        if isinstance(cut, Tensor) and one_branch is not None:
            return Tensor(cut.batch, (cut, one_branch), cut.lengths, "join")
    return None


def _tensors(one: Value, two: Value, _: int) -> Value | None:
    if not isinstance(one, Tensor) or not isinstance(two, Tensor):
        return None
    if _are_parts_of_one(one, two):
        return max(one, two, key=lambda part: part.uid)  # an earlier tower left its part in the name
    lengths = _either(one.lengths, two.lengths)
    unread, other = (one, two) if one.lengths is None else (two, one)
    if unread.lengths is None and other.lengths and isinstance(unread, Variable) and is_variable(other):
        lengths = other.lengths  # a table of data that only a run reads stands in for this one
    return Tensor(join_batches(one.batch, two.batch), (one, two), lengths, "join")


def _functions(one: Value, two: Value, _: int) -> Value | None:
    return _one_of(one, two) if is_callable(one) and is_callable(two) else None


def _objects(one: Value, two: Value, _: int) -> Value | None:
    """Layers, cells and other objects of the library that are called on a batch: a call calls each."""
    if not isinstance(one, Typed) or not isinstance(two, Typed):
        return None
    if one.kind != two.kind or f"{one.kind}.__call__" not in handlers():
        return None
    options = dict.fromkeys([*(one.options or [one]), *(two.options or [two])])
    return Typed(one.kind, "", [], {}, None, options=tuple(options))


def _data_sets(one: Value, two: Value, depth: int) -> Value | None:
    """Data sets, and iterators over them: one gives what either gives."""
    if not isinstance(one, Typed) or not isinstance(two, Typed) or one.kind != two.kind or one.kind not in DATA_SETS:
        return None
    both = Typed(one.kind, "", [one, two], {}, one.node)
    known = one.state.keys() & two.state.keys()
    both.state = {key: value for each in (two, one) for key, value in each.state.items() if key in OF_EITHER}
    both.state.update((key, _part(one.state[key], two.state[key], depth)) for key in known)
    return both


def _states(one: Value, two: Value, _: int) -> Value | None:
    """The state of one of two cells, of which each has other tensors: they may be several."""
    if isinstance(one, Sequence) and isinstance(two, Sequence) and _alike(one, two):
        return None
    if _are_states(one) and _are_states(two):
        batch = reduce(join_batches, [t.batch for value in (one, two) for t in tensors_in(value)])
        return Tensor(batch, (one, two), (None, None), STATES)
    return None


def _lists(one: Value, two: Value, depth: int) -> Value | None:
    """Tuples, and lists of tensors."""
    if not isinstance(one, Sequence) or not isinstance(two, Sequence):
        return None
    if _alike(one, two):
        elements = [_part(a, b, depth) for a, b in zip(one.elements, two.elements, strict=True)]
        if not isinstance(one, Record):
            return Sequence(elements, one.mutable)
        return Record(one.fields, elements, one.cls if isinstance(two, Record) and two.cls is one.cls else None)
    if one.many and two.many and len(one.elements) == len(two.elements) == 1 and not (one.mutable or two.mutable):
        return Sequence([_part(one.elements[0], two.elements[0], depth)], many=True)
    return join_contents(one, two) if _is_built(one) or _is_built(two) or _is_one_beside_many(one, two) else None


def _numbers(one: Value, two: Value, _: int) -> Value | None:
    """Numbers and other constants, and what is not seen in place of one: either may be set by its branch."""
    if isinstance(one, Constant) and isinstance(two, Constant) and one.value != two.value:
        return Host((one, two))
    if isinstance(one, Number) and isinstance(two, Number):
        for made, old in ((one, two), (two, one)):
            if made.chosen and made.linear and (old in made.inputs or made.origins == old.origins):
                return made  # what is not seen replaced the number in one branch: it may be either after both
        return Number(None, one.origins | two.origins, one.linear & two.linear, (one, two), chosen=True)
    for number, other in ((one, two), (two, one)):
        if isinstance(number, Number) and (isinstance(other, Host) or _is_none(other)):
            return Number(None, number.origins, number.linear, (one, two), chosen=True)
    return None


def _dicts(one: Value, two: Value, depth: int) -> Value | None:
    """Feeds, and dicts of the model's tensors."""
    if isinstance(one, Mapping) and isinstance(two, Mapping) and is_feed(one) and is_feed(two):
        both = Mapping(one.pairs)
        for key, value in two.pairs:
            both.set(key, join(one.get(key), value))
        return both
    if depth and isinstance(one, Mapping) and isinstance(two, Mapping) and _are_keyed(one, two):
        return _joined_dicts(one, two, depth)
    for held, other in ((one, two), (two, one)):
        if isinstance(held, Mapping) and _is_none(other) and _are_keyed(held, Mapping()):
            return Mapping([(key, _part(value, Absent(unheld=True), depth)) for key, value in held.pairs])
    return None


def _settings(one: Value, two: Value, depth: int) -> Value | None:
    """A list, a dict or an object of settings, each part of which may be either; two objects that hold models."""
    if not depth:
        return None
    parts_differ = sizes_differ(one, two) or _contents_differ(one, two)
    if isinstance(one, Instance) and isinstance(two, Instance):
        return _joined_objects(one, two, depth) if _differ(one, two) or parts_differ else None
    if not parts_differ:
        return None
    if isinstance(one, Mapping) and isinstance(two, Mapping):
        return _joined_dicts(one, two, depth)
    if not isinstance(one, Sequence) or not isinstance(two, Sequence):
        return Host((one, two))
    longer = max(one, two, key=lambda each: len(each.elements))
    both = [_part(a, b, depth) for a, b in zip(one.elements, two.elements, strict=False)]
    return Sequence([*both, *longer.elements[len(both) :]], one.mutable)


def _unknown(one: Value, two: Value, _: int) -> Value | None:
    """Data of two kinds, such as a number and a text, or inputs in what is not known: neither is followed.

    Nor is one of two tuples of other lengths, which a caller unpacks as it has called.
    """
    if isinstance(one, Sequence) and isinstance(two, Sequence) and _are_of_other_lengths(one, two):
        return _as_either(one, two, Host((one, two)))
    for held, other in ((one, two), (two, one)):
        if isinstance(held, Input) and isinstance(other, Host) and other.roots:
            return Host((one, two), other.call, other.node)
        number = isinstance(held, Number) and isinstance(other, Constant) and isinstance(other.value, str)
        both = isinstance(held, Sequence) and isinstance(other, Mapping)
        if number or (both and not _has_tensors(held) and not _has_tensors(other)):
            return Host((one, two))
    return None


def _data(one: Value, two: Value, _: int) -> Value | None:
    """Data that the branches take by other numbers: it may be as long as either says."""
    if isinstance(one, Host) and data_differ(one, two):
        return _as_either(one, two, Host(one.inputs, one.call, one.node))
    return _as_either(one, two, Host((one, two))) if _lists_differ(one, two) or _are_made_apart(one, two) else None


def _are_made_apart(one: Value, two: Value) -> bool:
    """Whether two values are data, one of them with a number behind it, of other kinds or made by other expressions."""
    if not all(isinstance(v, (Host, Sequence)) and not _has_tensors(v) and not v.roots for v in (one, two)):
        return False
    if any(isinstance(v, Sequence) and not v.elements for v in (one, two)):
        return False
    if not origins_behind(one) and not origins_behind(two):
        return False
    if isinstance(one, Host) and isinstance(two, Host):
        return one.node is not two.node and "str" not in (one.call, two.call)
    return type(one) is not type(two)


def _as_either(one: Value, two: Value, made: Host) -> Host:
    """Lets a value stand for either of two, in the place of the first of them."""
    made.site, made.time, made.label = one.site, one.time, one.label
    made.either = (one, two)
    return made


_RULES = (
    _weights,
    _tensors,
    _functions,
    _objects,
    _data_sets,
    _states,
    _lists,
    _numbers,
    _dicts,
    _settings,
    _unknown,
    _data,
)


def one_of(candidates: list[Value]) -> Value:
    """One of several values that lie in a container, it is not known which."""
    value = candidates[0]
    for candidate in candidates[1:]:
        if candidate is not value:
            value = _part(value, candidate, DEPTH + 1)
    return value


def _either(one: Lengths, two: Lengths) -> Lengths:
    """The lengths of a tensor that is one of two: those that both have."""
    if one is None or two is None or len(one) != len(two):
        return None
    return tuple(a if a == b else None for a, b in zip(one, two, strict=True))


def join_contents(one: Sequence, two: Sequence) -> Sequence:
    """What a list holds after two branches, each of which may have changed it."""
    longer, shorter = (one, two) if len(one.elements) >= len(two.elements) else (two, one)
    both = Sequence(longer.elements, one.mutable, one.many or two.many).like(one, two)
    if len(longer.elements) == len(shorter.elements):
        both.elements = [one_of([a, b]) for a, b in zip(one.elements, two.elements, strict=True)]
        return both
    both.elements += [e for e in shorter.elements if e not in longer.elements]
    pairs = list(zip(longer.elements, shorter.elements, strict=False))
    head = next((i for i, (a, b) in enumerate(pairs) if a is not b), len(pairs))
    both.ends = min(head, both.ends[0] if both.ends else head), 0
    both.open = both.open or _is_built(both)
    return both


def _is_fed(value: Value) -> bool:
    """Whether a value is a batch that is fed, or a tower's part of one."""
    if not isinstance(value, Tensor) or value.batch.kind != "example":
        return False
    return isinstance(value, Input) or value.op == PART


def _are_parts_of_one(one: Value, two: Value) -> bool:
    """Whether two values are towers' parts of the same batch."""
    parts = all(isinstance(part, Tensor) and part.op == PART for part in (one, two))
    return parts and one.inputs == two.inputs


def _number_beside(value: Value, fed: Value) -> Number | None:
    """A number that a branch leaves in the place of a batch; an earlier turn of a loop may have put one there."""
    if isinstance(value, Tensor) and value.op == "join" and len(value.inputs) == 2:
        before, value = value.inputs
        if before is not fed and not _are_parts_of_one(before, fed):
            return None
    return value if isinstance(value, Number) else None


def _part(one: Value | None, two: Value | None, depth: int) -> Value:
    """A part of a joined value: if only one branch puts a tensor there, a tensor that says so.

    Parts have no places of their own under which `Walk.maybe` could note it.
    """
    for value, other in ((one, two), (two, one)):
        beside = other if other is not None else Absent()
        batched = isinstance(value, Tensor) and not isinstance(value, Input) and value.batch.kind != "free"
        if batched and not isinstance(beside, Tensor) and not _are_states(beside):
            assert isinstance(value, Tensor)
            return Tensor(value.batch, (value, beside), value.lengths, "join")
    return join(one, two, depth - 1)


def _are_keyed(one: Mapping, two: Mapping) -> bool:
    """Whether one of two dicts holds tensors of the model, and all keys of both are known."""
    batched = any(t.batch.kind != "free" and not isinstance(t, Input) for v in (one, two) for t in tensors_in(v))
    return batched and all(isinstance(key, Constant) for key, _ in (*one.pairs, *two.pairs))


def _is_none(value: Value) -> bool:
    return isinstance(value, Constant) and value.value is None


def _has_tensors(value: Value) -> bool:
    return next(tensors_in(value), None) is not None


def _held(value: Value) -> dict[object, Value]:
    """What a list, a dict or an object of settings holds; nothing of one that holds tensors, or unknown keys."""
    if _has_tensors(value):
        return {}
    if isinstance(value, Sequence):
        return {} if value.unmeasured else dict(enumerate(value.elements))
    if isinstance(value, Mapping):
        known = all(isinstance(key, Constant) for key, _ in value.pairs)
        return {key.value: item for key, item in value.pairs if isinstance(key, Constant)} if known else {}
    if not isinstance(value, Instance) or value.cls is None:
        return {}
    classes = reversed(list(value.cls.lineage()))
    return dict(chain(*(cls.attributes.items() for cls in classes), value.attributes.items()))


def _in_both(first: dict[object, Value], second: dict[object, Value]) -> Iterator[tuple[Value, Value]]:
    """What two lists, dicts or objects hold under the same names."""
    return ((first[name], second[name]) for name in first.keys() & second.keys())


def data_differ(one: Value | None, two: Value | None) -> bool:
    """Whether two values are data that is not followed, no texts, made by other expressions from other numbers."""
    if not isinstance(one, Host) or not isinstance(two, Host) or "str" in (one.call, two.call):
        return False
    return one.node is not two.node and one.roots == two.roots and origins_behind(one) != origins_behind(two)


def _lists_differ(one: Value, two: Value) -> bool:
    """Whether two values are lists of data of other lengths. One with a single row may be about to be filled."""
    if not isinstance(one, Sequence) or not isinstance(two, Sequence) or _has_tensors(one) or _has_tensors(two):
        return False
    alike = not one.many and not two.many and len(one.elements) == len(two.elements)
    long = all(len(v.elements) > 1 or (v.many and v.elements) for v in (one, two))
    return long and (not alike or _counted_by(one) != _counted_by(two))


def _counted_by(rows: Sequence) -> frozenset[Origin]:
    """The origins of the number by which a list repeats its rows: `[row] * n`."""
    held = {element.uid for element in rows.elements}
    return frozenset(o for v in rows.inputs if v.uid not in held for o in origins_behind(v))


def sizes_differ(one: Value, two: Value) -> bool:
    """Whether two values hold numbers from different places under the same name, also in lists and objects inside."""
    for a, b in _in_both(_held(one), _held(two)):
        if isinstance(a, Number) and isinstance(b, Number):
            differ = a.origins != b.origins
        elif not isinstance(one, Instance) and {type(a), type(b)} == {Number, Host}:
            differ = True
        else:
            nested = type(a) is type(b) and isinstance(a, (Sequence, Mapping)) and sizes_differ(a, b)
            differ = nested or data_differ(a, b)
        if differ:
            return True
    return False


def choices_differ(one: Value, two: Value) -> bool:
    """Whether two values are or hold other texts, switches, functions or objects, by which code may choose a branch."""
    return _chosen(one) != _chosen(two) if _is_choice(one) and _is_choice(two) else _contents_differ(one, two)


def _contents_differ(one: Value, two: Value, depth: int = DEPTH) -> bool:
    """Whether what two lists, dicts or objects hold differs in this way."""
    if one is two or type(one) is not type(two) or not depth:
        return False
    first, second = _held(one), _held(two)
    if not isinstance(one, Instance) and len(first) != len(second):
        return any(map(_is_choice, (*first.values(), *second.values())))
    for a, b in _in_both(first, second):
        choices = _is_choice(a) and _is_choice(b)
        if _chosen(a) != _chosen(b) if choices else _contents_differ(a, b, depth - 1):
            return True
    return False


def _is_choice(value: Value) -> bool:
    return isinstance(value, (Constant, Instance)) or is_callable(value)


def _chosen(value: Value) -> object:
    """What tells one choice from another."""
    if isinstance(value, Constant):
        return type(value.value), value.value
    return _identity(value)


def _joined_dicts(one: Mapping, two: Mapping, depth: int) -> Mapping:
    keys = [k for k, _ in one.pairs] + [k for k, _ in two.pairs if one.get(k) is None]
    return Mapping([(k, _part(one.get(k), two.get(k), depth)) for k in keys])


def _differ(one: Instance, two: Instance) -> bool:
    """Whether two objects have different methods, or hold models that are made by different code."""
    if one.cls is None or two.cls is None:
        return False
    if one.cls is not two.cls:
        return one.kind == two.kind
    places = [
        {(name, t.node) for name, v in each.attributes.items() for t in tensors_in(v) if t.batch.kind != "free"}
        for each in (one, two)
    ]
    return any(places) and places[0] != places[1]


def _joined_objects(one: Instance, two: Instance, depth: int) -> Instance:
    """An object that is one or the other: it has the attributes and methods of both."""
    assert one.cls is not None and two.cls is not None
    both = Instance(one.cls if one.cls is two.cls else _joined_classes(one.cls, two.cls), one.kind, (one, two))
    if one.cls is not two.cls:
        both.options = tuple(dict.fromkeys((*(one.options or [one]), *(two.options or [two]))))
    for name in (*one.attributes, *(n for n in two.attributes if n not in one.attributes)):
        both.attributes[name] = _part(one.attributes.get(name), two.attributes.get(name), depth)
    return both


def _joined_classes(one: Class, two: Class) -> Class:
    both = Class(one.node, [one, two])
    for name in {name for cls in one.lineage() for name in cls.attributes}:
        first, second = one.find(name), two.find(name)
        if first is not second and first is not None and second is not None and _are_methods(first, second):
            both.attributes[name] = _one_of(first, second)
        elif isinstance(first, Number) and isinstance(second, Number) and first is not second:
            both.attributes[name] = join(first, second)
    return both


def _are_methods(one: Value, two: Value) -> bool:
    """Whether two attributes of classes are methods, each maybe one of several already."""
    return all(isinstance(option, Function) for option in (*_options(one), *_options(two)))


def _one_of(one: Value, two: Value) -> Choice:
    options = {_identity(option): option for option in (*_options(two), *_options(one))}
    return one if isinstance(one, Choice) and len(options) == len(one.options) else Choice(options.values())


def _identity(function: Value) -> object:
    return (function.library, function.name) if isinstance(function, Symbol) else function.uid


def is_feed(value: Mapping) -> bool:
    """Whether a dict is a feed_dict: after two branches it may hold the feeds of both."""
    keys = [key for key, _ in value.pairs]
    known = any(isinstance(key, (Tensor, Sequence)) for key in keys)
    return known and all(isinstance(key, (Tensor, Sequence, Host)) for key in keys)  # what is fed may be not followed


def is_callable(value: Value) -> bool:
    """Whether a value is a function or class, of the script or of the library."""
    if isinstance(value, Symbol):  # of a library's names, those of functions
        return value.library == naming().library and value.name in handlers()
    return isinstance(value, (Function, Class, Partial, Choice)) or (
        isinstance(value, Bound) and value.function is not None
    )


def _options(value: Value) -> tuple[Value, ...]:
    return value.options if isinstance(value, Choice) else (value,)


def _are_states(value: Value) -> bool:
    """Whether a value is the state of a recurrent cell: one tensor or several."""
    if isinstance(value, Tensor):
        return value.op in (STATE, STATES) or (value.op == "join" and all(map(_are_states, value.inputs)))
    return isinstance(value, Sequence) and bool(value.elements) and all(map(_are_states, value.elements))


def _alike(one: Sequence, two: Sequence) -> bool:
    """Whether two tuples, or two lists of tensors, can be joined element by element."""
    fixed = not (one.unmeasured or two.unmeasured) and len(one.elements) == len(two.elements)
    if one.mutable or two.mutable:
        batched = [any(t.batch.kind != "free" and not isinstance(t, Input) for t in tensors_in(v)) for v in (one, two)]
        fixed &= one.mutable and two.mutable and all(batched)
    return fixed and getattr(one, "fields", ()) == getattr(two, "fields", ())


def _is_one_beside_many(one: Sequence, two: Sequence) -> bool:
    """Whether one list of data holds a single part, and the other any number of them: `[data]`, or its batches."""
    few, more = (one, two) if two.many else (two, one)
    data = few.mutable and more.mutable and not _has_tensors(one) and not _has_tensors(two)
    return data and more.many and not few.many and len(few.elements) == 1 and bool(more.elements)


def _are_of_other_lengths(one: Sequence, two: Sequence) -> bool:
    """Whether two tuples of data differ in their lengths."""
    fixed = not any(value.mutable or value.unmeasured or value.many or _has_tensors(value) for value in (one, two))
    return fixed and bool(one.elements and two.elements) and len(one.elements) != len(two.elements)


def _is_built(value: Sequence) -> bool:
    """Whether a list or tuple holds tensors that the model computes from a batch."""
    return any(t.batch.kind != "free" and not isinstance(t, Input) for t in tensors_in(value))


def _weight(value: Value) -> int:
    """How much is known of a value; of an empty list less than of data that is not followed."""
    if isinstance(value, (Sequence, Mapping)) and not list(value.parts()):
        return 1
    order = (Constant, Host, Number, Symbol, Function, Typed, Sequence, Mapping, Instance, Tensor)
    return max((2 * i for i, cls in enumerate(order) if isinstance(value, cls)), default=0)
