"""Puts the plan together."""

from __future__ import annotations

import ast
import re
from dataclasses import replace

from converter.analysis.facts import Facts, TrainStep
from converter.analysis.feeds import is_one_example
from converter.analysis.values import Input, Typed
from converter.diagnostics import Diagnostic
from converter.options import Options
from converter.plan import At, Gradient, Insert, Loop, Plan, Replace
from converter.planner.batch_size import Scaling, find_batch_size, scale
from converter.planner.host import GpuCount, rate_edits, session_edits
from converter.planner.merging import Traffic, declarations, merges_out, numbers_in, shards_in
from converter.planner.names import Names
from converter.planner.region import Region, batch_inputs, find_region, refuse
from converter.planner.text import Text
from converter.runtime.catalog import helper_names
from converter.planner.trail import needed, path, suites

COMPUTE_ARGUMENTS = ("var_list", "gate_gradients", "aggregation_method", "colocate_gradients_with_ops", "grad_loss")
MINIMIZE = ("loss", "global_step", "var_list", "gate_gradients", "aggregation_method", "colocate_gradients_with_ops", "name", "grad_loss")  # fmt: skip


def decide(facts: Facts, options: Options, source: str) -> tuple[Plan, tuple[Diagnostic, ...]]:
    """The plan for a script, and what its reader should know; raises Refusal."""
    _check_placement(facts)
    steps = _training_steps(facts)
    _check_feeds(facts, steps)
    inputs = batch_inputs(facts, steps)
    size = find_batch_size(facts, inputs, steps)
    options = replace(options, batch="total") if size.fixed else options
    region = find_region(facts, steps, inputs, size.origins)
    names = Names(facts.tree)
    text = Text(source)
    count = GpuCount(facts, names, options, text)
    tensorflow, imported = _tensorflow(facts, names)
    per_gpu = options.batch == "per-gpu"
    scaling = scale(facts, region, size, text, count.expression) if per_gpu else Scaling()
    text.planned += [*scaling.replaces, *rate_edits(steps, options, text, count.expression)]
    traffic = Traffic()
    shards_in(facts, region, names, traffic, steps)
    numbers_in(facts, region, names, traffic, size.origins, set(scaling.unscaled))
    merges_out(facts, region, names, traffic, steps, options)
    gradient, replaces, inserts, helpers, register = _gradients(facts, region, steps, traffic, names, text)
    session_replaces, session_inserts = session_edits(facts, names, options, text, tensorflow)
    contexts = _contexts(facts, region, names)
    loop = Loop(
        _starts(region, region.before, text),
        _starts(region, region.tower, text),
        _starts(region, region.after, text),
        names.fresh("gpu", "tower"),
        tuple(traffic.shards),
        tuple(traffic.rebinds),
        tuple(traffic.merges),
        gradient,
        contexts,
        tuple(traffic.restore),
        _splits(region, text),
        names.fresh("layer_names") if _counts_on(facts, region) else "",
        register,
    )
    pinned = _pinned(facts, region, text)
    helpers = ["tower_device", *(["variable_device"] if pinned else []), *_shard_helpers(traffic), *(helper for helper, _ in contexts), *helpers]
    if count.counts:
        helpers.insert(0, "count_gpus")
    if loop.layer_names:
        helpers.append("LayerNames")
    plan = Plan(
        loop,
        tuple([*text.planned, *replaces, *session_replaces]),
        tuple([*count.inserts, *declarations(region, traffic, text), *inserts, *session_inserts]),
        pinned,
        helper_names(helpers, options.variables, facts.tree, names),
        tensorflow,
        not imported,
        count.expression,
        count.define,
        options,
    )
    return plan, tuple([*size.warnings, *traffic.warnings])


def _check_placement(facts: Facts) -> None:
    """Scripts that spread themselves over GPUs or machines already."""
    gpus: set[str] = set()
    for effect in facts.effects:
        if effect.kind == "distributed":
            raise refuse(facts, effect.node, "TMG217", f"this script is distributed already ({effect.name})",
                         "convert the script as it was for one GPU")  # fmt: skip
        if effect.kind == "device":
            computed = effect.name == "None" and any(isinstance(s.stmt, ast.For) for s in effect.site.chain())
            gpus |= set(re.findall(r"gpu:(\d+)", effect.name.lower()))
            if computed or len(gpus) > 1:
                raise refuse(facts, effect.node, "TMG216", "this script places its model on several GPUs already",
                             "convert the script as it was for one GPU")  # fmt: skip


def _training_steps(facts: Facts) -> list[TrainStep]:
    """The training steps, one for each call in the source, as it was executed last."""
    if not facts.train_steps:
        raise refuse(facts, facts.tree, "TMG201", "no training step was found: nothing is minimised here",
                     "convert the script that calls minimize, compute_gradients or tf.gradients")  # fmt: skip
    by_call: dict[ast.AST, TrainStep] = {}
    for step in facts.train_steps:
        if step.loss.batch.kind != "free" or step.call not in by_call:
            by_call.setdefault(step.call, step)
    batched = [s for s in by_call.values() if s.loss.batch.kind != "free"]
    if not batched:
        step = next(iter(by_call.values()))
        raise refuse(facts, step.call, "TMG202", "no batch of examples goes into the loss of this training step",
                     "feed examples through placeholders with a batch axis, such as [None, …]")  # fmt: skip
    return batched


def _check_feeds(facts: Facts, steps: list[TrainStep]) -> None:
    """Steps that take one example each have no batch to share among towers."""
    roots = {v.uid for s in steps for v in needed([s.loss]).values() if isinstance(v, Input)}
    trained = {s.result.uid for s in steps}
    for run in facts.runs:
        for key, value in run.feeds:
            without_axis = isinstance(key, Input) and key.uid in roots and (key.dims is None or key.dims == ())
            if without_axis and is_one_example(value) and trained & set(needed(run.fetches)):
                raise refuse(facts, run.call, "TMG218", "each training step takes one example, without a batch axis",
                             "feed several examples at a time to placeholders with a batch axis")  # fmt: skip


def _tensorflow(facts: Facts, names: Names) -> tuple[str, bool]:
    """The script's name for the tensorflow module; a new one where it has none."""
    for name, dotted in facts.imports.items():
        if dotted == "":
            return name, True
    return names.fresh("tf", "tensorflow"), False


def _splits(region: Region, text: Text) -> tuple[tuple[At, tuple[At, ...]], ...]:
    return tuple(
        (text.start(region.block.body[i]), tuple(text.start(s) for s in stmts)) for i, stmts in region.splits.items()
    )


def _starts(region: Region, indexes: tuple[int, ...], text: Text) -> tuple[At, ...]:
    return tuple(text.start(region.block.body[i]) for i in indexes)


# -- gradients -------------------------------------------------------------------------------------


def _gradients(
    facts: Facts, region: Region, steps: list[TrainStep], traffic: Traffic, names: Names, text: Text
) -> tuple[Gradient | None, list[Replace], list[Insert], list[str], bool]:
    gradient: Gradient | None = None
    replaces: list[Replace] = []
    inserts: list[Insert] = []
    helpers: list[str] = []
    register = False
    for step in steps:
        losses = traffic.loss_lists[step.loss.uid]
        near = _same_names(region, step)
        if not near:
            register = True
            assert step.loss_node is not None
            losses = f"TOWER_LOSSES[{text.of(step.loss_node)}.name]"
        if near and len(steps) == 1 and (inside := _inside(facts, region, step, names, text, losses)) is not None:
            gradient, replace = inside
            replaces.append(replace)
            helpers.append("average_gradients")
            continue
        made, before = _at_call(facts, step, names, text, losses)
        replaces.append(made)
        inserts += before
        helpers.append("gradients_of_towers" if step.kind == "gradients" else "tower_gradients")
    if register:
        helpers.append("merge_loss")
    return gradient, replaces, inserts, helpers, register


def _same_names(region: Region, step: TrainStep) -> bool:
    """Whether the loop's names can be seen where the gradient is taken."""
    return step.site.frame.uid == region.block.frame.uid


def _inside(
    facts: Facts, region: Region, step: TrainStep, names: Names, text: Text, losses: str
) -> tuple[Gradient, Replace] | None:
    """Gradients inside the loop: where minimize is called right there on an optimizer that can be made before."""
    call = step.call
    if step.kind != "minimize" or not isinstance(call.func, ast.Attribute) or step.site.stmt not in region.block.index:
        return None
    arguments = _minimize_arguments(call)
    if arguments is None or any(name in arguments for name in COMPUTE_ARGUMENTS):
        return None
    optimizer = call.func.value
    if isinstance(step.optimizer, Typed) and step.optimizer.node is optimizer:
        if not _known_before(facts, region, optimizer):
            return None
        name, create = names.fresh("optimizer", "tower_optimizer"), text.of(optimizer)
    elif isinstance(optimizer, ast.Name) and step.optimizer is not None and 0 < step.optimizer.time < region.start:
        name, create = optimizer.id, ""
    else:
        return None
    grads = names.fresh("tower_grads", "tower_gradients_list")
    applied = _apply_call(name, f"average_gradients({grads})", arguments, text)
    return Gradient(name, create, losses, grads), Replace(text.start(call), text.end(call), applied, "TMG101")


def _known_before(facts: Facts, region: Region, node: ast.expr) -> bool:
    """Whether all that an expression reads has its value before the loop begins."""
    inside = set(ast.walk(node))
    places = {a.place for a in facts.accesses if not a.write and a.node in inside}
    return not any(a.write and a.place in places and a.time >= region.start for a in facts.accesses)


def _minimize_arguments(call: ast.Call) -> dict[str, ast.expr] | None:
    """Arguments of minimize by name; None where they are given by * or **."""
    if any(isinstance(a, ast.Starred) for a in call.args) or any(k.arg is None for k in call.keywords):
        return None
    found = dict(zip(MINIMIZE, call.args, strict=False))
    found.update({k.arg: k.value for k in call.keywords if k.arg})
    return found


def _apply_call(optimizer: str, grads: str, arguments: dict[str, ast.expr], text: Text) -> str:
    rest = [f"{name}={text.of(arguments[name])}" for name in ("global_step", "name") if name in arguments]
    return f"{optimizer}.apply_gradients({', '.join([grads, *rest])})"


def _at_call(
    facts: Facts, step: TrainStep, names: Names, text: Text, losses: str
) -> tuple[Replace, list[Insert]]:
    """The gradient taken where the script takes it, over the towers' losses."""
    call = step.call
    if step.kind == "gradients":
        rest = [text.of(a) for a in call.args[1:]] + [f"{k.arg}={text.of(k.value)}" for k in call.keywords if k.arg not in ("ys",)]
        made = f"gradients_of_towers({', '.join([losses, *rest])})"
        return Replace(text.start(call), text.end(call), made, "TMG102"), []
    arguments = _minimize_arguments(call)
    if step.kind not in ("minimize", "compute_gradients") or arguments is None or not isinstance(call.func, ast.Attribute):
        raise refuse(facts, call, "TMG213", f"a training step made by {step.kind} is not converted yet",
                     "use optimizer.minimize, or compute_gradients and apply_gradients")  # fmt: skip
    if step.kind == "compute_gradients":
        order = ("loss", "var_list", "gate_gradients", "aggregation_method", "colocate_gradients_with_ops", "grad_loss")
        arguments = {**dict(zip(order, call.args, strict=False)), **{k.arg: k.value for k in call.keywords if k.arg}}
    inserts: list[Insert] = []
    optimizer = text.of(call.func.value)
    if not isinstance(call.func.value, (ast.Name, ast.Attribute)):
        name = names.fresh("optimizer", "tower_optimizer")
        inserts.append(Insert(text.start(step.site.stmt), (f"{name} = {optimizer}",), "before", "TMG102"))
        optimizer = name
    compute = [f"{n}={text.of(arguments[n])}" for n in COMPUTE_ARGUMENTS if n in arguments]
    grads = f"tower_gradients({', '.join([optimizer, losses, *compute])})"
    made = grads if step.kind == "compute_gradients" else _apply_call(optimizer, grads, arguments, text)
    return Replace(text.start(call), text.end(call), made, "TMG102"), inserts


# -- helpers ---------------------------------------------------------------------------------------


def _shard_helpers(traffic: Traffic) -> list[str]:
    found = []
    for shard in traffic.shards:
        along = any(axis != 0 for axis in shard.axes)
        found.append(("shard_static" if shard.static else "shard") + ("_along" if along else ""))
    if traffic.rebinds:
        found.append("shard_size")
    return found


def _counts_on(facts: Facts, region: Region) -> bool:
    """Whether layers with default names are made after the loop, in later runs of it too."""
    made = [e.time for e in facts.effects if e.kind == "variable" and _default_name(e.node)]
    within = [e.time for e in facts.effects if e.kind == "variable" and region.in_tower(e.site) and _default_name(e.node)]
    return bool(within) and any(time > region.end for time in made)


def _default_name(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and not any(k.arg in ("name", "scope") for k in node.keywords)


def _contexts(facts: Facts, region: Region, names: Names) -> tuple[tuple[str, str], ...]:
    """Helpers entered in the loop: for raw variables, for collections, for updates of variables."""
    kinds = {e.kind for e in facts.effects if region.in_tower(e.site) or e.kind == "batch norm scope"}
    if "batch norm scope" in kinds:
        kinds.add("batch norm")
    contexts: list[tuple[str, str]] = []
    if kinds & {"raw variable", "object variable"}:
        contexts.append(("SharedVariables", names.fresh("shared_variables")))
    if kinds & {"collection", "batch norm", "total loss"}:
        contexts.append(("TowerCollections", names.fresh("tower_collections")))
    if kinds & {"batch norm", "assign", "ema"}:
        contexts.append(("first_tower_updates", ""))
    return tuple(contexts)


def _pinned(facts: Facts, region: Region, text: Text) -> tuple[tuple[At, At], ...]:
    """Statements outside the loop that make the model's variables: where these live is said there."""
    where = suites(facts.tree)
    makers: list[ast.stmt] = []
    used = {v.uid for v in region.needed.values()}
    for variable in facts.variables:
        if variable.uid not in used or variable.site is None or region.in_tower(variable.site) or variable.dims == ():
            continue
        steps = path(variable.site)
        stmt = next((s for _, s in reversed(steps) if where.get(s) is region.block.body or where.get(s) is facts.tree.body), None)
        if stmt is not None and stmt not in makers and not isinstance(stmt, (ast.FunctionDef, ast.ClassDef, ast.If, ast.For)):
            makers.append(stmt)
    runs: list[tuple[At, At]] = []
    for stmt in sorted(makers, key=lambda s: s.lineno):
        body = where[stmt]
        index = body.index(stmt)
        if runs and index and text.start(body[index - 1]) == runs[-1][1] and _moves_alike(region, body, index):
            runs[-1] = (runs[-1][0], text.start(stmt))
        else:
            runs.append((text.start(stmt), text.start(stmt)))
    return tuple(runs)


def _moves_alike(region: Region, body: list[ast.stmt], index: int) -> bool:
    if body is not region.block.body:
        return True
    return (index in region.before) == (index - 1 in region.before)


