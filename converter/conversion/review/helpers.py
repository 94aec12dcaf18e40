"""The results of a converted text's helpers, as values of the walk."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from converter.analysis.facts import SIZE, TrainStep
from converter.analysis.flow.joined import choices
from converter.analysis.inputs.decided import with_axis
from converter.analysis.python.calling import call_value
from converter.analysis.python.containers import is_known_key
from converter.analysis.python.expressions import EVALUATE
from converter.analysis.traits import Trait, has
from converter.analysis.values import (
    FREE,
    Batch,
    Constant,
    Host,
    Input,
    Mapping,
    Number,
    Origin,
    Record,
    Sequence,
    Tensor,
    Typed,
    Value,
)
from converter.analysis.walk import Walk
from converter.conversion.review.towers import (
    COUNTED,
    GROWN,
    MERGE,
    ROWS,
    SHARD,
    TOWERS,
    TRIM,
    WEIGHT,
    WHOLE,
    Averaged,
    Merged,
    TowerPart,
    TowerRecords,
    helper_of,
    in_towers,
)

SHARDS = (
    "shard",
    "shard_along",
    "shard_static",
    "shard_static_along",
    "shard_sparse",
    "shard_data",
    "shard_data_along",
    "own_inputs",
    "own_batches",
)
SHARING = ("SharedVariables", "SharedVariablesOfModels")
HANDING = ("TowerInputs", "OwnInputs")
ENTERED = (
    "TowerCollections",
    "TowerPenalties",
    "MergedCollections",
    *SHARING,
    "ScopeReuse",
    "LayerNames",
    "TowerAverages",
    "FirstTowerLists",
    *HANDING,
)


def _arguments(walk: Walk, node: ast.Call) -> tuple[list[Value], dict[str, Value]]:
    args: list[Value] = []
    for arg in node.args:
        if isinstance(arg, ast.Starred):
            inner = walk.evaluate(arg.value)
            args += inner.elements if isinstance(inner, Sequence) else [inner]
        else:
            args.append(walk.evaluate(arg))
    return args, {k.arg: walk.evaluate(k.value) for k in node.keywords if k.arg is not None}


def _shard(towers: TowerRecords, walk: Walk, node: ast.Call) -> Value:
    args, _ = _arguments(walk, node)
    gpu = getattr(args[-1], "value", None)
    given = _elements(args[1]) if len(args) == 3 else []
    axes = [axis.value if isinstance(axis, Number) and isinstance(axis.value, int) else 0 for axis in given]
    tensors = args[0].elements if isinstance(args[0], Sequence) else [args[0]]
    static = "static" in (helper_of(node, towers.helpers) or "")
    group = tensors[0].uid if tensors else 0
    parts: list[Value] = []
    for index, whole in enumerate(tensors):
        axis = axes[index] if index < len(axes) else 0
        parts.append(_part(towers, walk, whole, TowerPart(whole, gpu, axis, group, static), node))
    rows, weight = Tensor(FREE, tensors[:1], (), ROWS), Tensor(FREE, tensors[:1], (), WEIGHT)
    for value in (rows, weight):
        walk.stamp(value, node)
        towers.cuts[value.uid] = TowerPart(tensors[0], gpu, 0, group, static)
    return Sequence([Sequence(parts, mutable=True), rows, weight])


def _part(towers: TowerRecords, walk: Walk, whole: Value, cut: TowerPart, node: ast.Call) -> Value:
    dims = whole.lengths if isinstance(whole, Tensor) else None
    batch = whole.batch if isinstance(whole, Input) and whole.is_own else Batch("example", cut.axis)
    part = Tensor(batch, (whole,), dims, SHARD, node)
    if not part.roots and isinstance(whole, Input):
        part.roots = frozenset((whole,))
    towers.cuts[part.uid] = cut
    return walk.stamp(part, node)


def _shard_size(towers: TowerRecords, walk: Walk, node: ast.Call) -> Value:
    args, _ = _arguments(walk, node)
    total = args[0]
    if not isinstance(total, Number):
        size: Value = Host((total,), "shard_size", node)
    else:
        size = Number(total.value, _shrunk(total.origins), _shrunk(total.linear), (total,))
        if total.uid in walk.assumed:
            walk.assumed.add(size.uid)
    towers.sizes[size.uid] = total
    return size


def _shrunk(origins: frozenset[Origin]) -> frozenset[Origin]:
    return frozenset(Origin(o.node, o.key[:-1], o.name) if o.key[-1] == GROWN else o for o in origins)


def grow(towers: TowerRecords, walk: Walk, node: ast.BinOp) -> Value:
    """`batch_size * NUM_GPUS`: the number of the original, and that it was multiplied."""
    number = walk.evaluate(node.left)
    return grown(towers, walk, number) if isinstance(number, Number) else EVALUATE[ast.BinOp](walk, node)


def grown(towers: TowerRecords, walk: Walk, number: Number) -> Number:
    """A number times the number of towers."""

    def marked(origins: frozenset[Origin]) -> frozenset[Origin]:
        made = frozenset(Origin(o.node, (*o.key, GROWN), o.name) for o in origins)
        for one in origins:
            names = walk.facts.origin_names.get(one.key, set())
            walk.facts.origin_names.setdefault((*one.key, GROWN), set()).update(names)
        return made

    made = Number(number.value, marked(number.origins), marked(number.linear), (number,))
    towers.grown[made.uid] = number
    towers.products.append(made)
    if walk.site is not None and _is_open(walk, walk.site.stmt):
        walk.assumed.add(made.uid)
    return made


def _is_open(walk: Walk, stmt: ast.AST) -> bool:
    """Whether a statement binds a constant of which conditions do not take the value that is written there."""
    if not walk.facts.open or not isinstance(stmt, ast.Assign):
        return False
    path, target = walk.facts.path_of(stmt), stmt.targets[0]
    kind = "name" if isinstance(target, ast.Name) else "attribute"
    return (path, kind, getattr(target, "id", getattr(target, "attr", ""))) in walk.facts.open


def _shard_drawn(towers: TowerRecords, walk: Walk, node: ast.Call) -> Value:
    size = _shard_size(towers, walk, node)
    weight = Tensor(FREE, (size,), (), WEIGHT)
    towers.cuts[weight.uid] = TowerPart(size, getattr(walk.evaluate(node.args[-1]), "value", None), 0, size.uid, True)
    return Sequence([size, weight])


def _map_structure(towers: TowerRecords, walk: Walk, node: ast.Call) -> Value:
    (function, *structures), _ = _arguments(walk, node)
    if not structures:
        return Host((), "map_structure", node)
    return _structure(structures, lambda parts: walk.stamp(call_value(walk, function, parts, {}, node), node))


def _structure(parts: list[Value], each: Callable[[list[Value]], Value]) -> Value:
    """What is made of the corresponding values of the towers, in the lists, tuples and dicts that the first one has."""
    first = parts[0]
    if isinstance(first, Mapping):
        others = [p for p in parts[1:] if isinstance(p, Mapping)]
        rows = [[v, *(_same_part(first, other, at) for other in others)] for at, (_, v) in enumerate(first.pairs)]
        return Mapping([(key, _structure(row, each)) for (key, _), row in zip(first.pairs, rows, strict=True)])
    if isinstance(first, Sequence):
        rows = [list(row) for row in zip(*(p.elements for p in parts if isinstance(p, Sequence)), strict=False)]
        elements = [_structure(row, each) for row in rows]
        if isinstance(first, Record):
            return Record(first.fields, elements, first.cls)
        return Sequence(elements, first.mutable, first.many).like(first)
    return each(parts)


def _same_part(first: Mapping, other: Mapping, at: int) -> Value:
    """What a dict of another tower has under a key of the first tower's: in the same place, if it is not known."""
    key, value = first.pairs[at]
    if not is_known_key(key) and len(first.pairs) == len(other.pairs):
        return other.pairs[at][1]
    return other.get(key) or value


def _elements(value: Value | None) -> list[Value]:
    return list(value.elements) if isinstance(value, Sequence) else []


def merge(towers: TowerRecords, walk: Walk, node: ast.Call) -> Value:
    """The sum or concatenation of a list of the towers' parts; for anything else TensorFlow's own result."""
    args, _ = _arguments(walk, node)
    parts = _elements(args[0] if args else None)
    if not parts or not all(isinstance(p, Tensor) and in_towers(towers, p) for p in parts):
        return EVALUATE[ast.Call](walk, node)
    name = helper_of(node, towers.helpers) or getattr(node.func, "attr", "")
    concat = has(name, Trait.CONCATENATES) or name == "concat_steps"
    axis = getattr(args[1], "value", 0) if concat and len(args) > 1 else 0
    first = parts[0]
    assert isinstance(first, Tensor)
    made = Tensor(first.batch, parts, first.lengths, MERGE, node)
    towers.merges[made.uid] = Merged(tuple(parts), "concat" if concat else "add", axis if isinstance(axis, int) else 0)
    return made


def _merge_fed(towers: TowerRecords, walk: Walk, node: ast.Call) -> Value:
    """The concatenation of `(z, rows, weight)` of all towers: each tower's rows, without the one of an empty shard."""
    args, _ = _arguments(walk, node)
    parts: list[Value] = []
    for held in _elements(args[0] if args else None):
        part, rows, _ = _elements(held)
        static = rows.uid in towers.cuts and towers.cuts[rows.uid].static
        if isinstance(part, Tensor) and not static:
            part = Tensor(part.batch, (part, rows, Number(0)), part.lengths, TRIM, node)
        parts.append(part)
    first = parts[0]
    assert isinstance(first, Tensor)
    made = Tensor(first.batch, parts, first.lengths, MERGE, node)
    towers.merges[made.uid] = Merged(tuple(parts), "concat", 0)
    return made


def _merge_shown(towers: TowerRecords, walk: Walk, node: ast.Call) -> Value:
    """Of `(z, rows, weight)` of all towers, what is made of them by their form: only shown, whatever it is."""
    args, _ = _arguments(walk, node)
    parts = [_elements(held)[0] for held in _elements(args[0] if args else None)]
    return _structure(parts, lambda one: _shown(towers, one, node))


def _shown(towers: TowerRecords, parts: list[Value], node: ast.Call) -> Value:
    """The same for one value of them, which is no list or dict."""
    first = parts[0]
    if not isinstance(first, Tensor):
        return first
    made = Tensor(first.batch, parts, first.lengths, MERGE, node)
    towers.merges[made.uid] = Merged(tuple(parts), "shown", 0)
    return made


def _feed_towers(towers: TowerRecords, walk: Walk, node: ast.Call) -> Value:
    """The feeds as they are written: the towers' parts of a value that is fed are that value."""
    return walk.evaluate(node.args[0])


def _read_for_towers(towers: TowerRecords, walk: Walk, node: ast.Call) -> Value:
    """`read_for_towers(reader, 'train')`: what `reader('train')` gives, for each tower."""
    (function, *args), kwargs = _arguments(walk, node)
    return walk.stamp(call_value(walk, function, args, kwargs, node), node)


def merge_collections(towers: TowerRecords, walk: Walk, node: ast.Call) -> Value:
    """`tower_collections.merge(key, weights)`."""
    args, _ = _arguments(walk, node)
    key = getattr(args[0], "value", None)
    held = walk.collections.get(key, [])
    for index, one in enumerate(held):
        both = towers.collected.get(one.uid)
        if both is not None and isinstance(one, Tensor):
            made = walk.stamp(Tensor(one.batch, both.parts, one.lengths, MERGE, node), node)
            towers.merges[made.uid] = both
            held[index] = made
    return Constant(None)


def _weigh_losses(towers: TowerRecords, walk: Walk, node: ast.Call) -> Value:
    args, _ = _arguments(walk, node)
    losses, counts = _elements(args[0]), _elements(args[1])
    made: list[Value] = []
    for loss, count in zip(losses, counts, strict=False):
        if not isinstance(loss, Tensor):
            return Sequence(losses, mutable=True)
        part = Tensor(loss.batch, (loss, count), loss.lengths, COUNTED)
        part.site, part.time = loss.site, loss.time
        made.append(part)
    return Sequence(made, mutable=True)


def losses_of(towers: TowerRecords, walk: Walk, node: ast.expr) -> Value:
    """The towers' losses that a merged one carries along."""
    holder = walk.evaluate(node)
    chosen = choices(holder) if isinstance(holder, Tensor) else []
    kept = [_losses_kept(towers, loss) for loss in chosen]
    if not kept or any(len(parts) != TOWERS for parts in kept):
        towers.unread.append("losses of towers that are handed on")
        return Sequence([holder], mutable=True, many=True)
    several = zip(*kept, strict=True)
    assert isinstance(holder, Tensor)
    return Sequence(
        [parts[0] if len(parts) == 1 else Tensor(holder.batch, parts, holder.lengths, holder.op) for parts in several],
        mutable=True,
    )


def _losses_kept(towers: TowerRecords, loss: Value) -> tuple[Value, ...]:
    """The towers' losses of a merged one; of a loss with rows those that keep_losses was given."""
    if loss.uid in towers.losses:
        return tuple(towers.losses[loss.uid])
    merged = towers.merges.get(loss.uid)
    return () if merged is None else tuple(merged.parts)


def _keep_losses(towers: TowerRecords, walk: Walk, node: ast.Call) -> Value:
    """`keep_losses(tf.concat(tower_loss, 0), tower_losses)`: the merge, and the towers' weighted losses."""
    args, _ = _arguments(walk, node)
    towers.losses[args[0].uid] = _elements(args[1])
    return args[0]


def _keep_parts(towers: TowerRecords, walk: Walk, node: ast.Call) -> Value:
    """`keep_parts(tf.concat(tower_x, 0), own_x)`: the merge, and what each tower made of it."""
    args, _ = _arguments(walk, node)
    towers.parts[args[0].uid] = _elements(args[1])
    return args[0]


def _hand_on(towers: TowerRecords, walk: Walk, node: ast.Call) -> Value:
    """`hand_on(tower_x)`: what each tower made of a list, a dict or a number of its examples."""
    args, _ = _arguments(walk, node)
    made = Typed("TowerHelper", "hand_on", args, {}, node)
    towers.parts[made.uid] = _elements(args[0])
    return made


def _part_of_tower(towers: TowerRecords, walk: Walk, node: ast.Call) -> Value:
    """`part_of_tower(x_batch, gpu)`: what the tower made in an earlier loop."""
    args, _ = _arguments(walk, node)
    whole, gpu = args[0], getattr(args[1], "value", None)
    parts = towers.parts.get(whole.uid, [])
    if not isinstance(gpu, int) or not 0 <= gpu < len(parts):
        towers.unread.append("parts of towers that are handed on")
        return whole
    return parts[gpu]


# -- gradients --------------------------------------------------------------------------------------


def _pairs(result: Tensor) -> Sequence:
    pair = Sequence([Tensor(inputs=(result,), op="gradient"), Tensor(op="variable")])
    return Sequence([pair], mutable=True, many=True)


def _sum_gradients(towers: TowerRecords, walk: Walk, node: ast.Call) -> Value:
    args, _ = _arguments(walk, node)
    steps = {step.result.uid: step for step in walk.facts.train_steps}
    found = [_step_behind(part, steps) for part in _elements(args[0])]
    losses = tuple(step.loss for step in found if step is not None)
    result = walk.stamp(Tensor(inputs=args, op="gradients"), node)
    assert isinstance(result, Tensor)
    steps_found = [step for step in found if step is not None]
    towers.averages[result.uid] = Averaged(
        losses, tuple(s.optimizer for s in steps_found), tuple(s.variables for s in steps_found)
    )
    return _pairs(result)


def _step_behind(pairs: Value, steps: dict[int, TrainStep]) -> TrainStep | None:
    for pair in _elements(pairs):
        for gradient in _elements(pair)[:1]:
            for value in gradient.inputs:
                if value.uid in steps:
                    return steps[value.uid]
    return None


def _tower_gradients(towers: TowerRecords, walk: Walk, node: ast.Call) -> Value:
    """compute_gradients of the towers' losses."""
    args, kwargs = _arguments(walk, node)
    losses = _elements(args[1])
    result = walk.stamp(Tensor(inputs=(*args, *kwargs.values(), *losses), op="gradients"), node)
    assert isinstance(result, Tensor)
    towers.averages[result.uid] = Averaged(tuple(losses), (_itself(args[0]),), (kwargs.get("var_list"),))
    return _pairs(result)


def _itself(optimizer: Value) -> Value:
    """An optimizer; of `super(Own, self)`, whose methods are the inherited ones, the object itself."""
    inherited = isinstance(optimizer, Typed) and optimizer.kind == "Super"
    return optimizer.args[0] if inherited and isinstance(optimizer, Typed) else optimizer


def _gradients_of_towers(towers: TowerRecords, walk: Walk, node: ast.Call) -> Value:
    args, kwargs = _arguments(walk, node)
    losses, xs = _elements(args[0]), args[1]
    inputs = xs.elements if isinstance(xs, Sequence) else [xs]
    result = walk.stamp(Tensor(inputs=(*args, *kwargs.values()), op="gradients"), node)
    assert isinstance(result, Tensor)
    towers.averages[result.uid] = Averaged(tuple(losses), (), (xs,))
    many = isinstance(xs, Sequence) and xs.many
    return Sequence([Tensor(inputs=(result,), op="gradient") for _ in inputs] or [result], mutable=True, many=many)


def _tower_optimizer(towers: TowerRecords, walk: Walk, node: ast.Call) -> Value:
    args, kwargs = _arguments(walk, node)
    made = Typed("Optimizer", "TowerOptimizer", args, kwargs, node)
    towers.optimizers[made.uid] = (args[0], args[1])
    return made


def made_optimizer(towers: TowerRecords, walk: Walk, node: ast.Lambda) -> Value:
    """A function that makes an optimizer of the script's for the towers' losses."""
    assert isinstance(node.body, ast.Call)
    losses = walk.evaluate(node.body.args[1])
    made = Typed("Optimizer", "TowerOptimizer", [losses], {}, node.body)
    towers.optimizers[made.uid] = (Host((), "optimizer", node), losses)
    return made


def _pad_steps(towers: TowerRecords, walk: Walk, node: ast.Call) -> Value:
    return walk.evaluate(node.args[0])


def _whole_batch(towers: TowerRecords, walk: Walk, node: ast.Call) -> Value:
    given = walk.evaluate(node.args[0])
    batch, dims = (given.batch, given.lengths) if isinstance(given, Tensor) else (FREE, None)
    return Tensor(batch, (given,), dims, WHOLE, node)


def _of_first_tower(towers: TowerRecords, walk: Walk, node: ast.Call) -> Value:
    """What the first tower got in the same place; outside of the towers what is given."""
    given = walk.evaluate(node.args[0])
    if towers.listed is None:
        return given
    if towers.left is None:
        towers.listed.append(given)
        return given
    return towers.left.pop(0) if towers.left else given


def _entered_helper(towers: TowerRecords, walk: Walk, node: ast.Call) -> Value:
    return Typed("TowerHelper", helper_of(node, towers.helpers) or "", [], {}, node)


def _after_updates(towers: TowerRecords, walk: Walk, node: ast.Call) -> Value:
    """A block that waits for operations, as tf.control_dependencies makes one."""
    args, kwargs = _arguments(walk, node)
    return Typed("ControlDependencies", helper_of(node, towers.helpers) or "", args, kwargs, node)


# -- placeholders that the towers make ---------------------------------------------------------------


def _tower_inputs(towers: TowerRecords, walk: Walk, node: ast.Call) -> Value:
    args, kwargs = _arguments(walk, node)
    return Typed("TowerHelper", "TowerInputs", args, kwargs, node)


def hand(towers: TowerRecords, walk: Walk, node: ast.Call) -> Value:
    """A call that makes a placeholder: in a tower that is handed them, the tower's part of the first tower's."""
    value, handing = EVALUATE[ast.Call](walk, node), towers.handing
    if handing is None or not isinstance(value, Input):
        return value
    axis = walk.decisions.get(node)
    if axis == SIZE:
        return value
    if node in walk.decisions:
        value = with_axis(value, axis)
        assert isinstance(value, Input)
    if handing.gpu == 0:
        handing.made.append(value)
    if handing.turn >= len(handing.made):
        towers.unread.append("placeholders that only a later tower makes")
        return value
    whole, handing.turn = handing.made[handing.turn], handing.turn + 1
    along = _axis_of_handed(handing.axes, whole, node)
    if along is None:
        return whole
    static = _is_fixed(whole, along)
    if static and handing.gpu == 0 and handing.size is not None:
        assert isinstance(whole.shape, Sequence)
        entries = [handing.size if i == along else entry for i, entry in enumerate(whole.shape.elements)]
        whole.shape = Sequence(entries, whole.shape.mutable)
    part = _part(towers, walk, whole, TowerPart(whole, handing.gpu, along, whole.uid, static), node)
    towers.whole[part.uid] = whole
    return part


def _is_fixed(whole: Input, axis: int) -> bool:
    """Whether the shape of a placeholder has a number for its examples."""
    entries = whole.shape.elements if isinstance(whole.shape, Sequence) else []
    return len(entries) > axis and isinstance(entries[axis], Number) and getattr(entries[axis], "value", 0) != -1


def _axis_of_handed(axes: Value | None, whole: Input, node: ast.Call) -> int | None:
    """As TowerInputs of converter/runtime/sharding.py: what the script was told by name, else the first axis if any."""
    given = next((k.value for k in node.keywords if k.arg == "name"), node.args[2] if len(node.args) > 2 else None)
    told = axes.get(Constant(given.value)) if isinstance(axes, Mapping) and isinstance(given, ast.Constant) else None
    if told is not None:
        axis = getattr(told, "value", None)
        return axis if isinstance(axis, int) else None
    return 0 if whole.dims else None


def whole_of_handed(towers: TowerRecords, walk: Walk, node: ast.Call) -> Value:
    """`tower_inputs.whole(net.x)`: the placeholder that a part was cut from, else the value itself."""
    value = walk.evaluate(node.args[0])
    wholes = [towers.whole.get(one.uid, one) for one in (choices(value) if isinstance(value, Tensor) else [value])]
    if len(wholes) == 1 or not isinstance(value, Tensor):
        return wholes[0]
    return walk.stamp(Tensor(value.batch, wholes, value.dims, "join"), node)


def share_of_handed(towers: TowerRecords, walk: Walk, node: ast.Call) -> Value:
    """`tower_inputs.share(net.x)`: the rows of a part, and their weight."""
    part = walk.evaluate(node.args[0])
    rows, weight = Tensor(FREE, (part,), (), ROWS), Tensor(FREE, (part,), (), WEIGHT)
    cut = next((one for one in (choices(part) if isinstance(part, Tensor) else ()) if one.uid in towers.cuts), None)
    for value in (rows, weight):
        walk.stamp(value, node)
        if cut is not None:
            towers.cuts[value.uid] = towers.cuts[cut.uid]
    return Sequence([rows, weight])


HELPERS: dict[str, Callable[[TowerRecords, Walk, Any], Value]] = {
    **dict.fromkeys(SHARDS, _shard),
    **dict.fromkeys(ENTERED, _entered_helper),
    **dict.fromkeys(HANDING, _tower_inputs),
    "read_for_towers": _read_for_towers,
    "feed_for_towers": _feed_towers,
    "after_updates": _after_updates,
    "shard_size": _shard_size,
    "rows_of_one_gpu": lambda towers, walk, node: walk.evaluate(node.args[0]),
    "without_tower": lambda towers, walk, node: walk.evaluate(node.args[0]),
    "pad_steps": _pad_steps,
    "whole_batch": _whole_batch,
    "of_first_tower": _of_first_tower,
    "shard_drawn": _shard_drawn,
    "map_structure": _map_structure,
    "merge_loss": merge,
    "hand_on": _hand_on,
    "keep_parts": _keep_parts,
    "keep_losses": _keep_losses,
    "part_of_tower": _part_of_tower,
    "merge_fed": _merge_fed,
    "merge_shown": _merge_shown,
    "feed_towers": _feed_towers,
    "concat_steps": merge,
    "weigh_losses": _weigh_losses,
    "sum_gradients": _sum_gradients,
    "tower_gradients": _tower_gradients,
    "tower_gradients_or_one_gpu": _tower_gradients,
    "gradients_of_towers": _gradients_of_towers,
    "gradients_of_towers_or_one_gpu": _gradients_of_towers,
    "TowerOptimizer": _tower_optimizer,
}
