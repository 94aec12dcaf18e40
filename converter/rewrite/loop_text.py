"""The text of the tower loop: what comes before it, its head, and what comes after."""

from __future__ import annotations

from dataclasses import dataclass

from converter.plan import Loop, Merge, Plan, Shard

STEP = "    "


@dataclass(frozen=True)
class LoopText:
    """Lines without indentation, in the order of the script.

    prelude: before the loop. headers: of the loop. above and below: in it, around the towers'
    statements. epilogue: after it.
    """

    prelude: list[str]
    headers: list[str]
    above: list[str]
    below: list[str]
    epilogue: list[str]


def loop_text(plan: Plan, loop: Loop, width: int) -> LoopText:
    """The loop in the script's own names."""
    name = dict(plan.helpers)
    names = {plain: given for helper, given in name.items() for plain in (helper, _plain(helper))}
    return LoopText(
        _prelude(loop, names),
        _headers(plan, loop, names, width),
        _above(loop, names),
        _below(plan, loop),
        _epilogue(plan, loop, names),
    )


def _plain(helper: str) -> str:
    return helper.removesuffix("_gpu_0").removesuffix("_balanced")


def _prelude(loop: Loop, names: dict[str, str]) -> list[str]:
    lines = []
    if loop.gradient is not None and loop.gradient.create:
        lines.append(f"{loop.gradient.optimizer} = {loop.gradient.create}")
    saved = [(s, p) for shard in loop.shards for s, p in zip(shard.saved, shard.places, strict=True)]
    saved += [(r.saved, r.place) for r in loop.rebinds]
    if saved:
        lines.append(f"{', '.join(s for s, _ in saved)} = {', '.join(p for _, p in saved)}")
    lists = [m.towers for m in loop.merges if m.merged or loop.gradient is None]
    if loop.gradient is not None:
        lists.append(loop.gradient.grads)
    if lists:
        lines.append(f"{', '.join(lists)} = {', '.join('[]' for _ in lists)}")
    lines += [f"{variable} = {names[helper]}()" for helper, variable in loop.contexts if variable]
    if loop.layer_names:
        lines.append(f"{loop.layer_names} = {names['LayerNames']}()")
    return lines


def _headers(plan: Plan, loop: Loop, names: dict[str, str], width: int) -> list[str]:
    tf, gpu = plan.tensorflow, loop.gpu
    items = [
        f"{tf}.device({names['tower_device']}({gpu}))",
        f"{tf}.name_scope('tower_%d' % {gpu})",
        f"{tf}.variable_scope({tf}.get_variable_scope(), reuse={gpu} > 0)",
        *(f"{variable}.tower({gpu})" if variable else f"{names[helper]}({gpu})" for helper, variable in loop.contexts),
    ]
    lines = [f"with {items[0]}"]
    for item in items[1:]:
        if len(lines[-1]) + len(item) + 4 <= width - len(STEP):
            lines[-1] += f", {item}"
        else:
            lines[-1] += ", \\"
            lines.append(f"{STEP}{STEP}{item}")
    return [f"for {gpu} in range({plan.num_gpus}):", "\n".join(lines) + ":"]


def _above(loop: Loop, names: dict[str, str]) -> list[str]:
    lines = []
    for shard in loop.shards:
        places, saved = ", ".join(shard.places), ", ".join(shard.saved)
        target = f"({places})" if len(shard.places) > 1 else f"({places},)"
        helper = ("shard_static" if shard.static else "shard") + ("_along" if any(shard.axes) else "")
        axes = f"[{', '.join(map(str, shard.axes))}], " if any(shard.axes) else ""
        lines.append(f"{target}, {shard.rows}, {shard.weight} = {names[helper]}([{saved}], {axes}{loop.gpu})")
    lines += [f"{r.place} = {names['shard_size']}({r.saved}, {loop.gpu})" for r in loop.rebinds]
    return lines


def _below(plan: Plan, loop: Loop) -> list[str]:
    lines = []
    for merge in loop.merges:
        part = _part(plan, merge, loop.shards[merge.shard])
        if loop.gradient is not None and merge.loss:
            lines.append(f"{loop.gradient.grads}.append({loop.gradient.optimizer}.compute_gradients({part}))")
        if merge.merged or loop.gradient is None:
            lines.append(f"{merge.towers}.append({part})")
    return lines


def _part(plan: Plan, merge: Merge, shard: Shard) -> str:
    """A tower's part of a merged value: its rows, or its share of a mean or a sum."""
    tf, place = plan.tensorflow, merge.place
    if merge.how == "concat":
        if shard.static:
            return place
        index = ":, " * merge.axis
        if merge.packed:
            return f"{place}[{index}:{tf}.shape({place})[{merge.axis}] * {tf}.minimum({shard.rows}, 1)]"
        return f"{place}[{index}:{shard.rows}]"
    if merge.how == "sum":
        if shard.static:
            return place
        return f"{place} * {tf}.cast({tf}.minimum({shard.rows}, 1), {place}.dtype)"
    if merge.cast:
        return f"{place} * {tf}.cast({shard.weight}, {place}.dtype)"
    return f"{place} * {shard.weight}"


def _epilogue(plan: Plan, loop: Loop, names: dict[str, str]) -> list[str]:
    tf = plan.tensorflow
    lines = [f"{loop.layer_names}.resume()"] if loop.layer_names else []
    if loop.restore:
        places, saved = zip(*loop.restore, strict=True)
        lines.append(f"{', '.join(places)} = {', '.join(saved)}")
    for merge in loop.merges:
        if not merge.merged:
            continue
        named = f", name={merge.op_name!r}" if merge.op_name else ""
        if merge.how == "concat":
            value = f"{tf}.concat({merge.towers}, {merge.axis}{named})"
        elif merge.loss and loop.register:
            value = f"{names['merge_loss']}({merge.towers}{named})"
        else:
            value = f"{tf}.add_n({merge.towers}{named})"
        lines.append(f"{merge.place} = {value}")
    return lines
