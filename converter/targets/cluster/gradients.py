"""What workers may do to gradients and variables: the mean of all gradients is applied once, by the chief."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from converter.analysis.effects import EffectKind
from converter.analysis.facts import StepKind
from converter.analysis.traits import Trait, has
from converter.syntax.known import is_known
from converter.syntax.script import Script, argument
from converter.targets.cluster.reading import Read
from converter.targets.passes import Case

CODE = "TMG260"
_EFFECTS = {
    EffectKind.ASSIGN: "each worker would change this variable",
    EffectKind.AVERAGE: "each worker would update these moving averages",
    EffectKind.BATCH_NORM: "each worker would update the moving averages of batch normalisation",
    EffectKind.BATCH_NORM_SCOPE: "each worker would update the moving averages of batch normalisation",
    EffectKind.DEVICE: "the script places operations itself",
}
_RANDOM = ("numpy.random.RandomState", "numpy.random.default_rng", "random.Random", "random.SystemRandom")


def optimizer_of(case: Read) -> ast.Call | None:
    """The call that makes the optimizer."""
    facts, _ = case.known
    step = facts.train_steps[0]
    if step.kind not in (StepKind.MINIMIZE, StepKind.COMPUTE) or not isinstance(step.call.func, ast.Attribute):
        return None
    made = case.script.value(step.call.func.value)
    found = isinstance(made, ast.Call) and case.script.name(made.func).endswith("Optimizer")
    return made if found and isinstance(made, ast.Call) else None


def gradients(case: Read) -> Case:
    """Refuse training steps that would differ from one on the whole batch."""
    script, (facts, _) = case.script, case.known
    made, step = optimizer_of(case), facts.train_steps[0]
    if made is None or len(facts.train_steps) != 1:
        script.say(facts.train_steps[-1].call, CODE, "workers need one optimizer", "train by one tf.train optimizer")
        return case
    if step.kind is StepKind.COMPUTE:
        _check_applied(script, step.call)
    for node in _reached(script, made):
        if isinstance(node, ast.Call) and is_known(script, node.func, Trait.PLACEHOLDER):
            hint = "compute it from the global step: the chief applies gradients when nothing is fed"
            script.say(made, CODE, "the optimizer reads a placeholder", hint)
    for effect in facts.effects:
        if effect.kind in _EFFECTS:
            script.say(effect.node, CODE, _EFFECTS[effect.kind], "leave it out, or train with towers on one machine")
    for call in script.calls:
        name = script.name(call.func)
        if is_known(script, call.func, Trait.SPARSE_GRADIENTS):
            script.say(
                call,
                CODE,
                f"{name} has sparse gradients, of which TensorFlow averages each row over the workers that have it",
                "tf.matmul(tf.one_hot(ids, rows), table) has dense ones",
            )
        elif is_known(script, call.func, Trait.METRIC):
            script.say(call, CODE, "workers would share the metric's variables", "compute it from fetched values")
        elif name in _RANDOM and not call.args and not call.keywords:
            script.say(call, CODE, "each worker would draw other batches", f"give {name.rpartition('.')[2]} a seed")
    return case


def _check_applied(script: Script, computed: ast.Call) -> None:
    """Refuse changes of gradients before apply_gradients: a clipped mean is not the mean of clipped gradients."""
    for call in script.calls:
        if not has(getattr(call.func, "attr", ""), Trait.TAKES_PAIRS):
            continue
        given = argument(call, 0, "grads_and_vars")
        if given is None or script.value(given) is not computed:
            hint = "apply what compute_gradients gives, or train with towers on one machine"
            script.say(call, CODE, "each worker would change its gradients before they are averaged", hint)


def _reached(script: Script, node: ast.expr) -> Iterator[ast.AST]:
    """The nodes of an expression, and of the expressions that its names are bound to."""
    open_, seen = [node], set()
    while open_:
        one = open_.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        for inner in ast.walk(one):
            yield inner
            if isinstance(inner, ast.Name | ast.Attribute):
                open_.extend(script.bindings.get(ast.unparse(inner), []))
