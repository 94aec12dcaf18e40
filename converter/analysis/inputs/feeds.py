"""Tells batches from settings by their feeds, for placeholders whose shapes do not tell."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Container, Iterable, Iterator

from converter.analysis.arrays.rows import rows_of
from converter.analysis.arrays.shapes import ARITHMETIC, BINARY, LIKE, MOVES, is_new_axis, shape_of
from converter.analysis.counts.size_names import named_batch
from converter.analysis.effects import EffectKind
from converter.analysis.facts import SIZE, Decisions, Facts
from converter.analysis.inputs.initial_values import initial_values
from converter.analysis.inputs.row_counts import takes_row_counts
from converter.analysis.reasons import Why
from converter.analysis.tensors.nests import may_hold
from converter.analysis.tensors.sparse import sparse_input
from converter.analysis.traits import Trait, has
from converter.analysis.values import (
    OPEN,
    Constant,
    Factor,
    Host,
    Input,
    Mapping,
    Number,
    Sequence,
    Tensor,
    Value,
    closure,
    needed,
    tensors_in,
)
from converter.options import Options

ARRAYS = (  # the last words of what gives arrays of examples
    ("images", "labels", "data", "target", "targets", "values", "reshape", "astype", "array", "asarray", "copy")
    + ("transpose", "loadtxt", "genfromtxt", "load", "toarray", "flatten", "ravel", "get", "x", "y")
)
# Rows of a data set are picked by what these give.
PICKS = ("randint", "random_integers", "choice", "permutation", "sample", "arange", "argsort", "argpartition", "where")
# The parts of an array that these give hold several rows each.
PARTS = ("split", "array_split", "vsplit")

INTEGERS = ("int32", "int64")

SIZED = {"randint": 2, "random_integers": 2, "choice": 1}  # of these, the arguments in front of the size


def fed_tensors(facts: Facts) -> Decisions:
    """Tensors that are fed though they are no placeholders: batches enter the graph there."""
    found: Decisions = {}
    trained = {step.result.uid for step in facts.train_steps}
    for run in facts.runs:
        keys = (*(key for key, _ in run.feeds), *run.unseen)
        if not keys or not run.computes(trained):
            continue
        for key in keys:
            for tensor in [key] if isinstance(key, Tensor) else may_hold(key):
                if (
                    not isinstance(tensor, Input)
                    and tensor.batch.kind == "example"
                    and tensor.node is not None
                    and (tensor is key or is_zero_state(tensor.node))
                    and (isinstance(tensor.node, ast.expr) or _is_joined_alone(facts, tensor))
                ):
                    found[tensor.node] = tensor.batch.axis
    return found


def _is_joined_alone(facts: Facts, joined: Tensor) -> bool:
    """Whether a batch is the only one that two branches give in common: `if flag: x = 2 * x`, and x is fed."""
    others = (a.value for a in facts.accesses if a.write and a.value is not joined)
    return not any(isinstance(v, Tensor) and v.node is joined.node and v.batch.kind == "example" for v in others)


def is_zero_state(node: ast.AST) -> bool:
    """A call that gives the state that a recurrent net starts from; states of several tensors are fed one by one."""
    return isinstance(node, ast.Call) and has(getattr(node.func, "attr", ""), Trait.STARTING_STATE)


def decide_inputs(facts: Facts, options: Options) -> Decisions:
    """The placeholders that another reading must treat differently: the batch axis of each, or None for a setting."""
    decisions: Decisions = fed_tensors(facts)
    fed = _fed(facts)
    single = _fed_numbers(facts)
    axes = dict(options.batch_axes)
    asked = bool(decisions)
    time_major = _is_time_major(facts)
    labels = {e.value.uid for e in facts.effects_of(EffectKind.LABELS) if e.value is not None}
    told = _told_by_shapes(facts)
    initial, met = initial_values(facts), _meeting_rows(facts)
    for value in facts.inputs:
        where = value.node
        if where is None:
            continue
        if value.label in options.shared or (where in initial and value.label not in axes):
            decisions[where], asked = None, True
        elif value.label in axes:
            decisions[where], asked = axes[value.label], True
        elif (axis := _open_axis(value, facts, met)) is not None:
            decisions[where], asked = axis, True
        elif time_major and _both_open(value):
            decisions[where], asked = 1, True
        elif value.uid in labels and value.batch.kind == "free":  # there are as many as rows of the logits
            decisions[where], asked = 0, True
        elif _is_left_at_default(value, facts) or _is_settings(facts, value):
            decisions[where], asked = None, True
        elif is_fed_size(facts, value) and not any(_is_batch(v) for v in fed.get(value.uid, ())):
            decisions[where], asked = SIZE, True
        elif value.ambiguous and (value.uid in single or _is_one_beside(facts, value, fed.get(value.uid, []))):
            decisions[where] = None
        elif value.ambiguous and where not in told and _is_shaped_by_its_feed(facts, value):
            decisions[where], asked = None, True
        elif value.ambiguous and any(_are_rows(facts, value, v) for v in fed.get(value.uid, ())) and not value.dims:
            decisions[where], asked = 0, True
        elif value.ambiguous:  # another of the same list, or of the same line, may be seen to be fed a batch
            decisions.setdefault(where, told.get(where))
    if fixed := _of_fixed_rows(facts, decisions, fed, options):
        decisions.update(fixed)
        asked = True
    return decisions if asked else {}


def _meeting_rows(facts: Facts) -> dict[int, int]:
    """The axes of inputs whose open length meets the examples of a batch: `out - labels[0, :]` of `[1, None]`.

    There are as many as examples, or one. An input that meets them by several axes has none.
    """
    opened = {
        length: (value, axis)
        for value in facts.inputs
        for axis, length in enumerate(value.lengths or ())
        if isinstance(length, str) and length.startswith(OPEN)
    }
    found: dict[int, set[int]] = {}
    for entry in facts.beside:
        rows = _beside_rows(entry.value, entry.meets)
        if isinstance(rows, str) and rows in opened:
            value, axis = opened[rows]
            found.setdefault(value.uid, set()).add(axis)
    return {uid: axes.pop() for uid, axes in found.items() if len(axes) == 1}


def _beside_rows(value: Value, meets: Value | None) -> Factor:
    """The length of a tensor without a batch along the axis that meets the examples of another; None for none."""
    if not isinstance(value, Tensor) or not isinstance(meets, Tensor) or value.batch.kind != "free":
        return None
    if meets.batch.kind != "example" or meets.batch.packed or value.lengths is None or meets.lengths is None:
        return None
    at = meets.batch.axis + len(value.lengths) - len(meets.lengths)
    return value.lengths[at] if 0 <= at < len(value.lengths) else None


def _is_given_batches(facts: Facts, value: Input) -> bool:
    """Whether a generator of the script gives a data set whole batches: each component has as many rows as one has."""
    site = value.site
    rows = [rows_of(facts, part, site) for _, part in facts.yielded_for([value])] if site is not None else []
    return bool(rows) and all(isinstance(number, Number) and facts.named_sizes(number.linear) for number in rows)


def _told_by_shapes(facts: Facts) -> Decisions:
    """The batch axes of inputs whose shapes tell them, also if the same line makes others for which nothing does."""
    return {v.node: v.batch.axis for v in facts.inputs if v.node and not v.ambiguous and v.batch.kind == "example"}


def _of_fixed_rows(facts: Facts, decisions: Decisions, fed: dict[int, list[Value]], options: Options) -> Decisions:
    """Inputs of one fixed number of rows, `[8, 16]` beside `[8, 1]`, where nothing else can be the batch.

    Beside several of one number, an input of another, `[4, 16]`, is no batch: each tower takes all of it.

    Whether their rows are the examples does not matter to steps that share them (--batch total): what is a mean
    over rows is the same number in any case.
    """
    kept = [v for v in facts.inputs if v.node is None or decisions.get(v.node, 0) is not None]
    batched = any(v.batch.kind == "example" for v in kept)
    if batched or any(axis is not None for axis in decisions.values()):
        return {}
    shaped = [v for v in facts.inputs if "placeholder" in v.op and v.dims and v.label not in options.shared]
    found = [v for v in shaped if v.node is not None and any(map(_is_batch, fed.get(v.uid, ())))]
    rows = Counter(v.dims[0] for v in found if v.dims)
    often = [number for number, count in rows.items() if count > 1 or len(rows) == 1]
    number = often[0] if len(often) == 1 else None
    if number is None or number == 1:
        return {}
    batches = [v for v in found if v.dims and v.dims[0] == number]
    sizes = [_entries(v)[0] for v in batches if _entries(v)]
    axes = {v: 0 if v in batches else _axis_of_size(v, sizes) for v in shaped}
    return {v.node: axis for v, axis in axes.items() if v.node is not None and axis is not None}


def _axis_of_size(value: Input, sizes: list[Value]) -> int | None:
    """The axis that the name of a batch size gives its length: `[steps, rows]` beside `[rows, 16]`."""
    named = [size for size in sizes if isinstance(size, Number) and size.linear]
    entries = [(at, entry) for at, entry in enumerate(_entries(value)) if isinstance(entry, Number)]
    places = {at for at, one in entries for size in named if one.value == size.value and one.linear == size.linear}
    return places.pop() if len(places) == 1 else None


def is_fed_size(facts: Facts, value: Input) -> bool:
    """Whether a placeholder takes the number of examples: by its name, its feeds, or a starting state made with it."""
    if "placeholder" not in value.op or value.batch.kind != "free" or value.dims or value.dtype not in INTEGERS:
        return False
    written = (a.place.key for a in facts.accesses if a.write and a.value is value)
    if named_batch(written) or takes_row_counts(facts, value):
        return True
    return any(
        tensor.node is not None and is_zero_state(tensor.node) and value in tensor.inputs for tensor in facts.tensors
    )


def fed_back(facts: Facts, decisions: Decisions, options: Options) -> Decisions:
    """Placeholders read as settings that are fed with per-example results of the model: batches after all."""
    fed, initial = _fed(facts), initial_values(facts)
    return {
        value.node: 0
        for value in facts.inputs
        if value.node is not None
        and value.node not in initial
        and decisions.get(value.node, 0) is None
        and value.shape is None
        and value.label not in options.shared
        and any(_is_batch(v) for v in fed.get(value.uid, ()))
    }


def _fed(facts: Facts) -> dict[int, list[Value]]:
    """The values fed to each placeholder; to a sparse one that is made of three, what these are fed together."""
    fed: dict[int, list[Value]] = {}
    joined = [one for one in facts.inputs if sparse_input(one) and one.inputs]
    for run in facts.runs:
        given = {key.uid: value for key, value in run.feeds}
        for key, value in run.feeds:
            fed.setdefault(key.uid, []).append(value)
        for one in joined:
            if all(part.uid in given for part in one.inputs):
                fed.setdefault(one.uid, []).append(Sequence([given[part.uid] for part in one.inputs]))
    return fed


def _fed_numbers(facts: Facts) -> set[int]:
    """Placeholders that a training step is fed a single number for: `k = 0.`, which later steps compute anew."""
    feeds = (run.feeds for run in facts.runs_of(facts.train_steps))
    return {key.uid for pairs in feeds for key, value in pairs if shape_of(value) == ()}


def _open_axis(value: Input, facts: Facts, met: dict[int, int]) -> int | None:
    """The batch axis of `[time, None, …]` and `[features, None]`: the one open dimension, behind a number.

    What a generator gives whole batches of lies along the first axis.
    The number is a batch size itself where another input has it alone in front, as `[50]` beside `[50, None]`.
    met: the axes of inputs that meet examples of other inputs by an open length.
    """
    if value.batch.kind == "free" and value.uid in met:
        return met[value.uid]
    entries = _entries(value)
    axis = _lone_open(entries)
    if value.ambiguous and _is_given_batches(facts, value):
        return 0
    if not value.ambiguous or not axis:
        return None
    others = [found for i in facts.inputs if i is not value and (found := _entries(i))]
    if _number(entries[0]) == 1:  # a single sequence, unless the others are laid out with their batch there
        others = [o for o in others if _lone_open(o) == axis and _number(o[0]) != 1]
    fixed = any(_same(o[0], entries[0]) and not any(map(_is_open, o)) for o in others)
    return axis if others and not fixed else None


def _is_time_major(facts: Facts) -> bool:
    """Whether a recurrent net reads inputs of shape `[None, None, …]` as steps that hold the examples.

    They are no such inputs where another net reads them example by example: then one of the nets is given them wrongly.
    """
    read = needed(e.value for e in facts.effects_of(EffectKind.TIME_MAJOR) if e.value is not None)
    opened = {value for value in read.values() if isinstance(value, Input) and _both_open(value)}
    nets = (t for t in facts.tensors if has(t.op, Trait.BESIDE_ROWS) and t.batch.kind == "example")
    return bool(opened) and all(opened.isdisjoint(net.roots) for net in nets)


def _both_open(value: Input) -> bool:
    entries = _entries(value)
    return len(entries) > 1 and all(map(_is_open, entries[:2]))


def _entries(value: Input) -> list[Value]:
    return value.shape.elements if isinstance(value.shape, Sequence) else []


def _lone_open(entries: list[Value]) -> int | None:
    """The place of the only open dimension of a shape."""
    places = [i for i, entry in enumerate(entries) if _is_open(entry)]
    return places[0] if len(places) == 1 else None


def _is_open(entry: Value) -> bool:
    return isinstance(entry, Constant) and entry.value is None or _number(entry) == -1


def _number(entry: Value) -> float | None:
    return entry.value if isinstance(entry, Number) else None


def _same(one: Value, two: Value) -> bool:
    """Whether two dimensions are known to be the same number."""
    if not isinstance(one, Number) or not isinstance(two, Number):
        return False
    if one is two or (one.value is not None and one.value == two.value):
        return True
    return bool(one.linear and one.linear == two.linear) or (one.chosen and two.chosen and one.origins == two.origins)


def _is_left_at_default(value: Input, facts: Facts) -> bool:
    """True if no run feeds this placeholder_with_default: its default has a size of its own, if it is no batch.

    Of several that one call makes, as in a function that calls itself, one may be fed for all of them.
    """
    if not has(value.op, Trait.HAS_DEFAULT) or value.batch.kind != "example":
        return False
    if any(isinstance(default, Tensor) and default.batch.kind == "example" for default in value.inputs):
        return False  # it has the rows of that batch
    feeds = [run.feeds for run in facts.runs if run.feeds]
    return bool(feeds) and not any(v.node is value.node for pairs in feeds for key, _ in pairs for v in _fed_by(key))


def _fed_by(key: Value) -> Iterator[Input]:
    """The inputs that a key of a feed stands for: itself, or what it holds, also if no more is known of it."""
    return (value for value in closure([key], _held_as_key) if isinstance(value, Input))


def _held_as_key(value: Value) -> Iterable[Value]:
    if isinstance(value, Mapping):
        return [held for _, held in value.pairs]
    if isinstance(value, Sequence):
        return value.elements
    return value.inputs if isinstance(value, Host) else ()


def _is_settings(facts: Facts, value: Input) -> bool:
    """Whether a vector holds settings, such as a rate of dropout for each layer: only single entries of it are used.

    Those are named by numbers of Python; a loop of the graph goes over rows.
    """
    if value.batch.kind != "example" or value.rank != 1 or "placeholder" not in value.op:
        return False
    users = [t for t in facts.tensors if value in t.inputs or any(value in tensors_in(v) for v in _lists(t))]
    return bool(users) and all(
        t.op == "subscript" and t.batch.why is Why.PICKED and not any(isinstance(v, Tensor) for v in t.inputs[1:])
        for t in users
    )


def _lists(tensor: Tensor) -> list[Value]:
    return [v for v in tensor.inputs if isinstance(v, Sequence)]


def _is_one_beside(facts: Facts, value: Input, fed: list[Value]) -> bool:
    """Whether a placeholder takes a single row, and no loss is built from it: a picture for a net in a first graph.

    A class that is built twice makes several by the same call: none of them may be behind a loss.
    """
    if not fed or not all(is_one_row(one, 0, ()) for one in fed):
        return False
    alike = [other.uid for other in facts.inputs if other.node is value.node]
    return not any(uid in step.behind for uid in alike for step in facts.train_steps)


def is_one_array(facts: Facts, value: Input) -> bool:
    """True if every run feeds a placeholder the array whose shape it has, and batches of examples to another.

    The array has the same rows in each step, however large the batches are: it is no batch itself.
    """
    arrays = _fed(facts).get(value.uid, [])
    return _is_shaped_by_its_feed(facts, value) and all(array is _shaped_like(value) for array in arrays)


def _is_shaped_by_its_feed(facts: Facts, value: Input) -> bool:
    """True if a placeholder has the shape of an array that is fed to it, or of which that is computed.

    Beside batches of the script's size; beside other whole arrays it is a part of the one batch that all steps take.
    """
    fed, array = _fed(facts), _shaped_like(value)
    if array is None or array.uid not in needed(fed.get(value.uid, [])):
        return False
    return any(_is_cut(other, fed) for other in facts.inputs if other is not value)


def _shaped_like(value: Input) -> Value | None:
    """The array of which a placeholder has the shape: `tf.placeholder(tf.float32, array.shape)`."""
    shape = value.shape
    return shape.inputs[0] if isinstance(shape, Host) and shape.call == "shape" and shape.inputs else None


def _is_cut(value: Input, fed: dict[int, list[Value]]) -> bool:
    """True if a placeholder takes batches of the script's size: by its shape, or as it is fed slices of an array."""
    if value.batch.kind != "example":
        return False
    entries = _entries(value)
    axis = value.batch.axis
    entry = entries[axis] if axis < len(entries) else None
    arrays = fed.get(value.uid, ())
    return (isinstance(entry, Number) and bool(entry.origins)) or any(map(_is_slice, arrays))


def _is_slice(array: Value) -> bool:
    """Whether a fed value is a part of an array, or comes from a call that is named for its batches."""
    if not isinstance(array, Host):
        return False
    name = array.call.rpartition(".")[2].lower()
    return "batch" in name or (array.call == "[]" and (_is_batch(array) or any(map(_is_slice, array.inputs[:1]))))


def is_one_example(value: Value) -> bool:
    """True if a fed value is one example from a loop over a data set: it has no batch axis."""
    if not isinstance(value, Host) or value.call != "item":
        return False
    source = value.inputs[0] if value.inputs else None
    if isinstance(source, Host) and source.call.rpartition(".")[2] in PARTS:
        return False
    return not (isinstance(source, Host) and ("batch" in source.call.lower() or source.call in ("item", "run")))


def is_one_row(value: Value, axis: int, grown: Container[int]) -> bool:
    """Whether a fed array holds one example along its batch axis, as `[x]`, `x[None]` and `x.reshape(1, 4)` do.

    grown: uids of the lists that the script adds to after they are made.
    """
    shape = shape_of(value)
    if shape is not None and len(shape) > axis and shape[axis] is not None:
        return shape[axis] == 1
    if axis:
        return False
    if isinstance(value, Sequence):
        return not value.many and len(value.elements) == 1 and value.uid not in grown
    parts = value.either if isinstance(value, Host) else _beside_numbers(value)
    if parts or not isinstance(value, Host):
        return bool(parts) and all(is_one_row(one, axis, grown) for one in parts)
    node, arguments = value.node, value.inputs[1:]
    if isinstance(node, ast.Subscript):
        first = node.slice.elts[0] if isinstance(node.slice, ast.Tuple) and node.slice.elts else node.slice
        if isinstance(first, ast.Slice):  # a part of a data set of one example
            return is_one_row(value.inputs[0], axis, grown)
        return is_new_axis(first)
    name = value.call.removeprefix("numpy.") if value.call.startswith("numpy.") else ""
    if isinstance(node, ast.BinOp) or name in (*BINARY, "clip"):  # with a number, which changes no shape
        operands = value.inputs if isinstance(node, ast.BinOp) else arguments
        arrays = [part for part in operands if shape_of(part) != ()]
        return len(arrays) == 1 and isinstance(arrays[0], Host) and is_one_row(arrays[0], axis, grown)
    if not isinstance(node, ast.Call) or not arguments:
        return False
    second = arguments[1] if len(arguments) == 2 else None
    if value.call == "numpy.expand_dims":
        return getattr(second, "value", None) == 0
    if value.call == "numpy.transpose":
        order = second.elements[:1] if isinstance(second, Sequence) else []
        return [getattr(one, "value", None) for one in order] == [0] and is_one_row(arguments[0], axis, grown)
    return name in (*LIKE, *MOVES) and is_one_row(arguments[0], axis, grown)


def _beside_numbers(value: Value) -> list[Host]:
    """The arrays that may stand in a place where the script also puts a plain number, which no run is fed."""
    chosen = isinstance(value, Number) and value.chosen
    return [part for part in value.inputs if isinstance(part, Host)] if chosen else []


def picks_rows(value: Host) -> bool:
    """Whether a call gives the numbers of several rows; `randint(n)` and `choice(n)` without a size give one."""
    name = value.call.rpartition(".")[2]
    if name not in SIZED or not isinstance(value.node, ast.Call):
        return name in PICKS
    given = value.node
    return len(given.args) > SIZED[name] or any(k.arg in ("size", None) for k in given.keywords)


def _are_rows(facts: Facts, value: Input, fed: Value) -> bool:
    """Whether what a placeholder is fed has rows of a batch; a sparse one may be fed one matrix in all steps."""
    made = isinstance(fed, Tensor) and has(fed.op, Trait.MAKES_SPARSE)
    if not sparse_input(value) or not (made or isinstance(fed, Sequence)):
        return _is_batch(fed)
    given = fed.elements if isinstance(fed, Sequence) else fed.inputs if isinstance(fed, Tensor) else ()
    shape = given[-1] if given else None
    first = shape.elements[0] if isinstance(shape, Sequence) and shape.elements else None
    named = isinstance(first, Number) and bool(facts.named_sizes(first.origins))
    return named or (not made and any(_is_of_batches(one) for one in needed(given).values()))


def _is_of_batches(value: Value) -> bool:
    """Whether a value comes out of a loop over batches, or is named for them, or holds picked rows."""
    if not isinstance(value, Host):
        return False
    return value.call in ("item", "slice") or "batch" in value.call.lower() or picks_rows(value)


def _is_batch(value: Value) -> bool:
    """True if a fed value comes out of a data set and is no single number."""
    if isinstance(value, Sequence):
        return bool(value.elements)
    if not isinstance(value, Host) or is_one_example(value) or shape_of(value) == ():
        return False
    if value.call == "run":
        return any(isinstance(v, Tensor) and v.batch.kind == "example" for v in value.inputs)
    name = value.call.rpartition(".")[2].lower()
    if name in SIZED and not picks_rows(value):
        return False
    if value.call == "[]":
        whole = value.inputs[0]
        if isinstance(whole, Host) and whole.call.rpartition(".")[2] in PARTS:
            return True
        return any(
            isinstance(v, Host) and (v.call in ("slice", "[]") or picks_rows(v)) or _is_batch(v)
            for v in value.inputs[1:]
        )
    if value.call in (*ARITHMETIC, "compare"):
        return any(_is_batch(v) for v in value.inputs)
    if "batch" in name or name in ARRAYS or value.call.startswith(("numpy.", "sklearn.", "pandas.", "scipy.")):
        return True
    if shape_of(value):  # of a generator of random numbers
        return isinstance(value.node, ast.Call)
    parts = any(isinstance(v, Host) and v.call.rpartition(".")[2] in PARTS for v in value.inputs)
    return value.call == "item" and (parts or any(_is_batch(v) for v in value.inputs))
