"""tf.cond, tf.while_loop and their like: the functions handed over build a part of the graph."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import reduce

from converter.analysis.call import Call, Handler
from converter.analysis.python.following import follow
from converter.analysis.reasons import Why
from converter.analysis.rows import makes, table, unbatched
from converter.analysis.tensors import algebra, moving
from converter.analysis.traits import Trait, has
from converter.analysis.values import (
    ARRAY,
    EXAMPLE,
    FREE,
    OF_SHARD,
    OPEN_ENDED,
    ROWS,
    Batch,
    Constant,
    Count,
    Function,
    Mapping,
    Number,
    Sequence,
    Tensor,
    Typed,
    Value,
    needed,
    opaque,
    other,
    tensors_in,
)

TURNS = 4  # most iterations of a loop's body that are followed until the batch layout of its state is stable


def _cond(call: Call) -> Value:
    """A condition in the graph: the joined results of both functions."""
    from converter.analysis.python.joins import join

    branches = [v for v in (call.get(1, "true_fn", "fn1"), call.get(2, "false_fn", "fn2")) if v is not None]
    made = [follow(call, branch, []) for branch in branches]
    if len(made) == 2 and isinstance(made[0], Sequence) and isinstance(made[1], Sequence):
        pairs = zip(made[0].elements, made[1].elements, strict=False)
        return Sequence([_chosen(call, (*call.values(), one, two), join(one, two)) for one, two in pairs])
    result = join(made[0], made[1]) if len(made) == 2 else Tensor(inputs=call.values(), op=call.name)
    return _chosen(call, (*call.values(), *made), result)


def _with_dependencies(call: Call) -> Value:
    """`control_flow_ops.with_dependencies(operations, x)`: x, once these have run."""
    tensor, waits = call.tensor(1, "output_tensor"), call.get(0, "dependencies")
    made = Tensor(tensor.batch, (tensor, *(tensors_in(waits) if waits is not None else ())), tensor.lengths, "identity")
    made.control = made.inputs[1:]
    return made


def _chosen(call: Call, inputs: tuple[Value, ...], result: Value) -> Value:
    """What a condition chooses: if it asks for something of the batch, then so does what it chooses."""
    asked = any(t.batch.kind != "free" for v in call.values() for t in tensors_in(v))

    def chosen(tensor: Tensor) -> Tensor:
        kept = other(Why.CONDITION) if asked and tensor.batch.kind in ("free", "reduced") else tensor.batch
        return Tensor(kept, inputs, tensor.lengths, call.name)

    return _mapped(_tensors(result) if asked else result, chosen)


def _case(call: Call) -> Value:
    """`tf.case` and `tf.switch_case`: the joined results of all functions."""
    given = call.get(1, "branch_fns") if call.name == "switch_case" else call.get(0, "pred_fn_pairs")
    pairs = given.pairs if isinstance(given, Mapping) else [(e, e) for e in getattr(given, "elements", [])]
    branches = [v.elements[1] if isinstance(v, Sequence) and len(v.elements) == 2 else v for _, v in pairs]
    last = call.get(2 if call.name == "switch_case" else 1, "default")
    if last is not None and not isinstance(last, Constant):
        branches.append(last)
    made = [_tensors(follow(call, branch, [])) for branch in branches]
    if not made or getattr(given, "many", False):
        return _not_followed(call)
    result = reduce(_joined, made)
    return _chosen(call, (*call.values(), *made), result)


# -- loops ----------------------------------------------------------------------------------------


def _while(call: Call) -> Value:
    """tf.while_loop: returns the loop variables as the body leaves them."""
    body, start = call.get(1, "body"), call.get(2, "loop_vars")
    test = call.get(0, "cond")
    if body is None or not isinstance(start, Sequence) or start.many:
        return _not_followed(call)
    elements = [_tensors(e) for e in start.elements]
    tested = follow(call, test, elements) if test is not None else None
    counter = _counter_of_examples(tested, elements)
    if counter is not None and (made := _example_by_example(call, body, elements, counter)) is not None:
        return made

    def turn(state: Value) -> Value:
        elements = state.elements if isinstance(state, Sequence) else [state]
        made = follow(call, body, list(elements))
        return made if isinstance(made, Sequence) else Sequence([made])

    state = _settled(call, turn, _tensors(start))
    if isinstance(tested, Tensor) and tested.batch.kind == "reduced":
        call.walk.facts.grown.update(t.uid for t in _leaves(state) if t.op == ARRAY)
    if isinstance(state, Sequence) and len(state.elements) == 1:
        return state.elements[0]
    return state


def _counter_of_examples(tested: Value | None, elements: list[Value]) -> int | None:
    """The position of the loop variable that counts the examples: `i` of `i < tf.shape(x)[0]`, from 0."""
    if not isinstance(tested, Tensor) or len(tested.inputs) < 2:
        return None
    written = isinstance(tested.node, ast.Compare) and isinstance(tested.node.ops[0], ast.Lt)
    if tested.op != "less" and not written:
        return None
    counted, end = tested.inputs[0], _plain(tested.inputs[1])
    rows = end.tensor if isinstance(end, Count) and not end.scaled else None
    at = next((i for i, element in enumerate(elements) if element is counted), None)
    if at is None or not isinstance(rows, Tensor) or rows.batch != Batch("example", 0):
        return None
    return at if any(isinstance(v, Number) and v.value == 0 for v in needed([counted]).values()) else None


def _example_by_example(call: Call, body: Value, start: list[Value], counter: int) -> Value | None:
    """A loop over the examples that writes what it computes of each under its number into tensor arrays.

    None if it keeps anything else from turn to turn, or computes anything of several examples.
    """
    number = Tensor(FREE, (start[counter],), (), EXAMPLE)
    given = [number if at == counter else element for at, element in enumerate(start)]
    made = follow(call, body, given)
    if not isinstance(made, Sequence) or len(made.elements) != len(start):
        return None
    left: list[Value] = []
    for at, (old, new) in enumerate(zip(start, made.elements, strict=True)):
        if at == counter and _counts_on(new, number):
            left.append(Tensor(FREE, call.values(), (), "loop"))
        elif new is old:
            left.append(old)
        elif isinstance(new, Tensor) and _is_written_once(old, new, number):
            left.append(Tensor(FREE, (number, new, *call.values()), new.lengths, ARRAY))
        else:
            return None
    return Sequence(left)


def _plain(value: Value) -> Value:
    """The number that a tensor was made of, before casts."""
    inner = algebra.uncast(value)
    made_of = isinstance(inner, Tensor) and bool(inner.inputs) and (not inner.op or has(inner.op, Trait.CASTS))
    return inner.inputs[0] if made_of else inner


def _counts_on(value: Value, number: Tensor) -> bool:
    """True if the loop variable counts up by one for each example."""
    if not isinstance(value, Tensor) or value.op != "add" or number not in value.inputs:
        return False
    return [getattr(_plain(v), "value", None) for v in value.inputs if v is not number] == [1]


def _is_written_once(old: Value, new: Tensor, number: Tensor) -> bool:
    """True if each iteration writes one entry, at the example's index, computed from that example alone."""
    array = isinstance(old, Tensor) and new.op == old.op == ARRAY
    if not array or new.batch.kind != "free" or new.inputs[:2] != (old, number):
        return False
    return not any(isinstance(v, Tensor) and v.op == ARRAY for v in needed(new.inputs[2:]).values())


def _scan(call: Call) -> Value:
    """tf.scan and folds: a state that is carried from element to element along axis 0."""
    function, elems = call.get(0, "fn"), call.get(1, "elems")
    start = call.get(2, "initializer")
    if start is not None and isinstance(start, Constant):
        start = None
    if function is None or elems is None:
        return _not_followed(call)
    rows = _each(elems)
    if any(t.batch.kind == "opaque" for t in tensors_in(rows)):
        return _over_examples(call, function, elems, start)

    def turn(state: Value) -> Value:
        return follow(call, function, [state, rows])

    state = _settled(call, turn, _tensors(start if start is not None else rows))
    if call.name.startswith("fold"):
        return state
    return _mapped(state, lambda t: algebra.stack(Sequence([t], many=True), 0))


def _over_examples(call: Call, function: Value, elems: Value, start: Value | None) -> Value:
    """A scan whose result for each example depends on that example alone; other scans are not followed."""
    all_of_them = _are_examples(elems)
    if call.name != "scan" or not (all_of_them or all(t.batch.why is Why.PART for t in tensors_in(elems))):
        return _not_followed(call)
    rows = _mapped(_tensors(elems), _row)
    state = _mapped(_tensors(start if start is not None else rows), lambda t: Tensor(FREE, (), t.dims, "state"))
    made = _tensors(follow(call, function, [state, rows]))
    read = needed([made])
    if any(t.uid in read for t in tensors_in(state)):
        return _mapped(made, lambda t: Tensor(opaque(Why.STEPS), (t, *call.values()), None, call.name))
    if not all_of_them or any(t.batch.kind != "free" for t in tensors_in(made)):
        return _not_followed(call)
    return _mapped(made, lambda t: _whole(call, t))


def _map_fn(call: Call) -> Value:
    """tf.map_fn: the function gets one slice of axis 0 at a time; rows stay independent if axis 0 is the batch."""
    function, elems = call.get(0, "fn"), call.get(1, "elems")
    if function is None or elems is None:
        return _not_followed(call)
    examples = _are_examples(elems)
    rows = _mapped(_tensors(elems), _row) if examples else _each(elems)
    made = follow(call, function, [rows])
    results = list(tensors_in(_tensors(made)))
    if any(t.batch.kind == "opaque" or (examples and t.batch.kind != "free") for t in (*tensors_in(rows), *results)):
        return _not_followed(call)

    if examples:
        return _mapped(_tensors(made), lambda t: _whole(call, t))
    return _mapped(_tensors(made), lambda t: algebra.stack(Sequence([t], many=True), 0))


def _are_examples(elems: Value) -> bool:
    """Whether axis 0 is the batch axis, with one row per example, in all tensors that are iterated over."""
    found = {t.batch for t in tensors_in(elems)}
    return len(found) == 1 and all(replace(b, rows=ROWS) == Batch("example", 0) and b.packed != "minor" for b in found)


def _whole(call: Call, tensor: Tensor) -> Tensor:
    """The stacked results of a function that was called once for each example."""
    dims = None if tensor.dims is None else (None, *tensor.dims)
    kept = next(t.batch for t in tensors_in(call.get(1, "elems") or tensor))
    return Tensor(kept, (tensor, *call.values()), dims, call.name)


def _row(tensor: Tensor) -> Tensor:
    """One example as the function gets it: a tensor without a batch axis."""
    return Tensor(FREE, (tensor,), None if tensor.dims is None else tensor.dims[1:], "row")


def _each(elems: Value) -> Value:
    """What one iteration gets: each tensor without its first axis."""
    return _mapped(_tensors(elems), moving.unstacked)


def _tensors(value: Value) -> Value:
    """The same structure with a tensor in place of each number."""
    if isinstance(value, Sequence) and not value.many:
        return Sequence([_tensors(e) for e in value.elements], value.mutable)
    return algebra.as_tensor(value) if isinstance(value, (Number, Constant)) else value


def _mapped(value: Value, function: Callable[[Tensor], Tensor]) -> Value:
    if isinstance(value, Tensor):
        return function(value)
    if isinstance(value, Sequence):
        return Sequence([_mapped(e, function) for e in value.elements], value.mutable, value.many)
    return value


def _settled(call: Call, turn: Callable[[Value], Value], state: Value) -> Value:
    """The loop state, after iterating until its batch layout no longer changes."""
    start = list(_leaves(state))
    for _ in range(TURNS):
        made = turn(state)
        old, new = list(_leaves(state)), list(_leaves(made))
        if len(old) != len(new):
            break
        if [t.batch for t in old] == [t.batch for t in new]:
            return _with_inputs(made, (*call.values(), *start))
        state = _joined(state, made)
        if any(t.batch.kind == "opaque" for t in tensors_in(state)):
            break
    return _not_followed(call, state)


def _leaves(value: Value) -> Iterator[Tensor]:
    """The tensors in a nest, in their order; one that stands in two places, twice."""
    if isinstance(value, Sequence):
        for element in value.elements:
            yield from _leaves(element)
    else:
        yield from tensors_in(value)


def _joined(one: Value, two: Value) -> Value:
    from converter.analysis.python.joins import join

    if isinstance(one, Sequence) and isinstance(two, Sequence):
        pairs = zip(one.elements, two.elements, strict=False)
        return Sequence([_joined(a, b) for a, b in pairs], one.mutable)
    return join(one, two)


def _with_inputs(value: Value, inputs: tuple[Value, ...]) -> Value:
    return _mapped(value, lambda t: Tensor(t.batch, (t, *inputs), t.lengths, t.op if t.op == ARRAY else "loop"))


def _not_followed(call: Call, *found: Value) -> Value:
    """A result of unknown layout; known is only whether it depends on a batch."""
    from converter.analysis.python.calling import call_with_unknowns

    stepwise = any(isinstance(v, Tensor) and v.batch.why is Why.STEPS for v in needed(found).values())
    functions = [] if stepwise else [f for f in call.values() if isinstance(f, Function)]
    inputs = [*call.values(), *found, *(call_with_unknowns(call.walk, f) for f in functions)]
    batched = any(t.batch.kind != "free" for v in inputs for t in tensors_in(v))
    kept = opaque(Why.LOOP, call.name) if batched else FREE
    like = call.get(2, "loop_vars", "Tout")
    if isinstance(like, Sequence):
        return Sequence([Tensor(kept, inputs, None, call.name) for _ in like.elements])
    return Tensor(kept, inputs, None, call.name)


# -- tensor arrays: represented by a tensor that stands for any one of the elements ------------------------------------


def _array_write(call: Call) -> Value:
    array, value = call.receiver, call.tensor(1, "value")
    assert isinstance(array, Tensor)
    if call.name.endswith("unstack"):
        value = moving.unstacked(call.tensor(0, "value"))
    return Tensor(algebra.join_batches(value.batch, array.batch), (*call.values(), value), value.lengths, ARRAY)


def _is_of_examples(array: Tensor) -> bool:
    """Whether a loop over the examples has filled an array: it has an entry for each."""
    return any(isinstance(v, Tensor) and v.op == EXAMPLE for v in array.inputs[:1])


def _array_read(call: Call) -> Value:
    """One entry; opaque if its index comes from the data, as the entry may then have been computed from another row."""
    array = call.receiver
    assert isinstance(array, Tensor)
    if _is_of_examples(array):
        return call.gives(opaque(Why.PICKED), array.lengths)
    if call.tensor(0, "index").batch.why is Why.PICKED:
        return call.gives(opaque(Why.STEPS), array.lengths)
    return call.gives(array.batch, array.lengths)


def _array_stack(call: Call) -> Value:
    array = call.receiver
    assert isinstance(array, Tensor)
    kept = replace(array.batch, axis=array.batch.axis + 1) if array.batch.kind == "example" else array.batch
    if _is_of_examples(array):
        kept = Batch("example", 0) if call.name.endswith("stack") else opaque(Why.PICKED)
    grown = array.uid in call.walk.facts.grown
    lengths = None if array.lengths is None else (f"{OF_SHARD} {array.uid}" if grown else None, *array.lengths)
    return Tensor(kept, call.values(), lengths, OPEN_ENDED if grown else call.name)


def _call_custom(call: Call) -> Value:
    """A function under `tf.custom_gradient`: what it computes, without the function that gives the gradient.

    A gradient that combines examples with each other is another one in a tower.
    """
    function = call.receiver.args[0] if isinstance(call.receiver, Typed) and call.receiver.args else None
    made = follow(call, function, call.args, call.kwargs) if function is not None else None
    if not isinstance(made, Sequence) or len(made.elements) != 2:
        return Tensor(opaque(Why.UNKNOWN_CALL, "custom_gradient"), call.values(), None, "custom_gradient")
    result, gradient = made.elements
    tensors = [*tensors_in(result)]
    given = [Tensor(t.batch, (t,), t.lengths, t.op) for t in tensors]
    forward = needed(tensors)
    behind = needed([follow(call, gradient, list(given))])
    made_there = [v for uid, v in behind.items() if uid not in forward and isinstance(v, Tensor)]
    if any(t.batch.kind == "example" for t in tensors) and not all(t.batch.kind in KEPT for t in made_there):
        return Tensor(opaque(Why.UNKNOWN_CALL, "custom_gradient"), call.values(), None, "custom_gradient")
    return result


KEPT = ("example", "free")  # batches of gradients that each example has by itself, or none has

TRAITS: dict[Trait, str] = {
    Trait.CONDITION: "cond",
    Trait.CHOICE: "cond case switch_case",
    Trait.SETTING: "*dropout* *random* *cond* *case* *join* *while* *assert* *summary* *clip_by* *leaky_relu*",
    Trait.OWN_DTYPE: "map_fn scan while_loop foldl foldr",
}

CALLS: dict[str, Handler] = table(
    ("cond contrib.layers.utils.smart_cond python.layers.utils.smart_cond smart_cond", _cond),
    ("case switch_case", _case),
    ("while_loop", _while),
    ("with_dependencies", _with_dependencies),
    ("scan foldl foldr", _scan),
    ("map_fn vectorized_map", _map_fn),
    ("custom_gradient", makes("CustomGradient")),
    ("CustomGradient.__call__", _call_custom),
    ("TensorArray", unbatched(op=ARRAY)),
    ("Tensor.write Tensor.unstack", _array_write),
    ("Tensor.read", _array_read),
    ("Tensor.stack Tensor.gather", _array_stack),
)
