"""Where gradients are taken: in the loop, or over the towers' losses where the script takes them."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from converter.analysis.facts import Facts, StepKind, TrainStep
from converter.analysis.flow.joined import is_variable
from converter.analysis.traits import Argument, Trait, has, optimizers_by_name, positions
from converter.analysis.values import Constant, Function, Symbol, Tensor, Typed, Value, is_none, tensors_in
from converter.analysis.values import Sequence as List
from converter.dataclass import dataclass
from converter.plan import Gradient, Insert, Replace
from converter.planner.plan_faults import PlanFault
from converter.planner.questions.statements import returns
from converter.planner.region.region import Region
from converter.planner.towers.border.losses_out import has_rows, is_taken_beside
from converter.planner.towers.border.site import LoopSite
from converter.planner.towers.border.traffic import Traffic
from converter.planner.wording import refuse
from converter.planner.writing.builtin_names import hidden_builtins
from converter.planner.writing.free_names import TakenNames, branches_of
from converter.planner.writing.helper_names import called
from converter.planner.writing.source_text import SourceText

COLOCATED = "colocate_gradients_with_ops"
COMPUTE_ARGUMENTS = ("var_list", "gate_gradients", "aggregation_method", "colocate_gradients_with_ops", "grad_loss")
SCOPES = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Lambda)
MINIMIZE = (
    "loss",
    "global_step",
    "var_list",
    "gate_gradients",
    "aggregation_method",
    "colocate_gradients_with_ops",
    "name",
    "grad_loss",
)


@dataclass(frozen=True)
class GradientCode:
    """The code that takes the gradients of a loop's losses.

    inside: the gradient that the loop takes itself; None where they are taken after it. helpers: those that the edits
    call. register: whether merged losses carry those of the towers. names: those that are taken then.
    """

    names: TakenNames
    inside: Gradient | None = None
    replaces: tuple[Replace, ...] = ()
    inserts: tuple[Insert, ...] = ()
    helpers: tuple[str, ...] = ()
    register: bool = False


def gradients(site: LoopSite, traffic: Traffic, taken: frozenset[ast.AST]) -> GradientCode:
    """The edits that take the gradients.

    taken: calls whose gradient is taken already, for the loss of another loop or another branch.
    """
    facts, region, steps, text = site.facts, site.region, site.group.steps, site.text
    _check_arguments(facts, region, steps)
    done = set(taken)
    gradient: Gradient | None = None
    if region.forward:
        calls = {step.call: step for step in steps}
        why = "TMG167" if region.exact else "TMG133"
        colocated = (_colocated(facts, step, text, why) for step in calls.values())
        return GradientCode(traffic.names, replaces=tuple(filter(None, colocated)))
    replaces: list[Replace] = []
    inserts: list[Insert] = []
    helpers: list[str] = []
    register = False
    for step in steps:
        if step.loss.uid not in traffic.loss_lists:
            raise refuse(facts, step.call, PlanFault.LOSS_NAME_TAKEN)
        losses = traffic.loss_lists[step.loss.uid]
        near = is_taken_beside(region, step, steps)
        if not near:
            rows = has_rows(step.loss)
            if rows and all(merge.losses != losses for merge in traffic.border.merges):
                raise refuse(facts, step.call, PlanFault.LOSS_OF_EACH_EXAMPLE)
            register = register or not rows
            assert step.loss_node is not None
            losses = _registered(step.loss_node, text, site.options.one_gpu)
        elif site.options.one_gpu and step.loss_node is not None:
            losses = f"{losses} or [{text.of(step.loss_node)}]"
        if step.call in done:
            continue  # it is handed another loss
        done.add(step.call)
        # The weights of masked means are known when all towers are there.
        alone = near and len(steps) == 1 and step.loss.uid not in traffic.counts and not site.options.one_gpu
        if alone and (inside := _inside(site, traffic, step, losses)) is not None:
            gradient, replace, traffic = inside
            replaces.append(replace)
            helpers.append("sum_gradients")
            continue
        whole = _in_function(step, text, losses, site.tensorflow)
        if whole is not None:
            if step.loss_node in region.inline and _reads_collection(step):
                raise refuse(facts, step.call, PlanFault.LOSS_WITHOUT_NAME)
            replaces.append(whole)
            helpers.append("TowerOptimizer")
            continue
        if (each := _of_each_turn(facts, step, text, losses)) is not None:
            replaces.append(each)
            helpers.append("TowerOptimizer")
            continue
        made, before, traffic = _at_call(facts, step, traffic, text, losses)
        replaces.append(made)
        inserts += before
        helpers.append("gradients_of_towers" if step.kind is StepKind.GRADIENTS else "tower_gradients")
    if register:
        helpers.append("merge_loss")
    return GradientCode(traffic.names, gradient, tuple(replaces), tuple(inserts), tuple(helpers), register=register)


def _check_arguments(facts: Facts, region: Region, steps: Iterable[TrainStep]) -> None:
    """Raises where a step's call is given what belongs to the whole batch, but takes the gradients of the towers."""
    for step in steps:
        if any(not _is_outside(region, part) for part in _parts(step.stops)):
            raise refuse(facts, step.call, PlanFault.GRADIENT_STOPS_IN_TOWERS)
        if not region.forward and _begins_with_whole_batch(step):
            argument = "grad_ys" if step.kind is StepKind.GRADIENTS else "grad_loss"
            raise refuse(facts, step.call, PlanFault.GRADIENT_OF_BATCH, argument=argument)


def _begins_with_whole_batch(step: TrainStep) -> bool:
    """Whether a step's gradients begin with a given one that may have more rows than a tower's loss, or be of others.

    A number that does not depend on the batch multiplies each tower's part of a mean or a sum alike.
    """
    given = _parts(step.given)
    batched = any(tensor.batch.kind != "free" for part in given for tensor in tensors_in(part))
    return batched or (bool(given) and step.loss.batch.kind not in ("reduced", "free"))


def _is_outside(region: Region, value: Value) -> bool:
    """Whether a value is a tensor that all towers share: a variable, or one that is made outside of their loops."""
    if not isinstance(value, Tensor):
        return False
    in_towers = any(one.in_tower(value.site) for one in (region, *region.ahead))
    return is_variable(value) or (value.batch.kind == "free" and not in_towers)


def _parts(argument: Value | None) -> list[Value]:
    """The values of an argument that takes one or a list of them, without None."""
    parts = argument.elements if isinstance(argument, List) else [argument]
    return [part for part in parts if part is not None and not is_none(part)]


def replaced_losses(facts: Facts, region: Region, steps: Iterable[TrainStep]) -> frozenset[ast.AST]:
    """All nodes of losses written out in `minimize(…)` that give way there to the towers' losses: nothing reads them.

    A function that takes an optimizer goes on taking its loss, and so does an optimizer made in a comprehension.
    """
    kinds = (StepKind.MINIMIZE, StepKind.COMPUTE, StepKind.GRADIENTS)
    known = [s for s in steps if s.kind in kinds and s.loss_node is not None and s.loss_node in region.inline]
    functions = positions(Argument.OPTIMIZER)
    plain = [s for s in known if s.function.rpartition(".")[2] not in functions]
    return frozenset(
        node
        for step in plain
        if step.loss_node is not None and not _is_in_scope_of_its_own(facts, step.call)
        for node in ast.walk(step.loss_node)
    )


def _reads_collection(step: TrainStep) -> bool:
    """Whether a loss that is written out reads a collection: after the towers, that is one tower's losses."""
    calls = (n.func for n in ast.walk(step.loss_node) if isinstance(n, ast.Call)) if step.loss_node else ()
    names = (getattr(func, "attr", getattr(func, "id", "")) for func in calls)
    return any(has(name, Trait.GETS_COLLECTION) or has(name, Trait.GIVES_COLLECTED_LOSSES) for name in names)


def _registered(loss: ast.expr, text: SourceText, one_gpu: bool) -> str:
    """The expression for the towers' losses of a merged loss; without towers it gives the loss itself."""
    if one_gpu:
        return f"getattr({text.of(loss)}, 'tower_losses', [{text.of(loss)}])"
    atom = isinstance(loss, (ast.Name, ast.Attribute, ast.Subscript, ast.Call))
    return (text.of(loss) if atom else f"({text.of(loss)})") + ".tower_losses"


def _colocated(facts: Facts, step: TrainStep, text: SourceText, why: str) -> Replace | None:
    """The gradient of a loss on merged results: each tower's part of it is computed where the tower is.

    None for a call that says so itself.
    """
    call = step.call
    given = next((k for k in call.keywords if k.arg in (COLOCATED, None)), None)
    if given is not None and given.arg and isinstance(given.value, ast.Constant) and given.value.value is True:
        return None
    if given is not None and not given.arg and "dict" not in hidden_builtins(facts, step.site.frame):
        # `**kwargs` may hold it: the inherited minimize passes all of its arguments on
        told = f"dict({text.of(given.value)}, {COLOCATED}=True)"
        return Replace(text.start(given.value), text.end(given.value), told, why)
    if given is not None:
        raise refuse(facts, given.value, PlanFault.COLOCATION_GIVEN, written=ast.unparse(given))
    made = text.with_argument(call, f"{COLOCATED}=True")
    return Replace(text.start(call), text.end(call), made, why)


def _inside(site: LoopSite, traffic: Traffic, step: TrainStep, losses: str) -> tuple[Gradient, Replace, Traffic] | None:
    """Gradients inside the loop: where minimize is called right there on an optimizer that can be made before."""
    facts, region, text = site.facts, site.region, site.text
    call = step.call
    if step.kind is not StepKind.MINIMIZE or not isinstance(call.func, ast.Attribute):
        return None
    if step.site.stmt not in region.block.index or _is_in_scope_of_its_own(facts, call):
        return None
    arguments = _minimize_arguments(call)
    if arguments is None or any(name in arguments for name in COMPUTE_ARGUMENTS):
        return None
    if _may_be_over(region, region.block.index[step.site.stmt]):
        return None
    optimizer = call.func.value
    if isinstance(step.optimizer, Typed) and step.optimizer.node is optimizer:
        if not _known_before(facts, region, optimizer):
            return None
        branches = branches_of(facts.parents, step.site.stmt)
        name, traffic = traffic.numbered("optimizer", "tower_optimizer", branches)
        create = text.of(optimizer)
    elif isinstance(optimizer, ast.Name) and step.optimizer is not None and 0 < step.optimizer.time < region.start:
        name, create = optimizer.id, ""
    else:
        return None
    grads, traffic = traffic.fresh("tower_grads", "tower_gradients_list")
    applied = _apply_call(name, f"{called('sum_gradients')}({grads})", arguments, text)
    replace = Replace(text.start(call), text.end(call), applied, "TMG101")
    return Gradient(name, create, losses, grads), replace, traffic


def _may_be_over(region: Region, end: int) -> bool:
    """True if the function may return between the towers and a later statement: `if not training: return`."""
    between = region.block.body[min(region.tower) : end]
    return any(map(returns, between))


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


def _compute_arguments(call: ast.Call) -> dict[str, ast.expr] | None:
    """Arguments of compute_gradients by name, without those given by **; None where some are given by *."""
    if any(isinstance(a, ast.Starred) for a in call.args):
        return None
    named = {k.arg: k.value for k in call.keywords if k.arg}
    return {**dict(zip(("loss", *COMPUTE_ARGUMENTS), call.args, strict=False)), **named}


def _apply_call(optimizer: str, grads: str, arguments: dict[str, ast.expr], text: SourceText) -> str:
    rest = [f"{name}={text.of(arguments[name])}" for name in ("global_step", "name") if name in arguments]
    return f"{optimizer}.apply_gradients({', '.join([grads, *rest])})"


def _in_function(step: TrainStep, text: SourceText, losses: str, tensorflow: str) -> Replace | None:
    """An edit that passes an optimizer with the towers' losses to a function that builds the whole training step."""
    function = step.function.rpartition(".")[2]
    if function not in positions(Argument.OPTIMIZER):
        return None
    place = positions(Argument.OPTIMIZER)[function]
    plain = step.call.args if not any(isinstance(a, ast.Starred) for a in step.call.args) else []
    given = [k.value for k in step.call.keywords if k.arg == "optimizer"] + plain[place : place + 1]
    if not given:
        return None
    node, written = given[0], text.of(given[0])
    value = step.optimizer
    if isinstance(value, Typed) and value.kind == "Optimizer":
        made = f"{called('TowerOptimizer')}({written}, {losses})"
    elif has(function, Trait.BY_NAME) and isinstance(value, Constant) and value.value in optimizers_by_name():
        by_name = f"{tensorflow}.train.{optimizers_by_name()[str(value.value)]}"
        made = f"lambda rate: {called('TowerOptimizer')}({by_name}, {losses})"
    elif has(function, Trait.BY_NAME) and isinstance(value, (Symbol, Function)):
        made = f"lambda *rate: {called('TowerOptimizer')}(({written})(*rate), {losses})"
    else:
        return None
    return Replace(text.start(node), text.end(node), made, "TMG118")


def _of_each_turn(facts: Facts, step: TrainStep, text: SourceText, losses: str) -> Replace | None:
    """An edit of an optimizer that a comprehension or lambda makes anew for each step: `[Adam(r).minimize(loss) …]`.

    It has no name outside, and what it is made of may have none there.
    """
    func = step.call.func
    if not isinstance(func, ast.Attribute) or isinstance(func.value, (ast.Name, ast.Attribute)):
        return None
    if not _is_in_scope_of_its_own(facts, step.call):
        return None
    optimizer = f"{called('TowerOptimizer')}({text.of(func.value)}, {losses})"
    return Replace(text.start(func.value), text.end(func.value), optimizer, "TMG118")


def _is_in_scope_of_its_own(facts: Facts, call: ast.Call) -> bool:
    above: ast.AST | None = call
    while above is not None and not isinstance(above, (ast.stmt, *SCOPES)):
        above = facts.parents.get(above)
    return isinstance(above, SCOPES)


def _after_loss(facts: Facts, step: TrainStep, text: SourceText) -> list[str]:
    """The arguments of tf.gradients behind the loss, the variables first: tf.gradients(xs=w, ys=loss, name='g')."""
    call = step.call
    variables = [*call.args[1:2], *(k.value for k in call.keywords if k.arg == "xs")]
    if not variables or any(isinstance(arg, ast.Starred) for arg in call.args):
        raise refuse(facts, call, PlanFault.KIND_OF_STEP, kind="tf.gradients with arguments given by * or **")
    rest = [f"{k.arg}={text.of(k.value)}" for k in call.keywords if k.arg not in ("ys", "xs", None)]
    spread = [f"**{text.of(k.value)}" for k in call.keywords if k.arg is None]
    return [text.of(node) for node in (*variables, *call.args[2:])] + rest + spread


def _at_call(
    facts: Facts, step: TrainStep, traffic: Traffic, text: SourceText, losses: str
) -> tuple[Replace, list[Insert], Traffic]:
    """The gradient taken where the script takes it, over the towers' losses."""
    call = step.call
    if step.kind is StepKind.GRADIENTS:
        made = f"{called('gradients_of_towers')}({', '.join([losses, *_after_loss(facts, step, text)])})"
        return Replace(text.start(call), text.end(call), made, "TMG102"), [], traffic
    arguments = _compute_arguments(call) if step.kind is StepKind.COMPUTE else _minimize_arguments(call)
    if step.kind is StepKind.FUNCTION or arguments is None or not isinstance(call.func, ast.Attribute):
        spread = arguments is None and step.kind is not StepKind.FUNCTION
        kind = f"{step.function} with arguments given by * or **" if spread else step.function
        raise refuse(facts, call, PlanFault.KIND_OF_STEP, kind=kind)
    inserts: list[Insert] = []
    optimizer = text.of(call.func.value)
    if not isinstance(call.func.value, (ast.Name, ast.Attribute)):
        branches = branches_of(facts.parents, step.site.stmt)
        name, traffic = traffic.numbered("optimizer", "tower_optimizer", branches)
        inserts.append(Insert(text.anchor(step.site.stmt), (f"{name} = {optimizer}",), "before", "TMG102"))
        optimizer = name
    compute = [f"{n}={text.of(arguments[n])}" for n in COMPUTE_ARGUMENTS if n in arguments]
    compute += [f"**{text.of(keyword.value)}" for keyword in call.keywords if not keyword.arg]
    grads = f"{called('tower_gradients')}({', '.join([optimizer, losses, *compute])})"
    made = grads if step.kind is StepKind.COMPUTE else _apply_call(optimizer, grads, arguments, text)
    return Replace(text.start(call), text.end(call), made, "TMG102"), inserts, traffic
