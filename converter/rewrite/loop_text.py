"""The text of the tower loop: what comes before it, its head, and what comes after."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from converter.dataclass import dataclass
from converter.plan import NUM_GPUS, Loop, Nest, Plan, Rebind, Reset, Shard
from converter.plan.border import AS_ON_ONE_GPU, Concat, Fed, First, Handed, MaskedMean, Mean, Merge, Shown, Sum
from converter.runtime.catalog import catalog

STEP = "    "
LOOP = "# Each GPU computes its share of the batch."
BEHIND = "# From here on: the whole batch."
KEPT = {"value": "{}", "list": "{list}({})", "dict": "{}.copy()", "iterator": "{list}({})"}  # what is kept for a Reset


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
        early=_bindings([(r.saved, _kept(plan, loop, r)) for r in loop.resets if r.early], "TMG131", width),
        prelude=_prelude(plan, loop, names, width),
        saved=_saved(plan, loop, width) if plan.one_gpu else [],
        headers=_headers(plan, loop, names, width),
        anew=_resets(plan, loop, [reset for reset in loop.resets if reset.early]),
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
    lists = [m.towers for m in loop.merges if _is_listed(loop, m)]
    why = ["TMG104"] if lists else []
    own = [m.own for m in loop.merges if m.own]
    if own:
        lists += own
        why.append(_why("keep_parts"))
    counts = [m.how.counts for m in loop.merges if isinstance(m.how, MaskedMean)]
    if counts:
        lists += counts
        why.append(_why("weigh_losses"))
    if loop.gradient is not None:
        lists.append(loop.gradient.grads)
        why.append("TMG101")
    if loop.collections[0]:
        lists.append(loop.collections[1])
        why.append(_why("MergedCollections"))
    if loop.kept:
        lists += loop.kept
        why.append("TMG131")
    lines += _bindings([(name, "[]") for name in lists], ",".join(why), width)
    given = {loop.handing.name: loop.handing.arguments.replace(NUM_GPUS, plan.num_gpus)}
    lines += [
        Line(f"{variable} = {names[helper]}({given.get(variable, '')})", _why(helper))
        for helper, variable in loop.contexts
        if variable
    ]
    return lines


def _saved(plan: Plan, loop: Loop, width: int) -> list[Line]:
    """Lines before the loop that save the values of names that mean something else inside it."""
    saved = [
        (s, p) for shard in loop.shards for s, p in zip(shard.saved, shard.places, strict=True) if s.isidentifier()
    ]
    saved += [(r.saved, r.place) for r in loop.regroups]  # parts of a tuple are saved with it
    saved += [(n.saved, n.optional or n.place) for n in loop.nests] + [
        (r.saved, r.optional or r.place) for r in loop.rebinds if not r.name
    ]
    saved += [(r.saved, _kept(plan, loop, r)) for r in loop.resets if r.saved and not r.early]
    room = width - len(STEP) if plan.one_gpu else width
    lists = [line for s in loop.shards if s.together for line in _packed(s.together, s.places, _bound(loop), room)]
    return lists + _bindings(saved, _bound(loop), width)


def _kept(plan: Plan, loop: Loop, reset: Reset) -> str:
    """The expression for what is kept of a place's value."""
    return KEPT[reset.how].format(reset.place, list=_builtin(plan, loop, "list"))


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
    cut = (*(s for s in loop.shards if s.places), *loop.nests)
    reset = [r for r in loop.resets if r.saved and not r.early]
    handed = [s for s in loop.shards if s.handed]
    carried = [r for r in loop.rebinds if r.carried]
    numbers = [r for r in loop.rebinds if not r.carried]
    own = (_why("part_of_tower"), carried)
    kinds = (("TMG103", cut), ("TMG108", numbers), ("TMG124", handed), ("TMG131", reset), own)
    return ",".join(code for code, kept in kinds if kept)


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
    anew = [reset for reset in loop.resets if not reset.early]
    held = [reset for reset in anew if reset.how in ("list", "dict")]  # in front of what is put into them: a shard
    lines = _resets(plan, loop, held)
    for shard in loop.shards:
        if shard.drawn is not None or shard.handed:
            continue
        name, source, axis = shard.lead or ("", "", 0)
        lead = 1 if shard.lead else 0
        places, saved = (name,) * lead + shard.places, (source,) * lead + shard.saved
        numbers = (axis,) * lead + shard.axes
        target = f"({', '.join(places)})" if len(places) > 1 else f"({places[0]},)"
        axes = f"[{', '.join(map(str, numbers))}], " if any(numbers) else ""
        whole = shard.together or f"[{', '.join(saved)}]"
        cut = f"{names[shard.helper]}({whole}, {axes}{loop.gpu})"
        cuts = f"{target}, {shard.rows}, {shard.weight} = {cut}"
        if shard.together and len(cuts) > width:
            cuts = f"{shard.parts}, {shard.rows}, {shard.weight} = {cut}"
            lines += [Line(cuts, _why(shard.helper)), *_unpacked(shard.places, shard.parts, _why(shard.helper), width)]
        else:
            lines.append(Line(cuts, _why(shard.helper)))
    lines += [_size(plan, loop, rebind, names) for rebind in loop.rebinds]
    lines += [Line(f"{r.place} = {r.text}", _why("shard")) for r in loop.regroups]
    for nest in loop.nests:
        axes = f"[{nest.axis}], " if nest.axis else ""
        helper = nest.helper
        if nest.optional:
            cut = f"{nest.place} = {names[helper]}([{nest.saved}], {axes}{loop.gpu})[0][0]"
            lines.append(Line(_if_there(nest, cut), _why(helper)))
            continue
        cut = f"{names[helper]}([t], {axes}{loop.gpu})[0][0]"
        each = f"{nest.place} = {names['map_structure']}(lambda t: {cut}, {nest.saved})"
        lines.append(Line(each, _why(helper)))
    lines += [_drawn(plan, loop, shard, names) for shard in loop.shards if shard.drawn is not None]
    lines += [Line(f"{merge.place} = None", "TMG104") for merge in loop.merges if merge.guard and merge.guard.unset]
    return lines + _resets(plan, loop, [reset for reset in anew if reset not in held])


def _resets(plan: Plan, loop: Loop, resets: Sequence[Reset]) -> list[Line]:
    """The lines with which a tower begins with values from before the loop."""
    return [Line(line, "TMG131") for reset in resets for line in _reset(plan, loop, reset)]


def _size(plan: Plan, loop: Loop, rebind: Rebind, names: dict[str, str]) -> Line:
    """What a rebound place means in a tower: the batch size of one shard, or what the tower made in an earlier loop.

    The size is a number of Python, or one that is counted where it was fed.
    """
    if rebind.carried:
        part = f"{rebind.place} = {names['part_of_tower']}({rebind.saved}, {loop.gpu})"
        return Line(_if_there(rebind, part), _why("part_of_tower"))
    if rebind.rows_of is None:
        number = f"{names['shard_size']}({rebind.saved}, {loop.gpu})"
    else:
        shard, axis, dtype = rebind.rows_of
        given = f"{shard}, out_type={plan.tensorflow}.{dtype}" if dtype != "int32" else shard
        number = f"{plan.tensorflow}.shape({given})[{axis}]"
    return Line(f"{rebind.name or rebind.place} = {number}", "TMG108")


def _drawn(plan: Plan, loop: Loop, shard: Shard, names: dict[str, str]) -> Line:
    """How many rows a tower draws, and its weight."""
    assert shard.drawn is not None
    size, whole = shard.drawn
    total = size if whole else f"{size} * {plan.num_gpus}"
    counted = f"{names[shard.helper]}({total}, {loop.gpu})"
    return Line(f"{shard.rows}, {shard.weight} = {counted}", _why(shard.helper))


def _reset(plan: Plan, loop: Loop, reset: Reset) -> list[str]:
    """The line that resets a place, a list or a dict to its value from before the loop."""
    place, saved = reset.place, reset.saved
    if reset.how == "absent":
        holder, _, name = place.rpartition(".")
        return [f"{holder}.__dict__.pop({name!r}, None)  # each tower makes its own"]
    if reset.how == "dict":
        return [f"{place}.clear()", f"{place}.update({saved})"]
    if reset.how == "iterator":
        return [f"{place} = {_builtin(plan, loop, 'iter')}({saved})"]
    return [f"{place}[:] = {saved}" if reset.how == "list" else f"{place} = {saved}"]


def _below(plan: Plan, loop: Loop, names: dict[str, str]) -> list[Line]:
    lines = [
        Line(f"{shard.rows}, {shard.weight} = {loop.handing.name}.share({shard.handed})", _why(shard.helper))
        for shard in loop.shards
        if shard.handed
    ]
    if loop.collections[0]:
        lines.append(Line(f"{loop.collections[1]}.append({loop.collections[2]})", _why("MergedCollections")))
    return lines + [line for merge in loop.merges for line in _appended(plan, loop, merge, names)]


def _appended(plan: Plan, loop: Loop, merge: Merge, names: dict[str, str]) -> list[Line]:
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
    if isinstance(merge.how, MaskedMean):
        count = _count(plan.tensorflow, merge.how)
        lines.append(Line(f"{made}{merge.how.counts}.append({count})", _why("weigh_losses")))
    return lines


def _is_listed(loop: Loop, merge: Merge) -> bool:
    """Whether the towers' parts are kept in a list: of a loss, gradients in the loop need none."""
    return merge.merged or loop.gradient is None


def _count(tf: str, mean: MaskedMean) -> str:
    """The denominator of a tower's masked mean; 0 for a tower without rows, which computes on one row."""
    count = f"{tf}.cast({mean.count}, {tf}.float32)"
    if mean.per_row:
        return f"{count} * {mean.rows.weight}"
    return count if mean.rows.known == "fixed" else f"{count} * {tf}.sign({mean.rows.weight})"


def _part(plan: Plan, loop: Loop, merge: Merge, names: dict[str, str]) -> str:
    """A tower's part of a merged value, or of each tensor of a structure that is merged."""
    structure = merge.structure
    if structure is None or isinstance(merge.how, Shown):
        return _share(plan.tensorflow, merge, merge.place)
    name = structure.each[0] if structure.each else "t"
    share = _share(plan.tensorflow, merge, name)
    if structure.each:
        whole = f"{_builtin(plan, loop, 'list')}({merge.place})"
        return whole if share == name else f"[{share} for {name} in {merge.place}]"
    as_it_is = share == name and not structure.kept
    return merge.place if as_it_is else f"{names['map_structure']}(lambda t: {share}, {merge.place})"


def _share(tf: str, merge: Merge, text: str) -> str:
    """A tower's part of one tensor: its rows, or its share of a mean or a sum."""
    match merge.how:
        case Fed(rows) | Shown(rows):
            return f"({text}, {rows.number}, {rows.weight})"
        case Mean(rows, cast):
            return f"{text} * {tf}.cast({rows.weight}, {text}.dtype)" if cast else f"{text} * {rows.weight}"
        case Sum(rows) if rows.known != "fixed":
            return f"{text} * {tf}.cast({tf}.minimum({rows.number}, 1), {text}.dtype)"
        case Concat(rows, axis, packed) if rows.known != "fixed":
            end = f"{tf}.shape({text})[{axis}] * {tf}.minimum({rows.number}, 1)" if packed else rows.number
            return f"{text}[{':, ' * axis}:{end}]"
    return text


def _epilogue(plan: Plan, loop: Loop, names: dict[str, str], width: int) -> list[Line]:
    counters = [variable for helper, variable in loop.contexts if helper == "LayerNames"]
    lines = [Line(f"{variable}.resume()", _why("LayerNames")) for variable in counters]
    lines += [Line(line, "TMG123") for line in loop.reused]
    lines += _restored(plan, loop, width)
    lines += [
        Line(f"if {test}:\n    {place} = {loop.handing.name}.whole({place})", _why("TowerInputs"))
        for place, test in loop.handing.given_back
    ]
    for merge in loop.merges:
        if isinstance(merge.how, MaskedMean):
            weighed = f"{names['weigh_losses']}({merge.towers}, {merge.how.counts})"
            where = f"if {merge.towers}:\n    " if merge.guard else ""
            lines.append(Line(f"{where}{merge.towers} = {weighed}", _why("weigh_losses")))
    rebuilt = {towers for rebuild in loop.rebuilds for towers in rebuild.towers}
    values = {merge.towers: _with_parts(plan, merge, loop, names) for merge in loop.merges if merge.merged}
    alone = [m for m in loop.merges if m.merged and m.towers not in rebuilt]
    made = {m.towers: f"if {m.towers}:\n    " if m.guard else "" for m in alone}
    lines += [Line(f"{made[m.towers]}{_put(m, values[m.towers])}", _why_merged(m)) for m in alone if not _is_late(m)]
    for rebuild in loop.rebuilds:
        text = rebuild.text
        for towers in rebuild.towers:
            text = text.replace("{" + towers + "}", values[towers])
        lines.append(Line(f"{rebuild.place} = {text}", "TMG104"))
    lines += _dropped(loop, width)
    kept = next((variable for helper, variable in loop.contexts if helper == "MergedCollections"), "")
    weights = loop.collections[1]
    lines += [Line(f"{kept}.merge({key}, {weights})", _why("MergedCollections")) for key in loop.collections[0]]
    return lines


def _why_merged(merge: Merge) -> str:
    """The rule by which a value is merged, or handed on to a later loop."""
    helper = {Handed: "hand_on", Fed: "merge_fed"}.get(type(merge.how))
    return _why(helper) if helper else "TMG104"


def _restored(plan: Plan, loop: Loop, width: int) -> list[Line]:
    """Assignments that give names back the values that they had before the loop; a list of batches is unpacked."""
    restore = {place: saved.replace(NUM_GPUS, plan.num_gpus) for place, saved in loop.restore}
    lines = list[Line]()
    room = width - len(STEP) if plan.one_gpu else width
    for shard in loop.shards:
        if shard.together and all(restore.get(p) == s for p, s in zip(shard.places, shard.saved, strict=True)):
            lines += _unpacked(shard.places, shard.together, _bound(loop), room)
            restore = {place: saved for place, saved in restore.items() if place not in shard.places}
    optional: list[Nest | Rebind] = [*loop.nests, *loop.rebinds]
    unset = {one.place: one for one in optional if one.optional not in ("", one.place)}
    lines += _bindings([pair for pair in restore.items() if pair[0] not in unset], _bound(loop), width)
    lines += [
        Line(_if_there(unset[place], f"{place} = {saved}"), _bound(loop))
        for place, saved in restore.items()
        if place in unset
    ]
    return lines


def _if_there(one: Nest | Rebind, line: str) -> str:
    """A line about a tensor, under the condition that it is there if it need not be."""
    return f"if {one.saved} is not None:\n    {line}" if one.optional else line


def _late(plan: Plan, loop: Loop, names: dict[str, str]) -> list[Line]:
    """Losses whose places a repeated statement has written: what was minimised is put there again."""
    return [Line(_put(m, _with_parts(plan, m, loop, names)), "TMG104") for m in loop.merges if _is_late(m)]


def _is_late(merge: Merge) -> bool:
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


def _put(merge: Merge, value: str) -> str:
    """The statement that puts a merged value where it is read."""
    kept = merge.structure.kept if merge.structure else None
    if kept == "dict":
        return f"{merge.place}.update({value})"
    return f"{merge.place}[:] = {value}" if kept else f"{merge.place} = {value}"


def _with_parts(plan: Plan, merge: Merge, loop: Loop, names: dict[str, str]) -> str:
    """The expression for a merged value, with what it carries along.

    Each tower's part, if a later loop goes on with that; the towers' losses, if another function minimises it.
    """
    merged = _merged(plan, merge, loop, names)
    if merge.losses:
        merged = f"{names['keep_losses']}({merged}, {merge.losses})"
    return f"{names['keep_parts']}({merged}, {merge.own})" if merge.own else merged


def _merged(plan: Plan, merge: Merge, loop: Loop, names: dict[str, str]) -> str:
    """The expression that puts the towers' parts together."""
    structure = merge.structure
    match merge.how:
        case First():
            return f"{merge.towers}[0]"
        case Handed():
            return f"{names['hand_on']}({merge.towers})"
        case Shown() if structure and merge.name == AS_ON_ONE_GPU:
            return f"{names['merge_shown']}({merge.towers}, name={names['plain_name']})"
        case Shown():
            return f"{names['merge_shown']}({merge.towers}{_named(merge, merge.place, names)})"
    if structure is None:
        return _joined(plan, merge, merge.place, merge.towers, names)
    one, parts = structure.each or ("t", "parts")
    made, renamed = _joined(plan, merge, one, parts, names), merge.name == AS_ON_ONE_GPU
    if structure.each:
        zipped = _builtin(plan, loop, "zip")
        pairs = f"{one}, {parts} in {zipped}({merge.place}, {zipped}(*{merge.towers}))"
        return f"[{made} for {pairs if renamed else f'{parts} in {zipped}(*{merge.towers})'}]"
    taken, given = ("t, ", f"{merge.place}, ") if renamed else ("", "")  # the last tower's, with the names of one GPU
    return f"{names['map_structure']}(lambda {taken}*parts: {made}, {given}*{merge.towers})"


def _joined(plan: Plan, merge: Merge, one: str, parts: str, names: dict[str, str]) -> str:
    """The towers' parts of one tensor, put together; `one` is the expression for the last tower's."""
    tf, named = plan.tensorflow, _named(merge, one, names)
    match merge.how:
        case Fed():
            return f"{names['merge_fed']}({parts}{named})"
        case Concat(axis=axis, steps=steps):
            joined = f"{names['concat_steps'] if steps else f'{tf}.concat'}({parts}, {axis})"
            return (
                f"{tf}.identity({joined}{named})" if named else joined
            )  # tf.concat names a single tower's differently
    added = names["merge_loss"] if merge.loss and merge.loss.carried else f"{tf}.add_n"
    return f"{added}({parts}{named})"


def _named(merge: Merge, one: str, names: dict[str, str]) -> str:
    """The argument that names a merged tensor, if the script has named it, or asks for the name of the tensor `one`."""
    if merge.name == AS_ON_ONE_GPU:
        return f", name={names['plain_name']}({one})"
    return f", name={merge.name!r}" if merge.name and merge.structure is None else ""
