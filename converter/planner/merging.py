"""What enters and what leaves the loop: shards and re-bound names in, merged values out."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import Literal

from converter.analysis.facts import Facts, TrainStep
from converter.analysis.frames import Access, Frame, Place
from converter.analysis.values import (
    Constant,
    Input,
    Instance,
    Mapping,
    Number,
    Origin,
    Sequence,
    Tensor,
    Value,
    tensors_in,
)  # fmt: skip
from converter.diagnostics import Diagnostic
from converter.options import Options
from converter.plan import Insert, Merge, Rebind, Shard
from converter.planner.names import Names
from converter.planner.region import Region, refuse
from converter.planner.text import Text


@dataclass
class Traffic:
    """What goes through the border of the loop."""

    shards: list[Shard] = field(default_factory=list)
    groups: list[list[Input]] = field(default_factory=list)
    rebinds: list[Rebind] = field(default_factory=list)
    merges: list[Merge] = field(default_factory=list)
    restore: list[tuple[str, str]] = field(default_factory=list)
    warnings: list[Diagnostic] = field(default_factory=list)
    globals: list[str] = field(default_factory=list)
    loss_lists: dict[int, str] = field(default_factory=dict)  # uid of a loss -> name of the towers' list


# -- how a place is written in the loop's frame ----------------------------------------------------


def spelling(frame: Frame, place: Place) -> str | None:
    """The expression for a place in a frame's own names, None where it cannot be reached from there."""
    if place.kind == "name":
        if place.frame is frame:
            return place.key
        if place.frame is not None and frame.lookup(place.key) and frame.lookup(place.key)[0] is place.frame:  # type: ignore[index]
            return place.key
        return None
    holder = _reach(frame, place.holder)
    if holder is None:
        return None
    return f"{holder}.{place.key}" if place.kind == "attr" else f"{holder}[{place.key}]"


def _reach(frame: Frame, holder: Value | None, depth: int = 2) -> str | None:
    if holder is None:
        return None
    scope: Frame | None = frame
    names: list[tuple[str, Value]] = []
    while scope is not None:
        names += [(n, v) for n, v in scope.locals.items() if n not in dict(names)]
        scope = scope.closure
    for name, value in names:
        if value is holder:
            return name
    if depth == 0:
        return None
    for name, value in names:
        if isinstance(value, Instance):
            for attribute, inner in value.attributes.items():
                if inner is holder:
                    return f"{name}.{attribute}"
    return None


def _declare(facts: Facts, region: Region, traffic: Traffic, access: Access, text: str) -> None:
    """A name of the module is declared global where a function's loop re-binds it."""
    if access.place.kind != "name" or access.place.frame is region.block.frame:
        return
    if access.place.frame is not facts.module:
        raise refuse(facts, access.node, "TMG206", f"{text} belongs to the function around this one",
                     "pass it to the function as an argument")  # fmt: skip
    if text not in region.block.frame.globals and text not in traffic.globals:
        traffic.globals.append(text)


def declarations(region: Region, traffic: Traffic, text: Text) -> list[Insert]:
    """`global` statements at the top of the loop's function."""
    if not traffic.globals:
        return []
    body = region.block.frame.node.body  # type: ignore[attr-defined]
    first = body[0]
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and len(body) > 1:
        first = body[1]
    return [Insert(text.anchor(first), (f"global {', '.join(traffic.globals)}",), "top", "TMG103")]


def leaf(text: str) -> str:
    """A name for what an expression stands for: `images` for `self.images`, `x` for `inputs['x']`."""
    tail = text.rpartition(".")[2] if not text.endswith("]") else text.partition("[")[2].strip("'\"]")
    clean = "".join(c if c.isalnum() else "_" for c in tail).strip("_")
    return clean if clean.isidentifier() else "value"


# -- in --------------------------------------------------------------------------------------------


def shards_in(facts: Facts, region: Region, names: Names, traffic: Traffic, steps: list[TrainStep]) -> None:
    """The inputs, grouped by what is fed together, and the names that the towers read them by."""
    places: dict[int, list[str]] = {i.uid: [] for i in region.inputs}
    written = _written_first(region)
    for access in _tower_reads(region):
        value = access.value
        if not isinstance(value, Input) or value.uid not in places or access.place in written:
            continue
        holder = access.place.holder
        if holder is not None and region.in_tower(holder.site):
            continue  # a list or object that each tower makes anew
        text = spelling(region.block.frame, access.place)
        if text is None:
            if _local_of_callee(region, access):
                continue
            raise refuse(facts, access.node, "TMG205", "this input is read in a way that the loop cannot replace",
                         "pass it to the function as an argument")  # fmt: skip
        _declare(facts, region, traffic, access, text)
        if text not in places[value.uid]:
            places[value.uid].append(text)
    groups = _groups(region, steps)
    for group in groups:
        texts = [t for i in group for t in places[i.uid]]
        axes = [i.batch.axis for i in group for _ in places[i.uid]]
        if not texts:
            continue
        saved = [names.fresh(f"{leaf(t)}_batch", f"all_{leaf(t)}", f"whole_{leaf(t)}") for t in texts]
        suffix = "" if len(groups) == 1 else f"_{leaf(texts[0])}"
        static = all(_static(i) for i in group)
        traffic.groups.append(group)
        traffic.shards.append(
            Shard(tuple(texts), tuple(saved), tuple(axes), names.fresh("rows" + suffix, f"tower_rows{suffix}"),
                  names.fresh("weight" + suffix, f"tower_weight{suffix}"), static)
        )  # fmt: skip
    _aliases_out(region, traffic)


def _aliases_out(region: Region, traffic: Traffic) -> None:
    """A name that the towers bind to an input means the whole batch again after the loop."""
    saved = {t: s for shard in traffic.shards for t, s in zip(shard.places, shard.saved, strict=True)}
    by_input: dict[int, str] = {}
    for group in traffic.groups:
        for access in _tower_reads(region):
            text = spelling(region.block.frame, access.place)
            if text in saved and access.value in group:
                by_input.setdefault(access.value.uid, saved[text])
    rebound = set(_bound_texts(region))
    for text, name in saved.items():
        if text not in rebound:
            traffic.restore.append((text, name))
    for index, access in region.block.accesses():
        if index in region.tower and access.write and isinstance(access.value, Input):
            text = spelling(region.block.frame, access.place)
            if text and access.value.uid in by_input and (text, by_input[access.value.uid]) not in traffic.restore:
                traffic.restore.append((text, by_input[access.value.uid]))


def _bound_texts(region: Region) -> set[str]:
    found = set()
    for index, access in region.block.accesses():
        if index in region.tower and access.write:
            text = spelling(region.block.frame, access.place)
            if text:
                found.add(text)
    return found


def _written_first(region: Region) -> set[Place]:
    """Places that the towers write before they read them."""
    seen: set[Place] = set()
    first: set[Place] = set()
    for access in sorted((a for i, a in region.block.accesses() if i in region.tower), key=lambda a: a.time):
        if access.place not in seen:
            seen.add(access.place)
            if access.write:
                first.add(access.place)
    return first


def _tower_reads(region: Region) -> list[Access]:
    return [a for i, a in region.block.accesses() if not a.write and (i in region.tower or a.node in region.inline)]


def _local_of_callee(region: Region, access: Access) -> bool:
    """A parameter or local of a function that the towers call: it is handed what the loop re-binds."""
    frame = access.place.frame
    if access.place.kind == "name":
        return frame is not None and frame.call_site is not None and region.in_tower(frame.call_site)
    holder = access.place.holder
    return holder is not None and (region.in_tower(holder.site) or holder.site is None)


def _static(value: Input) -> bool:
    shape = value.shape
    entries = shape.elements if isinstance(shape, Sequence) else []
    axis = value.batch.axis
    return len(entries) > axis and isinstance(entries[axis], Number) and entries[axis].value != -1  # type: ignore[attr-defined]


def _groups(region: Region, steps: list[TrainStep]) -> list[list[Input]]:
    """Inputs that can share a count of rows.

    The count is read from one of them, so that one must be fed whenever a value of the group is
    fetched: it must lie behind every value that leaves the towers and depends on the group.
    """
    rest = list(region.inputs)
    behind: list[set[Value]] = []
    for value in region.needed.values():
        if isinstance(value, Tensor) and not isinstance(value, Input) and value.roots:
            roots = set(value.roots) & set(rest)
            if roots and roots not in behind:
                behind.append(roots)
    groups: list[list[Input]] = []
    losses = [set(s.loss.roots) & set(rest) for s in steps]
    while rest:
        lead = max(rest, key=lambda i: (sum(i in loss for loss in losses), sum(i in b for b in behind), -rest.index(i)))
        together = [i for i in rest if all((i in loss) <= (lead in loss) for loss in losses)
                    and i.batch.axis == lead.batch.axis and _static(i) == _static(lead)]  # fmt: skip
        groups.append([lead, *(i for i in together if i is not lead)])
        rest = [i for i in rest if i not in together]
    return groups


def numbers_in(
    facts: Facts, region: Region, names: Names, traffic: Traffic, scaled: frozenset[Origin], keep: set[str]
) -> None:
    """Batch sizes that the towers read: inside they count one shard."""
    keys = {o.key for o in scaled}
    written = _written_first(region)
    done: set[str] = set()
    for access in _tower_reads(region):
        value = access.value
        if not isinstance(value, Number) or access.place in written:
            continue
        if not any(o.key in keys for o in value.linear):
            if any(o.key in keys for o in value.origins):
                raise refuse(
                    facts,
                    access.node,
                    "TMG207",
                    "the model reads a number that depends on the batch size in an unknown way",
                    "compute it from the batch size inside the model",
                )
            continue
        text = spelling(region.block.frame, access.place)
        if text is None:
            if _local_of_callee(region, access):
                continue
            raise refuse(facts, access.node, "TMG205", "this batch size is read in a way that the loop cannot replace",
                         "pass it to the function as an argument")  # fmt: skip
        if text in done or text in keep:
            continue
        _declare(facts, region, traffic, access, text)
        done.add(text)
        saved = names.fresh(f"global_{leaf(text)}", f"whole_{leaf(text)}")
        traffic.rebinds.append(Rebind(text, saved))
        traffic.restore.append((text, saved))


INLINE = ""  # the place of a loss that is written out where it is minimised


# -- out -------------------------------------------------------------------------------------------


def merges_out(
    facts: Facts, region: Region, names: Names, traffic: Traffic, steps: list[TrainStep], options: Options
) -> None:
    """Values of the towers that are read after the loop, and the losses."""
    losses = {s.loss.uid: s for s in steps}
    wanted: dict[str, tuple[Value, ast.AST]] = {}
    for access in facts.accesses:
        if not access.write and region.comes_after(access):
            _want(facts, region, access, wanted)
    for index, access in region.block.accesses():
        if index in region.tower and access.write and access.place.kind == "attr" and isinstance(access.value, Tensor):
            text = spelling(region.block.frame, access.place)
            if text and _mergeable(access.value) and not region.in_tower(getattr(access.place.holder, "site", None)):
                wanted.setdefault(text, (access.value, access.node))
    inline: list[TrainStep] = []
    for step in steps:
        text = _loss_text(facts, region, step)
        if text == INLINE:
            inline.append(step)
        else:
            wanted.setdefault(text, (step.loss, step.call))
    for text, (value, node) in wanted.items():
        _merge(facts, region, names, traffic, text, value, node, losses, options)
    for step in inline:
        _collect_inline(facts, traffic, names, step, options)


def _collect_inline(facts: Facts, traffic: Traffic, names: Names, step: TrainStep, options: Options) -> None:
    """A loss without a name: the towers' parts are kept for the gradients, nothing is merged."""
    how = _loss_how(facts, traffic, step.loss, step, options)
    towers = names.fresh("tower_loss", "tower_losses")
    traffic.loss_lists[step.loss.uid] = towers
    traffic.merges.append(
        Merge(
            _unparsed(step), towers, how, 0, _group_of(traffic, step.loss), True, False, "", _needs_cast(facts), False
        )
    )


def _unparsed(step: TrainStep) -> str:
    assert step.loss_node is not None
    return f"({ast.unparse(step.loss_node)})"


def _want(facts: Facts, region: Region, access: Access, wanted: dict[str, tuple[Value, ast.AST]]) -> None:
    value = access.value
    if isinstance(value, Input):
        return
    if isinstance(value, (Sequence, Mapping)):
        _want_elements(facts, region, access, value, wanted)
        return
    if not isinstance(value, Tensor) or value.batch.kind == "free" or not region.in_tower(value.site):
        return
    text = spelling(region.block.frame, access.place)
    if text is not None and text not in wanted and _bound_by_tower(region, access.place, value):
        wanted[text] = (value, access.node)


def _want_elements(
    facts: Facts, region: Region, access: Access, value: Sequence | Mapping, wanted: dict[str, tuple[Value, ast.AST]]
) -> None:
    """A list, tuple or dict of the towers that is read as a whole: its tensors, one by one."""
    inside = [
        t for t in tensors_in(value) if t.batch.kind != "free" and not isinstance(t, Input) and region.in_tower(t.site)
    ]
    text = spelling(region.block.frame, access.place)
    if not inside or text is None or not _bound_by_tower(region, access.place, value):
        return
    pairs = (
        [(repr(k.value), v) for k, v in value.pairs if isinstance(k, Constant)]
        if isinstance(value, Mapping)
        else [(str(i), v) for i, v in enumerate(value.elements)]
    )
    fixed = isinstance(value, Sequence) and (value.many or not value.mutable)
    nested = any(isinstance(v, (Sequence, Mapping)) and any(t in inside for t in tensors_in(v)) for _, v in pairs)
    if fixed or nested:
        raise refuse(facts, access.node, "TMG208", f"{text} holds values of the towers in a form that is not merged",
                     "give each tensor that is read after the loss a name of its own")  # fmt: skip
    for key, element in pairs:
        if element in inside:
            wanted.setdefault(f"{text}[{key}]", (element, access.node))


def _bound_by_tower(region: Region, place: Place, value: Value) -> bool:
    return any(i in region.tower and a.write and a.place == place for i, a in region.block.accesses()) or (
        place.kind != "name" and region.in_tower(value.site)
    )


def _mergeable(value: Tensor) -> bool:
    batch = value.batch
    return (batch.kind == "example" and batch.packed != "minor") or (batch.kind == "reduced" and batch.how != "other")


def _loss_text(facts: Facts, region: Region, step: TrainStep) -> str:
    if step.loss_node in region.inline and step.loss_node is not None:
        return INLINE
    for index, access in sorted(region.block.accesses(), key=lambda pair: pair[1].place.kind != "name"):
        if index in region.tower and access.write and access.value is step.loss:
            text = spelling(region.block.frame, access.place)
            if text is not None and not (access.place.kind == "name" and access.place.frame is not region.block.frame):
                return text
    raise refuse(facts, step.call, "TMG209", "the loss has no name where the towers are built",
                 "assign the loss to a variable before it is minimised")  # fmt: skip


def _merge(
    facts: Facts, region: Region, names: Names, traffic: Traffic, text: str, value: Value, node: ast.AST,
    losses: dict[int, TrainStep], options: Options,
) -> None:  # fmt: skip
    assert isinstance(value, Tensor)
    is_loss = value.uid in losses
    batch = value.batch
    packed = batch.packed == "major"
    axis = batch.axis if batch.kind == "example" else 0
    how: str = "concat" if batch.kind == "example" else batch.how
    if is_loss:
        how = _loss_how(facts, traffic, value, losses[value.uid], options)
    elif not _mergeable(value):
        reason = batch.why or "its rows are not in the order of the examples"
        raise refuse(facts, value.node or node, "TMG210",
                     f"{text} is read after the loss, and the towers' parts of it cannot be merged: {reason}",
                     "compute it from tensors that have one row for each example, after the loss")  # fmt: skip
    towers = names.fresh(f"tower_{leaf(text)}", f"towers_{leaf(text)}")
    if is_loss:
        traffic.loss_lists[value.uid] = towers
    group = _group_of(traffic, value)
    traffic.merges.append(
        Merge(text, towers, how, axis, group, is_loss, packed, _op_name(region, value), _needs_cast(facts))  # type: ignore[arg-type]
    )


def _loss_how(
    facts: Facts, traffic: Traffic, value: Tensor, step: TrainStep, options: Options
) -> Literal["mean", "sum"]:
    """Losses count with their shard's weight; those that are no means differ from one GPU, which is said."""
    batch = value.batch
    summed = batch.kind == "example" or (batch.kind == "reduced" and batch.how == "sum")
    line, column = step.call.lineno, step.call.col_offset + 1
    if summed and options.batch == "total":
        if batch.affine:
            raise refuse(facts, step.call, "TMG211",
                         "this loss adds a sum over the examples and a term that does not depend on them",
                         "use --batch per-gpu, or divide the sum by the batch size")  # fmt: skip
        return "sum"
    if summed:
        traffic.warnings.append(Diagnostic(
            "TMG301", facts.path, line, column,
            "this loss is a sum over the examples: the towers' sums are averaged, "
            "so a step is as large as on one GPU with its own batch",
            "use --batch total to keep the steps of the whole batch", "warning"))  # fmt: skip
    elif batch.kind == "opaque" or batch.how == "other":
        traffic.warnings.append(Diagnostic(
            "TMG302", facts.path, line, column,
            f"this loss is not known to be a mean over the examples ({batch.why}): the towers' losses are averaged, "
            "which differs from one GPU with the whole batch",
            "check that the mean of the losses of several batches is what you want", "warning"))  # fmt: skip
    return "mean"


def _group_of(traffic: Traffic, value: Tensor) -> int:
    """The first group whose leading input is behind a value."""
    for index, group in enumerate(traffic.groups):
        if group[0] in value.roots:
            return index
    for index, group in enumerate(traffic.groups):
        if any(i in value.roots for i in group):
            return index
    return 0


NAME_THEIR_VARIABLES = ("layers.", "contrib.", "keras.", "losses.")  # `name` is not the output's there


def _op_name(region: Region, value: Tensor) -> str:
    """The name that the script gave to a tensor, scopes included, for the merged one to carry."""
    node = value.node
    if not isinstance(node, ast.Call) or value.op.startswith(NAME_THEIR_VARIABLES) or value.site is None:
        return ""
    around = next(s.scopes for s in value.site.chain() if s.stmt in region.block.index)
    scopes = value.scopes[len(around) :]
    for keyword in node.keywords:
        if keyword.arg == "name" and isinstance(keyword.value, ast.Constant) and isinstance(keyword.value.value, str):
            return "/".join([*scopes, keyword.value.value]) if "?" not in scopes and "" not in scopes else ""
    return ""


def _needs_cast(facts: Facts) -> bool:
    """Whether the script computes in other types than float32 anywhere."""
    return any(
        isinstance(n, ast.Attribute) and n.attr in ("float64", "double", "float16", "half", "to_double")
        or isinstance(n, ast.Constant) and n.value in ("float64", "double", "float16")
        for n in ast.walk(facts.tree)
    )  # fmt: skip
