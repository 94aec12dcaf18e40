"""Whether a script is one that can be converted, and which of its steps train on batches."""

from __future__ import annotations

import ast
import re

from converter.analysis.facts import Facts, TrainStep
from converter.analysis.feeds import is_one_example
from converter.analysis.values import Input, Number, ShapeOf, Tensor, Variable, needed
from converter.planner.batch_size import BatchSize
from converter.planner.region import Region, refuse


def check_placement(facts: Facts) -> None:
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


def training_steps(facts: Facts) -> list[TrainStep]:
    """The training steps, one for each call in the source."""
    on_batches = any(s.loss.batch.kind != "free" for s in facts.train_steps)
    other = next((e for e in facts.effects if e.kind == "other training"), None)
    if other is not None and not on_batches:
        raise refuse(facts, other.node, "TMG220", f"this script trains by {other.name}, not by a session of its own",
                     "use a distribution strategy, which is made for it")  # fmt: skip
    if not facts.train_steps:
        raise refuse(facts, facts.tree, "TMG201", "no training step was found: nothing is minimised here",
                     "convert the script that calls minimize, compute_gradients or tf.gradients")  # fmt: skip
    by_call: dict[ast.AST, TrainStep] = {}
    for step in facts.train_steps:
        known = by_call.get(step.call)
        if known is None or len(needed([step.loss])) > len(needed([known.loss])):
            by_call[step.call] = step  # executed several times: the one with the largest model
    batched = [s for s in by_call.values() if s.loss.batch.kind != "free"]
    for step in batched:
        if step.call in facts.foreign:
            raise refuse(facts, step.call, "TMG221", "the gradients are taken in this other file of the project",
                         "minimise the loss in the script that is converted")  # fmt: skip
    if len(batched) < len(by_call) and batched:
        step = next(s for s in by_call.values() if s not in batched)
        raise refuse(facts, step.call, "TMG202",
                     "no batch of examples goes into the loss of this one of the training steps",
                     "convert the models apart, each in a script of its own")  # fmt: skip
    if not batched:
        step = next(iter(by_call.values()))
        raise refuse(facts, step.call, "TMG202", "no batch of examples goes into the loss of this training step",
                     "feed examples through placeholders with a batch axis, such as [None, …]")  # fmt: skip
    return batched


def check_feeds(facts: Facts, steps: list[TrainStep]) -> None:
    """Steps that take one example each have no batch to share among towers."""
    roots = {v.uid for s in steps for v in needed([s.loss]).values() if isinstance(v, Input)}
    trained = {s.result.uid for s in steps}
    for run in facts.runs:
        for key, value in run.feeds:
            without_axis = isinstance(key, Input) and key.uid in roots and (key.dims is None or key.dims == ())
            if without_axis and is_one_example(value) and trained & set(needed(run.fetches)):
                raise refuse(facts, run.call, "TMG218", "each training step takes one example, without a batch axis",
                             "feed several examples at a time to placeholders with a batch axis")  # fmt: skip


def check_reach(facts: Facts, steps: list[TrainStep], regions: list[Region]) -> None:
    """What is fed in training must reach a loss as far as the analysis sees, or the analysis misses something."""
    inputs = {i.uid for region in regions for i in region.inputs}
    trained = {s.result.uid for s in steps}
    for run in facts.runs:
        reached = set(needed(run.fetches))
        if not trained & reached:
            continue
        for key, _ in run.feeds:
            if isinstance(key, Input) and key.batch.kind == "example" and key.uid not in inputs | reached:
                raise refuse(facts, run.call, "TMG222",
                             f"{key.label or 'an input'} is fed to this training step, "
                             "but is not seen to reach its loss",
                             "leave it out of the feed if the step does not need it")  # fmt: skip
    for run in facts.runs:
        for key, _ in run.feeds:
            made = isinstance(key, Tensor) and not isinstance(key, Input) and key.batch.kind != "free"
            if made and any(r.in_tower(key.site) for r in regions):
                raise refuse(facts, run.call, "TMG223",
                             f"{key.label or 'a value'} is computed by the model and fed in its stead",
                             "feed a placeholder")  # fmt: skip


def check_shapes(facts: Facts, steps: list[TrainStep], size: BatchSize) -> None:
    """A variable with the batch size in its shape has one value for each place of a batch: no shard has them all."""
    keys = {o.key for o in size.origins}
    for value in needed(s.loss for s in steps).values():
        if not isinstance(value, Variable):
            continue
        if any(o.key in keys for n in _numbers_behind(value) for o in n.origins):
            raise refuse(facts, value.node or steps[0].call, "TMG224",
                         "this variable is made with the batch size in it",
                         "make its shape independent of the batch size")  # fmt: skip


def _numbers_behind(variable: Variable) -> list[Number]:
    """The numbers that a variable's shape and initial value are made of, not those behind other tensors' shapes."""
    found: list[Number] = []
    todo, seen = list(variable.inputs), set()
    while todo:
        value = todo.pop()
        batched = isinstance(value, Tensor) and value.batch.kind != "free"
        if value.uid in seen or batched or isinstance(value, (ShapeOf, Variable)):
            continue
        seen.add(value.uid)
        if isinstance(value, Number):
            found.append(value)
        todo += [*value.inputs, *value.parts()]
    return found


def check_contents(facts: Facts, regions: list[Region]) -> None:
    """What the towers cannot hold: sparse batches, and moving averages of tensors that they compute."""
    inputs = {i.uid for region in regions for i in region.inputs}
    for effect in facts.effects:
        if effect.kind == "sparse placeholder" and effect.value is not None and effect.value.uid in inputs:
            raise refuse(facts, effect.node, "TMG225", "a sparse batch cannot be cut into shards by its rows",
                         "feed a dense batch, or indices of one length for each example")  # fmt: skip
        if effect.kind == "ema" and any(region.in_any_tower(effect.site) for region in regions):
            raise refuse(facts, effect.node, "TMG226",
                         "these moving averages are made while the model is built, under names of the first tower",
                         "apply them after the loss, or use tf.layers.batch_normalization")  # fmt: skip
