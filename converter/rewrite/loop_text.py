"""The text of the tower loop: what comes before it, its head, and what comes after."""

from __future__ import annotations

from collections.abc import Sequence
from types import UnionType
from typing import NamedTuple

from converter.dataclass import dataclass
from converter.plan import Loop, Plan, border
from converter.runtime.catalog import catalog

STEP = "    "
LOOP = "# Each GPU computes its share of the batch."
BEHIND = "# From here on: the whole batch."
KEPT = {"value": "{}", "list": "{list}({})", "dict": "{}.copy()", "iterator": "{list}({})"}  # what is kept for a Reset
# In which order values from before the loop are saved, and in which a tower gets its own.
SAVED = (border.Remake, border.CutEach | border.CutOptional, border.Resize | border.Keep)
ENTERED = (border.Cut, border.Resize | border.Keep, border.Remake, border.CutEach | border.CutOptional, border.Drawn)
CODES: dict[type, str] = {
    border.Cut: "TMG103",
    border.CutEach: "TMG103",
    border.CutOptional: "TMG103",
    border.Resize: "TMG108",
    border.HandedOut: "TMG124",
    border.Reset: "TMG131",
}


class Line(NamedTuple):
    """A line and the rules that it comes from, with commas between them."""

    text: str
    why: str


@dataclass(frozen=True)
class LoopText:
    """Lines without indentation, in the order of the script.

    early: before what goes in front of the loop. prelude: before the loop, and saved: of that, what only towers need.
    headers: of the loop.
    anew: in it, of the lines above the towers' statements those that a model without towers needs, too.
    above and below: in it, around the towers' statements. epilogue: after it. late: after what is repeated then.
    closing: after what else follows it.
    """

    early: list[Line]
    prelude: list[Line]
    saved: list[Line]
    headers: list[Line]
    anew: list[Line]
    above: list[Line]
    below: list[Line]
    epilogue: list[Line]
    late: list[Line]
    closing: list[Line]


def loop_text(plan: Plan, loop: Loop, width: int) -> LoopText:
    """The loop in the script's own names."""
    name = dict(plan.helpers)
    names = {plain: given for helper, given in name.items() for plain in (helper, _plain(helper))}
    return LoopText(
        early=_bindings([(one.saved, _source(plan, loop, one)) for one in _early(loop)], "TMG131", width),
        prelude=_prelude(plan, loop, names, width),
        saved=_saved(plan, loop, width) if plan.one_gpu else [],
        headers=_headers(plan, loop, names, width),
        anew=[line for reset in _early(loop) for line in _reset(plan, loop, reset)],
        above=_above(plan, loop, names, width - (3 if plan.one_gpu else 2) * len(STEP)),
        below=_below(plan, loop, names),
        epilogue=_under_comment(BEHIND, _epilogue(plan, loop, names, width)),
        late=_late(plan, loop, names),
        closing=[Line(f"{names['keep_names']}()", _why("keep_names"))] if loop.keep_names else [],
    )


def _plain(helper: str) -> str:
    for suffix in ("_gpu_0", "_balanced", "_partitioned", "_or_one_gpu"):
        helper = helper.removesuffix(suffix)
    return helper


def getter_that_cuts(plan: Plan, helper: str) -> str:
    """The expression for the custom getter that cuts variables."""
    rows = [f"rows={list(plan.cut_by_rows)}"] if plan.cut_by_rows else []
    return f"{helper}({', '.join([*map(repr, plan.kept_whole or ()), *rows])})"


def _builtin(plan: Plan, loop: Loop, name: str) -> str:
    """The expression by which the loop's own lines read one of Python's builtins."""
    return f"{plan.builtins}.{name}" if name in loop.hidden else name


def _under_comment(comment: str, lines: list[Line]) -> list[Line]:
    """Lines of which the first has a comment above it."""
    return [line._replace(text=f"{comment}\n{line.text}") for line in lines[:1]] + lines[1:]


def _bindings(pairs: Sequence[tuple[str, str]], why: str, width: int) -> list[Line]:
    """Assignments of values to targets, as many on a line as fit in the width.

    pairs: each target with its value; no target is read by a later value.
    """
    rows: list[list[tuple[str, str]]] = []
    for pair in pairs:
        if rows and len(_binding([*rows[-1], pair])) <= width:
            rows[-1].append(pair)
        else:
            rows.append([pair])
    return [Line(_binding(row), why) for row in rows]


def _binding(pairs: Sequence[tuple[str, str]]) -> str:
    return f"{', '.join(target for target, _ in pairs)} = {', '.join(value for _, value in pairs)}"


def _prelude(plan: Plan, loop: Loop, names: dict[str, str], width: int) -> list[Line]:
    lines = [Line(f"{names['check_gpus']}()", _why("check_gpus"))] if "check_gpus" in names else []
    if loop.gradient is not None and loop.gradient.create:
        lines.append(Line(f"{loop.gradient.optimizer} = {loop.gradient.create}", "TMG101"))
    if plan.kept_whole is not None:
        cut = getter_that_cuts(plan, names["cut_variables"])
        lines.append(Line(f"{plan.tensorflow}.get_variable_scope().set_custom_getter({cut})", _why("cut_variables")))
    if not plan.one_gpu:
        lines += _saved(plan, loop, width)
    lines.extend(_empty_lists(loop, width))
    given = {loop.handing.name: loop.handing.arguments.replace(border.NUM_GPUS, plan.num_gpus)}
    lines += [
        Line(f"{variable} = {names[helper]}({given.get(variable, '')})", _why(helper))
        for helper, variable in loop.contexts
        if variable
    ]
    return lines


def _empty_lists(loop: Loop, width: int) -> list[Line]:
    """The lists that the towers fill."""
    merges, gradient, collections = loop.border.merges, loop.gradient, loop.collections
    lists = (
        ("TMG104", [merge.towers for merge in merges if _is_listed(loop, merge)]),
        (_why("keep_parts"), [merge.own for merge in merges if merge.own]),
        (_why("weigh_losses"), [merge.how.counts for merge in merges if isinstance(merge.how, border.MaskedMean)]),
        ("TMG101", [gradient.grads] if gradient else []),
        (_why("MergedCollections"), [collections.weights] if collections else []),
    )
    why = ",".join(code for code, kept in lists if kept)
    return _bindings([(name, "[]") for _, kept in lists for name in kept], why, width)


def _saved(plan: Plan, loop: Loop, width: int) -> list[Line]:
    """Lines before the loop that save the values of names that mean something else inside it."""
    saved = [(one.saved, one.place) for cut in loop.border.cuts for one in cut.inputs]
    bound = sorted(loop.border.bound, key=lambda one: _place(one, SAVED))
    saved += [(one.saved, _source(plan, loop, one)) for one in bound if one not in _early(loop)]
    own = [(name, value) for name, value in saved if name.isidentifier()]  # parts of a tuple or list are saved with it
    room = width - len(STEP) if plan.one_gpu else width
    packed = [(cut.lists[0], [one.place for one in cut.inputs]) for cut in loop.border.cuts if cut.lists]
    lists = [line for name, places in packed for line in _packed(name, places, _bound(loop), room)]
    return lists + _bindings(own, _bound(loop), width)


def _early(loop: Loop) -> list[border.Reset]:
    """What is kept in front of blocks that are opened in front of the loop."""
    return [one for one in loop.border.bound if isinstance(one, border.Reset) and one.early]


def _source(plan: Plan, loop: Loop, one: border.Bound) -> str:
    """The expression for what is kept of a place's value in front of the loop."""
    match one:
        case border.Reset():
            return one.source or KEPT[one.how].format(one.place, list=_builtin(plan, loop, "list"))
        case border.CutOptional() | border.Keep():
            return one.source or one.place
    return one.place


def _rows(items: Sequence[str], room: int) -> list[tuple[int, list[str]]]:
    """Items in rows that are no longer than the room, with commas between; each row with the place of its first."""
    rows: list[tuple[int, list[str]]] = []
    for place, item in enumerate(items):
        if rows and len(", ".join([*rows[-1][1], item])) <= room:
            rows[-1][1].append(item)
        else:
            rows.append((place, [item]))
    return rows


def _packed(name: str, items: Sequence[str], why: str, width: int) -> list[Line]:
    """A list of many items under a name, in as many statements as the width asks for."""
    rows = _rows(items, width - len(f"{name} += []"))
    return [Line(f"{name} {'+=' if place else '='} [{', '.join(row)}]", why) for place, row in rows]


def _unpacked(targets: Sequence[str], source: str, why: str, width: int) -> list[Line]:
    """The parts of a list under their names, in as many statements as the width asks for."""
    if len(whole := f"{', '.join(targets)} = {source}") <= width:
        return [Line(whole, why)]
    lines = []
    for place, row in _rows(targets, width - len(f" = {source}[10:20]")):
        part = f"{place}:{place + len(row)}" if len(row) > 1 else str(place)
        lines.append(Line(f"{', '.join(row)} = {source}[{part}]", why))
    return lines


def _bound(loop: Loop) -> str:
    """The rules for which names mean the shard inside the loop and the batch outside."""
    codes = {**CODES, border.Keep: _why("part_of_tower")}
    found = [one for one in loop.border.shards if not isinstance(one, border.Cut) or one.inputs]
    entering = [*found, *(one for one in loop.border.bound if one not in _early(loop))]
    return ",".join(sorted({codes[type(one)] for one in entering if type(one) in codes}))


def _why(helper: str) -> str:
    return catalog()[helper].why


def _headers(plan: Plan, loop: Loop, names: dict[str, str], width: int) -> list[Line]:
    tf, gpu = plan.tensorflow, loop.gpu
    entries = [f"{variable}.tower" if variable else names[helper] for helper, variable in loop.contexts]
    items = (
        [f"{names['enter_tower']}({', '.join([gpu, names['tower_device'], *entries])})"]
        if plan.one_gpu
        else [
            f"{tf}.device({names['tower_device']}({gpu}))",
            f"{tf}.name_scope('tower_%d' % {gpu})",
            f"{tf}.variable_scope({tf}.get_variable_scope(), reuse={gpu} > 0)",
            *(
                f"{variable}.tower({gpu})" if variable else f"{names[helper]}({gpu})"
                for helper, variable in loop.contexts
            ),
        ]
    )
    lines = [f"with {items[0]}"]
    for item in items[1:]:
        if len(lines[-1]) + len(item) + 4 <= width - len(STEP):
            lines[-1] += f", {item}"
        else:
            lines[-1] += ", \\"
            lines.append(f"{STEP}{STEP}{item}")
    taken = "TMG101" if loop.gradient is not None else "TMG102"
    known = (taken, *((_why("enter_tower"),) if plan.one_gpu else ()), _why("tower_device"))
    entered = dict.fromkeys((*known, *(_why(helper) for helper, _ in loop.contexts)))
    return [
        Line(f"{LOOP}\nfor {gpu} in {_builtin(plan, loop, 'range')}({plan.num_gpus}):", taken),
        Line("\n".join(lines) + ":", ",".join(entered)),
    ]


def _above(plan: Plan, loop: Loop, names: dict[str, str], width: int) -> list[Line]:
    bound = [one for one in loop.border.bound if one not in _early(loop)]
    entering = sorted((*loop.border.shards, *bound), key=_turn)
    first = sum(_turn(one) < len(ENTERED) for one in entering)
    lines = [_entered(plan, loop, one, names, width) for one in entering]
    unset = [merge.place for merge in loop.border.merges if merge.guard and merge.guard.unset]
    lines[first:first] = [[Line(f"{place} = None", "TMG104")] for place in unset]
    return [line for group in lines for line in group]


def _turn(one: border.Shard | border.Bound) -> int:
    """The place among a tower's first lines; lists and dicts have their contents before shards are put into them."""
    return -1 if isinstance(one, border.Reset) and one.how in ("list", "dict") else _place(one, ENTERED)


def _place(one: object, order: Sequence[type | UnionType]) -> int:
    """Which of some kinds something is of, as an index; behind the last one if it is of none."""
    return next((place for place, kind in enumerate(order) if isinstance(one, kind)), len(order))


def _entered(plan: Plan, loop: Loop, one: border.Shard | border.Bound, names: dict[str, str], width: int) -> list[Line]:
    """The lines with which a tower begins, for what it reads in place of a value from before the loop."""
    match one:
        case border.Cut():
            return _cut(loop, one, names, width)
        case border.Drawn(rows, total, helper):
            drawn = f"{names[helper]}({total.replace(border.NUM_GPUS, plan.num_gpus)}, {loop.gpu})"
            return [Line(f"{rows.number}, {rows.weight} = {drawn}", _why(helper))]
        case border.Resize():
            return [Line(f"{one.name or one.place} = {_size(plan, loop, one, names)}", "TMG108")]
        case border.Keep(place, saved, source):
            part = f"{place} = {names['part_of_tower']}({saved}, {loop.gpu})"
            return [Line(_if_there(saved, part) if source else part, _why("part_of_tower"))]
        case border.Remake(place, _, text):
            return [Line(f"{place} = {text}", _why("shard"))]
        case border.CutEach(place, saved, axis, helper):
            part = _tensor(loop, "t", axis, names[helper])
            return [Line(f"{place} = {names['map_structure']}(lambda t: {part}, {saved})", _why(helper))]
        case border.CutOptional(place, saved, axis, helper):
            part = _tensor(loop, saved, axis, names[helper])
            return [Line(_if_there(saved, f"{place} = {part}"), _why(helper))]
        case border.Reset() | border.Remove():
            return _reset(plan, loop, one)
    return []


def _cut(loop: Loop, cut: border.Cut, names: dict[str, str], width: int) -> list[Line]:
    """Inputs that are cut together, their rows and weight; with many, their parts get names on lines of their own."""
    places = [one.place for one in cut.all]
    axes = f"[{', '.join(str(one.axis) for one in cut.all)}], " if any(one.axis for one in cut.all) else ""
    whole = cut.lists[0] if cut.lists else f"[{', '.join(one.saved for one in cut.all)}]"
    made = f"{cut.rows.number}, {cut.rows.weight} = {names[cut.helper]}({whole}, {axes}{loop.gpu})"
    target = f"({', '.join(places)})" if len(places) > 1 else f"({places[0]},)"
    why = _why(cut.helper)
    if cut.lists and len(f"{target}, {made}") > width:
        return [Line(f"{cut.lists[1]}, {made}", why), *_unpacked(places, cut.lists[1], why, width)]
    return [Line(f"{target}, {made}", why)]


def _tensor(loop: Loop, whole: str, axis: int, helper: str) -> str:
    """A tower's part of a single tensor."""
    return f"{helper}([{whole}], {f'[{axis}], ' if axis else ''}{loop.gpu})[0][0]"


def _size(plan: Plan, loop: Loop, size: border.Resize, names: dict[str, str]) -> str:
    """The batch size of one shard: a number of Python, or one that is counted where it was fed."""
    if size.rows_of is None:
        return f"{names['shard_size']}({size.saved}, {loop.gpu})"
    shard, axis, dtype = size.rows_of
    given = f"{shard}, out_type={plan.tensorflow}.{dtype}" if dtype != "int32" else shard
    return f"{plan.tensorflow}.shape({given})[{axis}]"


def _reset(plan: Plan, loop: Loop, one: border.Reset | border.Remove) -> list[Line]:
    """The lines that reset a place, a list or a dict to its value from before the loop."""
    place, saved = one.place, one.saved
    if isinstance(one, border.Remove):
        holder, _, name = place.rpartition(".")
        return [Line(f"{holder}.__dict__.pop({name!r}, None)  # each tower makes its own", "TMG131")]
    lines = {
        "value": [_if_there(saved, f"{place} = {saved}") if one.source else f"{place} = {saved}"],
        "list": [f"{place}[:] = {saved}"],
        "dict": [f"{place}.clear()", f"{place}.update({saved})"],
        "iterator": [f"{place} = {_builtin(plan, loop, 'iter')}({saved})"],
    }
    return [Line(line, "TMG131") for line in lines[one.how]]


def _below(plan: Plan, loop: Loop, names: dict[str, str]) -> list[Line]:
    handed = [shard for shard in loop.border.shards if isinstance(shard, border.HandedOut)]
    shares = [(one, f"{loop.handing.name}.share({one.place})") for one in handed]
    lines = [Line(f"{one.rows.number}, {one.rows.weight} = {share}", _why(one.helper)) for one, share in shares]
    if (collections := loop.collections) is not None:
        lines.append(Line(f"{collections.weights}.append({collections.weight})", _why("MergedCollections")))
    return lines + [line for merge in loop.border.merges for line in _appended(plan, loop, merge, names)]


def _appended(plan: Plan, loop: Loop, merge: border.Merge, names: dict[str, str]) -> list[Line]:
    """The lines with which a tower adds its part of a value to the towers' list, and takes the gradients of a loss."""
    lines: list[Line] = []
    part, gradient = _part(plan, loop, merge, names), loop.gradient if merge.loss else None
    if merge.loss and merge.loss.written:
        lines.append(Line(f"{merge.place} = {merge.loss.written}", "TMG101" if gradient else "TMG102"))
    if gradient:
        computed = f"{gradient.optimizer}.compute_gradients({part})"
        lines.append(Line(f"{gradient.grads}.append({computed})", "TMG101"))
    made = f"if {merge.guard.test}:\n    " if merge.guard and not gradient else ""
    if _is_listed(loop, merge):
        lines.append(Line(f"{made}{merge.towers}.append({part})", _why_merged(merge)))
    if merge.own:
        lines.append(Line(f"{merge.own}.append({merge.place})", _why("keep_parts")))
    if isinstance(merge.how, border.MaskedMean):
        count = _count(plan.tensorflow, merge.how)
        lines.append(Line(f"{made}{merge.how.counts}.append({count})", _why("weigh_losses")))
    return lines


def _is_listed(loop: Loop, merge: border.Merge) -> bool:
    """Whether the towers' parts are kept in a list: of a loss, gradients in the loop need none."""
    return merge.merged or loop.gradient is None


def _count(tf: str, mean: border.MaskedMean) -> str:
    """The denominator of a tower's masked mean; 0 for a tower without rows, which computes on one row."""
    count = f"{tf}.cast({mean.count}, {tf}.float32)"
    if mean.per_row:
        return f"{count} * {mean.rows.weight}"
    return count if mean.rows.known == "fixed" else f"{count} * {tf}.sign({mean.rows.weight})"


def _part(plan: Plan, loop: Loop, merge: border.Merge, names: dict[str, str]) -> str:
    """A tower's part of a merged value, or of each tensor of a structure that is merged."""
    structure = merge.structure
    if structure is None or isinstance(merge.how, border.Shown):
        return _share(plan.tensorflow, merge, merge.place)
    name = structure.each[0] if structure.each else "t"
    share = _share(plan.tensorflow, merge, name)
    if structure.each:
        whole = f"{_builtin(plan, loop, 'list')}({merge.place})"
        return whole if share == name else f"[{share} for {name} in {merge.place}]"
    as_it_is = share == name and not structure.kept
    return merge.place if as_it_is else f"{names['map_structure']}(lambda t: {share}, {merge.place})"


def _share(tf: str, merge: border.Merge, text: str) -> str:
    """A tower's part of one tensor: its rows, or its share of a mean or a sum."""
    match merge.how:
        case border.Fed(rows) | border.Shown(rows):
            return f"({text}, {rows.number}, {rows.weight})"
        case border.Mean(rows, cast):
            return f"{text} * {tf}.cast({rows.weight}, {text}.dtype)" if cast else f"{text} * {rows.weight}"
        case border.Sum(rows) if rows.known != "fixed":
            return f"{text} * {tf}.cast({tf}.minimum({rows.number}, 1), {text}.dtype)"
        case border.Concat(rows, axis, packed) if rows.known != "fixed":
            end = f"{tf}.shape({text})[{axis}] * {tf}.minimum({rows.number}, 1)" if packed else rows.number
            return f"{text}[{':, ' * axis}:{end}]"
    return text


def _epilogue(plan: Plan, loop: Loop, names: dict[str, str], width: int) -> list[Line]:
    counters = [variable for helper, variable in loop.contexts if helper == "LayerNames"]
    lines = [Line(f"{variable}.resume()", _why("LayerNames")) for variable in counters]
    lines += [Line(line, "TMG123") for line in loop.reused]
    lines += _restored(plan, loop, width)
    whole = [(test, f"{place} = {loop.handing.whole(place)}") for place, test in loop.handing.guarded]
    lines += [Line(f"if {test}:\n    {line}", _why("TowerInputs")) for test, line in whole]
    lines += _merged_values(plan, loop, names)
    lines += _dropped(loop, width)
    kept = loop.collections
    merged = [f"{kept.held}.merge({key}, {kept.weights})" for key in kept.keys] if kept else []
    return lines + [Line(line, _why("MergedCollections")) for line in merged]


def _merged_values(plan: Plan, loop: Loop, names: dict[str, str]) -> list[Line]:
    """The lines that put merged values in their places, and rebuild tuples that hold such."""
    merges = [merge for merge in loop.border.merges if merge.merged]
    masked = [(m, m.how.counts) for m in loop.border.merges if isinstance(m.how, border.MaskedMean)]
    weighed = [(m, f"{m.towers} = {names['weigh_losses']}({m.towers}, {counts})") for m, counts in masked]
    lines = [Line(_if_made(merge, line), _why("weigh_losses")) for merge, line in weighed]
    values = {f"{{{merge.towers}}}": _with_parts(plan, merge, loop, names) for merge in merges}
    rebuilt = " ".join(rebuild.text for rebuild in loop.border.rebuilds)
    for merge in merges:
        mark = f"{{{merge.towers}}}"
        if mark not in rebuilt and not _is_late(merge):
            lines.append(Line(_if_made(merge, _put(merge, values[mark])), _why_merged(merge)))
    for rebuild in loop.border.rebuilds:
        text = rebuild.text
        for mark, value in values.items():
            text = text.replace(mark, value)
        lines.append(Line(f"{rebuild.place} = {text}", "TMG104"))
    return lines


def _if_made(merge: border.Merge, line: str) -> str:
    """A line about a value, under the condition that some tower has made it, if it need not be made."""
    return f"if {merge.towers}:\n    {line}" if merge.guard else line


def _why_merged(merge: border.Merge) -> str:
    """The rule by which a value is merged, or handed on to a later loop."""
    helper = {border.Handed: "hand_on", border.Fed: "merge_fed"}.get(type(merge.how))
    return _why(helper) if helper else "TMG104"


def _restored(plan: Plan, loop: Loop, width: int) -> list[Line]:
    """Assignments that give names back the values that they had before the loop; a list of batches is unpacked."""
    restore = {place: saved.replace(border.NUM_GPUS, plan.num_gpus) for place, saved in loop.border.restore}
    lines = list[Line]()
    room = width - len(STEP) if plan.one_gpu else width
    for cut in loop.border.cuts:
        if cut.lists and all(restore.get(one.place) == one.saved for one in cut.inputs):
            places = [one.place for one in cut.inputs]
            lines += _unpacked(places, cut.lists[0], _bound(loop), room)
            restore = {place: saved for place, saved in restore.items() if place not in places}
    optional = [one for one in loop.border.bound if isinstance(one, border.CutOptional | border.Keep)]
    unset = {one.place: one.saved for one in optional if one.source not in ("", one.place)}
    lines += _bindings([pair for pair in restore.items() if pair[0] not in unset], _bound(loop), width)
    there = [(unset[place], f"{place} = {saved}") for place, saved in restore.items() if place in unset]
    return lines + [Line(_if_there(saved, line), _bound(loop)) for saved, line in there]


def _if_there(saved: str, line: str) -> str:
    """A line about a tensor, under the condition that it is there."""
    return f"if {saved} is not None:\n    {line}"


def _late(plan: Plan, loop: Loop, names: dict[str, str]) -> list[Line]:
    """Losses whose places a repeated statement has written: what was minimised is put there again."""
    return [Line(_put(m, _with_parts(plan, m, loop, names)), "TMG104") for m in loop.border.merges if _is_late(m)]


def _is_late(merge: border.Merge) -> bool:
    return merge.loss is not None and merge.loss.late


def _dropped(loop: Loop, width: int) -> list[Line]:
    """Statements that delete what each tower has set for itself, no longer than the width."""
    statements: list[str] = []
    for text in loop.dropped:
        if statements and len(statements[-1]) + len(text) + 2 <= width:
            statements[-1] += f", {text}"
        else:
            statements.append(f"del {text}")
    if statements:
        read = "reads it" if len(loop.dropped) == 1 else "reads them"
        statements[0] = f"# each tower has its own, and nothing {read}\n{statements[0]}"
    return [Line(statement, "TMG142") for statement in statements]


def _put(merge: border.Merge, value: str) -> str:
    """The statement that puts a merged value where it is read."""
    kept = merge.structure.kept if merge.structure else None
    if kept == "dict":
        return f"{merge.place}.update({value})"
    return f"{merge.place}[:] = {value}" if kept else f"{merge.place} = {value}"


def _with_parts(plan: Plan, merge: border.Merge, loop: Loop, names: dict[str, str]) -> str:
    """The expression for a merged value, with what it carries along.

    Each tower's part, if a later loop goes on with that; the towers' losses, if another function minimises it.
    """
    merged = _merged(plan, merge, loop, names)
    if merge.losses:
        merged = f"{names['keep_losses']}({merged}, {merge.losses})"
    return f"{names['keep_parts']}({merged}, {merge.own})" if merge.own else merged


def _merged(plan: Plan, merge: border.Merge, loop: Loop, names: dict[str, str]) -> str:
    """The expression that puts the towers' parts together."""
    structure = merge.structure
    match merge.how:
        case border.First():
            return f"{merge.towers}[0]"
        case border.Handed():
            return f"{names['hand_on']}({merge.towers})"
        case border.Shown() if structure and merge.name == border.AS_ON_ONE_GPU:
            return f"{names['merge_shown']}({merge.towers}, name={names['plain_name']})"
        case border.Shown():
            return f"{names['merge_shown']}({merge.towers}{_named(merge, merge.place, names)})"
    if structure is None:
        return _joined(plan, merge, merge.place, merge.towers, names)
    one, parts = structure.each or ("t", "parts")
    made, renamed = _joined(plan, merge, one, parts, names), merge.name == border.AS_ON_ONE_GPU
    if structure.each:
        zipped = _builtin(plan, loop, "zip")
        pairs = f"{one}, {parts} in {zipped}({merge.place}, {zipped}(*{merge.towers}))"
        return f"[{made} for {pairs if renamed else f'{parts} in {zipped}(*{merge.towers})'}]"
    taken, given = ("t, ", f"{merge.place}, ") if renamed else ("", "")  # the last tower's, with the names of one GPU
    return f"{names['map_structure']}(lambda {taken}*parts: {made}, {given}*{merge.towers})"


def _joined(plan: Plan, merge: border.Merge, one: str, parts: str, names: dict[str, str]) -> str:
    """The towers' parts of one tensor, put together; `one` is the expression for the last tower's."""
    tf, named = plan.tensorflow, _named(merge, one, names)
    match merge.how:
        case border.Fed():
            return f"{names['merge_fed']}({parts}{named})"
        case border.Concat(axis=axis, steps=steps):
            joined = f"{names['concat_steps'] if steps else f'{tf}.concat'}({parts}, {axis})"
            return (
                f"{tf}.identity({joined}{named})" if named else joined
            )  # tf.concat names a single tower's differently
    added = names["merge_loss"] if merge.loss and merge.loss.carried else f"{tf}.add_n"
    return f"{added}({parts}{named})"


def _named(merge: border.Merge, one: str, names: dict[str, str]) -> str:
    """The argument that names a merged tensor, if the script has named it, or asks for the name of the tensor `one`."""
    if merge.name == border.AS_ON_ONE_GPU:
        return f", name={names['plain_name']}({one})"
    return f", name={merge.name!r}" if merge.name and merge.structure is None else ""
