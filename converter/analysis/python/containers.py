"""The items of lists, dicts, shapes and of a pipeline's batches."""

from __future__ import annotations

import ast
import re
from functools import reduce
from typing import TYPE_CHECKING, Any

from converter.analysis.flow.arithmetic import MOST_ELEMENTS
from converter.analysis.flow.undo import StateChange
from converter.analysis.frames import Place
from converter.analysis.inputs.graph_names import pattern_of
from converter.analysis.python.joins import join, one_of
from converter.analysis.python.settings import replace_sizes
from converter.analysis.tensors import moving, shaping
from converter.analysis.tensors.nests import may_be_nest, part_of
from converter.analysis.traits import Trait, has
from converter.analysis.values import (
    LISTED,
    Constant,
    Host,
    Input,
    Mapping,
    Number,
    Sequence,
    ShapeOf,
    Tensor,
    Value,
    tensors_in,
)

if TYPE_CHECKING:
    from converter.analysis.walk import Walk


def item_place(holder: Value, key: Value) -> Place:
    """The place of an item of a container, by the key's value or else by its identity: with a "?" in front."""
    if isinstance(key, Number) and key.value is None:
        return Place("item", holder.uid, "?", holder=holder)
    known = repr(getattr(key, "value", key.uid))
    return Place("item", holder.uid, known if hasattr(key, "value") else f"?{known}", holder=holder)


def entry_of(walk: Walk, batch: Input, key: str, node: ast.AST) -> Tensor:
    """A component of a batch that came in as a dict; it is there from when the batch is."""
    if key not in batch.entries:
        batch.entries[key] = made = batch.another()
        made.site, made.time, made.node, made.scopes = batch.site, batch.time, batch.node, batch.scopes
        walk.facts.tensors.append(made)
        walk.facts.inputs.append(made)
    walk.read(item_place(batch, Constant(key)), batch.entries[key], node)
    return batch.entries[key]


def known_item(walk: Walk, holder: Value, key: Value, node: ast.AST) -> Value | None:
    """The value of `holder[key]` for a list, a dict or a shape; None for any other holder."""
    if isinstance(holder, Mapping):
        there = [value for other, value in holder.pairs if not (_is_written(key) and _is_written(other))]
        return holder.get(key) or _named_layer(holder, key) or any_of(there, (holder, key))
    if isinstance(holder, ShapeOf):
        cut = node.slice if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice) else None
        return shaping.dimension(holder, key) if cut is None else _dimensions(walk, holder, cut, key)
    if isinstance(holder, Sequence):
        note_position(walk, holder)
        if holder.many:
            if not (isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice)):
                return any_of(in_turn(holder)[:1], (holder, key))
            part = Sequence(holder.elements, holder.mutable, many=True)
            part.inputs = (*part.inputs, holder, key)
            return part.like(holder)
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
            return _slice_of(walk, holder, node.slice, key)
        place = key.value if isinstance(key, Number) else None
        return element_at(holder, place) or any_of(holder.elements, (holder, key))
    return None


def _is_written(key: Value) -> bool:
    """Whether a key is known, so that it is another one than any other that is known."""
    return isinstance(key, Constant) or (isinstance(key, Number) and key.value is not None)


def _named_layer(holder: Mapping, key: Value) -> Value | None:
    """A layer by its name, in a dict of all layers that were collected: from now on it is known to lie there."""
    layers = (value for other, value in holder.pairs if isinstance(other, Host) and has(other.call, Trait.NAMES_LAYERS))
    layer = next(layers, None)
    if layer is not None and isinstance(key, Constant):
        holder.set(key, layer)
        return layer
    return None


def element_at(holder: Sequence, place: object) -> Value | None:
    """The element at a place of a list, or one of several; None where the place is not known."""
    count = len(holder.elements)
    if not isinstance(place, int) or not -count <= place < count:
        return None
    head, tail = holder.ends if holder.ends is not None else (count, count)
    if -tail <= place < head:
        return holder.elements[place]
    return one_of(holder.elements[head:] if place >= 0 else holder.elements[: count - tail])


def in_turn(holder: Sequence) -> list[Value]:
    """The elements as they come one after the other: where their places are not known, each is one of several."""
    if holder.ends is None or len(holder.elements) < 2:
        return list(holder.elements)
    head, tail = holder.ends
    end = len(holder.elements) - tail
    loose = holder.elements[head:end]
    between = [one_of(loose)] * len(loose) if loose else []
    return [*holder.elements[:head], *between, *holder.elements[end:]]


def loosen(holder: Sequence) -> None:
    """Note that the places of elements are no longer known: one was inserted or removed somewhere."""
    holder.ends = (0, 0)


def bounded(holder: Sequence) -> Sequence:
    """This sequence; a long one that holds the same values again and again holds each once, any number of times.

    Thirty lines `l = l + l` would make a list of 10^9 elements.
    """
    if len(holder.elements) > MOST_ELEMENTS:
        once = list({id(element): element for element in holder.elements}.values())
        if len(once) < len(holder.elements):
            holder.elements, holder.many = once, True
            loosen(holder)
    return holder


def put_behind(holder: Sequence, values: list[Value]) -> None:
    """Append values to a list; if its length is not known, their places are counted from the end."""
    if holder.ends is not None:
        holder.ends = holder.ends[0], holder.ends[1] + len(values)
    elif holder.open:
        holder.ends = 1, len(values)
    holder.elements += values
    bounded(holder)


def put_item(walk: Walk, holder: Sequence, key: Value, value: Value, target: ast.Subscript) -> None:
    """Puts a value at a place of a list, or several in place of a slice of it."""
    walk.undo_log.append(StateChange(holder, "", holder.copy()))
    if isinstance(target.slice, ast.Slice):
        _put_slice(holder, target.slice, key, value)
        return
    place, count = key.value if isinstance(key, Number) else None, len(holder.elements)
    if isinstance(place, int) and (place >= count or holder.ends is None):
        if -count <= place < count:
            holder.elements[place] = value
        else:
            holder.elements.append(value)
    else:
        holder.elements = [walk.stamp(one_of([e, value]), target) for e in holder.elements] or [value]


def _put_slice(holder: Sequence, cut: ast.Slice, bounds: Value, value: Value) -> None:
    """`holder[2:] = value`; bounds: what the slice was read as, whose inputs are the bounds that are written."""
    written, parts = iter(bounds.inputs), (cut.lower, cut.upper, cut.step)
    known: list[Any] = [None if part is None else getattr(next(written, None), "value", "?") for part in parts]
    if known == [None, None, None] and isinstance(value, Sequence):
        holder.take(value)
    elif holder.unmeasured or getattr(value, "unmeasured", True) or any(isinstance(b, str) for b in known):
        holder.elements += iterate(value, None)
        holder.open |= any(tensors_in(holder))
        loosen(holder)
    else:
        holder.elements[slice(*known)] = iterate(value, None)


def drop_item(walk: Walk, holder: Sequence, key: Value) -> None:
    """`del holder[key]`: at a place that is not known any element may be gone."""
    walk.undo_log.append(StateChange(holder, "", holder.copy()))
    place = key.value if isinstance(key, Number) else None
    if holder.ends is None and isinstance(place, int) and -len(holder.elements) <= place < len(holder.elements):
        del holder.elements[place]
    else:
        holder.open |= any(tensors_in(holder))
        loosen(holder)


def put_key(walk: Walk, holder: Mapping, key: Value, value: Value, node: ast.AST) -> None:
    """Puts a value under a key of a dict: under one that is not known it may replace that of any key."""
    walk.undo_log.append(StateChange(holder, key, holder.get(key)))
    if not is_known_key(key) and any(t.batch.kind != "free" for t in tensors_in(holder)):
        for other, old in [pair for pair in holder.pairs if is_known_key(pair[0]) and _may_be(key, pair[0])]:
            walk.undo_log.append(StateChange(holder, other, old))
            holder.set(other, walk.stamp(one_of([old, value]), node))
    if not is_known_key(key) and not isinstance(value, Tensor):
        replace_sizes(walk, holder, value, node)
    holder.set(key, value)


def _may_be(key: Value, known: Value) -> bool:
    """Whether a key of which only a pattern is known may be a known one: `'out%d' % i` is no 'inputs'."""
    node, text = getattr(key, "node", None), getattr(known, "value", None)
    pattern = pattern_of(node) if isinstance(node, ast.expr) else "*"
    if not isinstance(text, str) or not {"%", "{", "}"}.isdisjoint(pattern):
        return True
    return re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), text, re.DOTALL) is not None


def is_known_key(key: Value) -> bool:
    """Whether a key of a dict can be told from others."""
    return isinstance(key, (Constant, Tensor)) or (isinstance(key, Number) and key.value is not None)


def under(holder: Mapping, key: Value, default: Value | None) -> Value | None:
    """The value under a key of a dict, one of several where the key is not known; None where nothing is.

    A known key may be one of those that are not known, as where a file is read into a dict.
    """
    if (found := holder.get(key)) is not None:
        return found
    others = [(other, value) for other, value in holder.pairs if not isinstance(other, (Tensor, Sequence))]
    values = [value for other, value in others if not (is_known_key(key) and is_known_key(other))]
    return one_of(values if default is None else [*values, default]) if values else default


def loosened(holder: Sequence) -> Sequence:
    """A list without an order that is known, whose elements are those of another: as many or fewer."""
    made = Sequence(holder.elements, True, holder.many).like(holder)
    if len(made.elements) > 1:
        loosen(made)
    return made


def note_position(walk: Walk, holder: Value) -> None:
    """Notes that entries of a list of the graph's variables are told apart by the order in which these were made."""
    entries = holder.elements if isinstance(holder, Sequence) else []
    if any(isinstance(entry, Tensor) and entry.op == LISTED for entry in entries):
        walk.facts.told_by_position = True


def _dimensions(walk: Walk, shape: ShapeOf, cut: ast.Slice, key: Value) -> Value:
    """`x.get_shape()[1:]`: the entries of a shape; of an unknown one only the last is known to be one."""
    if shape.tensor.rank is not None:
        return _slice_of(walk, Sequence(iterate(shape, None)), cut, key)
    begin = walk.evaluate(cut.lower) if cut.lower is not None else None
    last = getattr(begin, "value", None) == -1 and cut.upper is None and cut.step is None
    return Sequence([shaping.dimension(shape, Number(-1))]) if last else Host((shape, key))


def any_of(candidates: list[Value], inputs: tuple[Value, ...]) -> Value:
    """One of several values, of which it is not known which; an unknown Python value if there are none."""
    return one_of(candidates) if candidates else Host(inputs)


def _slice_of(walk: Walk, holder: Sequence, node: ast.Slice, key: Value) -> Value:
    bounds = []
    whole = not (node.lower or node.upper or node.step)
    for part in (node.lower, node.upper, node.step):
        value = walk.evaluate(part) if part is not None else Constant(None)
        known = getattr(value, "value", None)
        if (part is not None and not isinstance(known, int)) or (holder.many and not whole):
            result = Sequence(holder.elements, holder.mutable, many=bool(holder.elements))
            result.inputs = (*result.inputs, holder, key)
            loosen(result)
            return result
        bounds.append(known)
    cut = Sequence(in_turn(holder)[slice(*bounds)], holder.mutable).like(holder)
    if holder.unmeasured and holder.elements and not cut.elements:  # of elements that were not seen
        return Sequence(holder.elements, holder.mutable, many=True).like(holder)
    if cut.ends is not None and bounds != [None, None, None]:
        loosen(cut)
    return cut


def iterate(value: Value, length: int | None) -> list[Value]:
    """The values that unpacking or a loop gives, as many as are known to differ."""
    if isinstance(value, Sequence):
        return in_turn(value) * (length or 2) if value.many and value.elements else in_turn(value)
    if isinstance(value, Mapping):
        return [key for key, _ in value.pairs]
    if isinstance(value, ShapeOf):
        rank = value.tensor.rank if value.tensor.rank is not None else length
        return [shaping.dimension(value, Number(i)) for i in range(rank or 1)]
    if isinstance(value, Input) and (has(value.op, Trait.NEXT_BATCH) or has(value.op, Trait.FROM_QUEUE)):
        return [value.another() for _ in range(length or 2)]  # components of an iterator's or a queue's batch
    if isinstance(value, Tensor) and may_be_nest(value):  # graphs of TensorFlow 1 iterate over no single tensor
        return [part_of(value) for _ in range(length or 2)]
    if isinstance(value, Tensor):
        parts = moving.unstacked(value)
        return [Tensor(parts.batch, (value,), parts.lengths, "unstack") for _ in range(length or 2)]
    if isinstance(value, Host) and value.call == "run" and (several := _fetched(value)):
        rest = [v for v in value.inputs if v is not several]
        return [Host((*rest, fetch), "run", value.node) for fetch in several.elements]
    return [Host((value,), "item", getattr(value, "node", None)) for _ in range(length or 2)]


def of_length(value: Value, length: int) -> Value:
    """Of tuples of several lengths, one of which a value is, that which as many names are bound to; else the value."""
    options = list(value.either) if isinstance(value, Host) else []
    while any(isinstance(option, Host) and option.either for option in options):
        options = [part for one in options for part in (getattr(one, "either", ()) or (one,))]
    tuples = [one for one in options if isinstance(one, Sequence) and not (one.mutable or one.unmeasured or one.many)]
    fitting: list[Value] = [one for one in tuples if len(one.elements) == length]
    return reduce(join, fitting) if len(tuples) == len(options) and fitting else value


def _fetched(run: Host) -> Sequence | None:
    """The list that a run fetches; None if it fetches one value."""
    return next((v for v in run.inputs if isinstance(v, Sequence) and not v.many), None)
