"""The training steps of a script."""

from __future__ import annotations

from collections.abc import Iterable

from converter.analysis.facts import Facts, TrainStep
from converter.planner.questions.several_gpus import devices_of_several_gpus
from converter.planner.questions.statements import is_executed, uncalled_around


def training_steps(facts: Facts) -> tuple[tuple[TrainStep, ...], tuple[TrainStep, ...]]:
    """The training steps that a batch goes into, and those without one.

    There is one for each call in the source and each loss that the call is given: a function that minimises its
    argument may be called for several losses of one model. A call that is executed again for a loss of the same
    expression and form makes another model: the largest on batches counts, of those that the script itself makes.
    Of models that a loop makes it is the last, whose values the names have after that. A function that takes a step
    and is never called trains nothing, where the script takes other steps itself; nor do towers of its own that it
    never builds.
    """
    by_loss: dict[tuple[object, ...], TrainStep] = {}
    for step in facts.train_steps:
        form = step.loss.batch
        key = step.call, step.loss.node, form.kind, form.how
        known = by_loss.get(key)
        if known is None or _outweighs(facts, step, known):
            by_loss[key] = step
    batched = tuple(s for s in by_loss.values() if _is_batched(s))
    if any(map(is_run, batched)):
        spread = {uncalled_around(effect.site) for effect in devices_of_several_gpus(facts)}
        batched = tuple(s for s in batched if is_run(s) or uncalled_around(s.site) not in spread)
    called = {s.call for s in batched}
    rest = tuple(s for s in by_loss.values() if not _is_batched(s) and s.call not in called)
    return batched, tuple(filter(is_run, rest)) if any(map(is_run, batched)) else rest


def _outweighs(facts: Facts, step: TrainStep, known: TrainStep) -> bool:
    one, two = _weight(step), _weight(known)
    return one > two or (one == two and (step.site.frame is known.site.frame or _in_other_turn(facts, step, known)))


def _in_other_turn(facts: Facts, step: TrainStep, known: TrainStep) -> bool:
    """Whether two steps are taken by the same statement of a loop, which may call a function for them."""
    around = set(known.site.chain())
    common = next((site for site in step.site.chain() if site in around), None)
    return common in facts.turns


def executions(facts: Facts, steps: Iterable[TrainStep]) -> list[TrainStep]:
    """The training steps, and further executions of their calls for other models."""
    chosen = list(steps)
    calls = {step.call for step in chosen}
    return [*chosen, *(step for step in facts.train_steps if step.call in calls and step not in chosen)]


def _is_batched(step: TrainStep) -> bool:
    return step.loss.batch.kind != "free"


def is_run(step: TrainStep) -> bool:
    """True if the script itself runs the code that takes the step, and does not only define it for others."""
    return is_executed(step.site)


def takes_a_step(facts: Facts) -> bool:
    """False if none of the script's runs takes a training step that it builds, or it only defines one for others."""
    made = [step for step in facts.train_steps if is_run(step)]
    trained = {step.result.uid for step in made}
    return bool(made) and (not facts.runs or any(run.computes(trained) for run in facts.runs))


def _weight(step: TrainStep) -> tuple[bool, bool, int]:
    return _is_batched(step), is_run(step), len(step.behind)
