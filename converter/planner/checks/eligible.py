"""Whether a script is one that can be converted, and which of its steps train on batches."""

from __future__ import annotations

import ast
import re

from converter.analysis.effects import EffectKind
from converter.analysis.facts import Facts, TrainStep
from converter.analysis.inputs.embedded_data import beside
from converter.analysis.inputs.feeds import is_one_example, is_one_row
from converter.analysis.tensors.sparse import has_rows
from converter.analysis.traits import Trait, has
from converter.analysis.values import (
    Bound,
    Host,
    Input,
    Instance,
    Number,
    Sequence,
    ShapeOf,
    Tensor,
    Value,
    Variable,
    needed,
    tensors_in,
)
from converter.diagnostics import Diagnostic, Refusal
from converter.planner.batch_size.batch_size import BatchSize
from converter.planner.batch_size.fed_rows import is_kept
from converter.planner.checks.other_training import no_training_step, package_of, several_gpus
from converter.planner.questions.drawn_batches import drawn_in
from converter.planner.questions.outside_calls import is_foreign
from converter.planner.region.prepared_batches import upstream
from converter.planner.region.region import Region
from converter.planner.writing.findings import refuse, warn


def check_placement(facts: Facts) -> None:
    """Scripts that spread themselves over GPUs or machines already."""
    gpus: set[str] = set()
    for effect in facts.effects:
        if effect.kind is EffectKind.DISTRIBUTED:
            raise refuse(facts, effect.node, "TMG217", f"this script is distributed already ({effect.name})",
                         "convert the script as it was for one GPU")  # fmt: skip
        if effect.kind is EffectKind.CONVERTED_MODULE:
            raise refuse(facts, effect.node, "TMG216", f"{effect.name} was converted before, with another script",
                         "convert both scripts at once, from their originals")  # fmt: skip
        if effect.kind is EffectKind.DEVICE:
            computed = effect.name == "None" and any(isinstance(s.stmt, ast.For) for s in effect.site.chain())
            gpus |= set(re.findall(r"gpu:(\d+)", effect.name.lower()))
            if computed or len(gpus) > 1:
                raise refuse(facts, effect.node, "TMG216", "this script places its model on several GPUs already",
                             "convert the script as it was for one GPU")  # fmt: skip


def training_steps(facts: Facts) -> list[TrainStep]:
    """The training steps, one for each call in the source and each loss that it is handed.

    A function that minimises what it is given may be called for several losses of one model; a call that is executed
    again for a loss of the same expression makes another model.
    """
    on_batches = any(s.loss.batch.kind != "free" for s in facts.train_steps)
    other = next(facts.effects_of(EffectKind.OTHER_TRAINING), None)
    eager = next(facts.effects_of(EffectKind.EAGER), None)
    if eager is not None and not on_batches:
        raise refuse(facts, eager.node, "TMG235", f"this script trains eagerly ({eager.name}): it has no graph",
                     "use tf.distribute.MirroredStrategy, which is made for it")  # fmt: skip
    if other is not None and not on_batches and (spread := several_gpus(facts)) is not None:
        raise spread
    if other is not None and not on_batches:
        raise refuse(facts, other.node, "TMG220", f"this script trains by {other.name}, not by a session of its own",
                     "use a distribution strategy, which is made for it")  # fmt: skip
    if not facts.train_steps:
        raise no_training_step(facts)
    by_loss: dict[tuple[ast.AST, ast.AST | None], TrainStep] = {}
    for step in facts.train_steps:
        known = by_loss.get((step.call, step.loss.node))
        if known is None or _weight(step) > _weight(known):
            by_loss[step.call, step.loss.node] = step  # executed several times: the largest model on batches
    batched = [s for s in by_loss.values() if s.loss.batch.kind != "free"]
    called = {s.call for s in batched}
    without = [s for s in by_loss.values() if s.loss.batch.kind == "free" and s.call not in called]
    for step in without:
        _check_draws(facts, step)
    if without and batched:
        step = without[0]
        raise refuse(facts, step.call, "TMG202",
                     "no batch of examples goes into the loss of this one of the training steps",
                     "convert the models apart, each in a script of its own")  # fmt: skip
    if not batched:
        step = without[0]
        check_feeds(facts, [step], any_shape=True)
        _check_queues(facts, step)
        if facts.uncut:
            raise _uncut(facts, step, "no batch of examples goes into the loss of this training step, and")
        outermost = list(step.site.chain())[-1].stmt
        if isinstance(outermost, (ast.FunctionDef, ast.ClassDef)):
            raise refuse(facts, step.call, "TMG202",
                         f"nothing here calls {outermost.name}: what goes into the loss of this step is not seen",
                         "convert the script that calls it, and its files change with it (--output-dir)")  # fmt: skip
        raise refuse(facts, step.call, "TMG202", "no batch of examples goes into the loss of this training step",
                     "feed examples through placeholders with a batch axis, such as [None, …]")  # fmt: skip
    if facts.uncut:
        raise _uncut(facts, batched[0], "the loss reads arrays with a row for each example that is fed, but")
    return batched


def _uncut(facts: Facts, step: TrainStep, lead: str) -> Refusal:
    message = f"{lead} the arrays in the graph cannot be cut into shards: {facts.uncut}"
    hint = "feed examples through placeholders with a batch axis, such as [None, …]"
    return refuse(facts, step.call, "TMG202", message, hint)


def _check_queues(facts: Facts, step: TrainStep) -> None:
    """What comes out of a queue may be one example, or a batch of which nothing tells that it is one."""
    for value in needed([step.loss]).values():
        if isinstance(value, Input) and value.op == "train.dequeue":
            name = value.label or "NAME"
            raise refuse(facts, value.node or step.call, "TMG202",
                         "nothing tells that what is dequeued here for the loss of a training step is a batch",
                         f"use dequeue_many, or --batch-axis {name}=0 where its rows are the examples")  # fmt: skip


def _check_draws(facts: Facts, step: TrainStep) -> None:
    """Noise that a call which is not followed takes in may be the batch of a loss that seems to have none."""
    drawn, values = set(drawn_in(needed([step.loss]))), needed([step.loss]).values()
    for value in values:
        if isinstance(value, Host) and value.node in facts.unfollowed and drawn & set(needed(value.inputs).values()):
            raise refuse(facts, value.node, "TMG241", "the loss needs what this call makes of the noise "
                         "that is drawn for each batch, and it is not followed",
                         "convert with --trace, which runs the script to see what it gives")  # fmt: skip


def _weight(step: TrainStep) -> tuple[bool, int]:
    return step.loss.batch.kind != "free", len(needed([step.loss]))


def executions(facts: Facts, steps: list[TrainStep]) -> list[TrainStep]:
    """The training steps, and those that the same calls made when they were executed for other models."""
    calls = {step.call for step in steps}
    return [*steps, *(step for step in facts.train_steps if step.call in calls and step not in steps)]


def check_feeds(facts: Facts, steps: list[TrainStep], any_shape: bool = False) -> None:
    """Steps that take one example each have no batch to share among towers; `any_shape` where no input has one."""
    roots = {v.uid for s in steps for v in needed([s.loss]).values() if isinstance(v, Input)}
    trained = {s.result.uid for s in steps}
    for run in facts.runs:
        for key, value in run.feeds:
            shapeless = isinstance(key, Input) and (any_shape or key.dims is None or key.dims == ())
            without_axis = shapeless and key.uid in roots
            if without_axis and is_one_example(value) and run.computes(trained):
                raise refuse(facts, run.call, "TMG218", "each training step takes one example, without a batch axis",
                             "feed several examples at a time to placeholders with a batch axis")  # fmt: skip
    _check_rows(facts, steps)


def _check_rows(facts: Facts, steps: list[TrainStep]) -> None:
    """Steps whose batches have a single row each, another one in each run; gradients that are fetched are such, too."""
    grown = {e.value.uid for e in facts.effects_of(EffectKind.MUTATION) if e.value is not None}
    batches = [
        (run, key, value, is_one_row(value, key.batch.axis, grown))
        for run in facts.runs
        for key, value in run.feeds
        if isinstance(key, Input) and key.batch.kind == "example"
    ]
    if not any(single for *_, single in batches):
        return
    trained, roots = {s.result.uid for s in steps}, needed(s.loss for s in steps)
    runs = {run for run, *_ in batches if run.computes(trained)}
    fed = [(run, value, single) for run, key, value, single in batches if run in runs and key.uid in roots]
    if all(single for *_, single in fed) and not all(is_kept(facts, value, run) for run, value, _ in fed):
        raise refuse(facts, fed[0][0].call, "TMG218",
                     "each training step takes one example: its batch has a single row",
                     "collect several examples, and feed them in one step")  # fmt: skip


def _only_fed(facts: Facts, value: Value) -> bool:
    """Whether a value is read nowhere but as a key of what is fed: no computation needs it."""
    reads = [access.node for access in facts.accesses if access.value is value and not access.write]
    keys = {key for node in facts.nodes(ast.Dict) for key in node.keys}
    return bool(reads) and keys.issuperset(reads)


# Effects by which a value may get to where it is not followed.
HANDED = (EffectKind.ESCAPE, EffectKind.UNFOLLOWED, EffectKind.COLLECTION, EffectKind.GRAPH_NAME)


def _leads_nowhere(facts: Facts, value: Value) -> bool:
    """Whether all that is computed of an input is computed by operations, of which nothing reads the last ones."""
    made: set[int] = {value.uid}
    taken: set[int] = {value.uid}
    for tensor in sorted(facts.tensors, key=lambda t: t.uid):
        given = {v.uid for i in tensor.inputs for v in (i, *tensors_in(i))} & made
        if given:
            made.add(tensor.uid)
            taken |= given
    handed = (t for e in facts.effects if e.kind in HANDED and e.value for v in (e.value, *e.value.inputs)
              for t in (v, *tensors_in(v)))  # fmt: skip
    read = (access.value.uid for access in facts.accesses if not access.write)
    return len(made) > 1 and not any(t.uid in made for t in handed) and (made - taken).isdisjoint(read)


def check_reach(facts: Facts, steps: list[TrainStep], regions: list[Region]) -> None:
    """What is fed in training must reach a loss as far as the analysis sees, or the analysis misses something."""
    inputs = {i.uid for region in regions for i in upstream(region.inputs)}
    trained = {s.result.uid for s in steps}
    for run in facts.runs:
        behind = run.behind
        if not trained & set(behind):
            continue
        reached = {*behind, *(i.uid for i in upstream(v for v in behind.values() if isinstance(v, Input)))}
        found = {value.uid for key, value in run.feeds if key.uid in inputs | reached}
        for key, value in run.feeds:
            batch = isinstance(key, Input) and key.batch.kind == "example"
            missed = batch and value.uid not in found  # of several inputs that a branch chooses one of, one reaches it
            if missed and not _only_fed(facts, key) and not _leads_nowhere(facts, key):
                raise refuse(facts, run.call, "TMG222",
                             f"{key.label or 'an input'} is fed to this training step, "
                             "but is not seen to reach its loss",
                             "leave it out of the feed if the step does not need it")  # fmt: skip
    for run in facts.runs:
        for key, _ in run.feeds:
            made = [t for t in tensors_in(key) if not isinstance(t, Input) and t.batch.kind != "free"]
            if any(r.in_tower(t.site) for r in regions for t in made):
                raise refuse(facts, run.call, "TMG223",
                             f"{key.label or 'a value'} is computed by the model and fed in its stead",
                             "feed a placeholder")  # fmt: skip


def check_beside(facts: Facts, steps: list[TrainStep], size: BatchSize) -> None:
    """Where a whole data set is fed, what it meets in the graph may be the rest of it, with a row for each example."""
    for entry in beside(facts, [step.loss for step in steps]) if size.whole else ():
        shown = entry.value.label or getattr(entry.value, "call", "") or "a list"
        raise refuse(facts, entry.key[0], "TMG202",
                     f"the data set that is fed here meets {shown}, which may have a row for each example, too",
                     "feed it through a placeholder")  # fmt: skip


def check_data(facts: Facts, regions: list[Region]) -> None:
    """Python code among the statements of the model sees a shard of the data, where it saw all of it before."""
    for effect in facts.effects:
        read = effect.kind is EffectKind.READ_BY_PYTHON and effect.value is not None and effect.value.uid in facts.cut
        read &= effect.node not in facts.by_row
        if read and any(region.in_any_tower(effect.site) for region in regions):
            raise refuse(facts, effect.node, "TMG205",
                         "the data in the graph is read by Python code among the statements of the model, too",
                         "compute what this code gives in front of the model")  # fmt: skip
    changed = [(e.time, e.node, e.value.uid) for e in facts.effects_of(EffectKind.MUTATION) if e.value is not None]
    changed += [(a.time, a.node, a.place.owner) for a in facts.accesses if a.write]
    for time, node, uid in changed:
        if uid in facts.cut and any(region.start <= time <= region.end for region in regions):
            raise refuse(facts, node, "TMG205", "the data in the graph is changed while the model is built",
                         "change it in front of the model")  # fmt: skip


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


def check_share(steps: list[TrainStep], facts: Facts, inputs: tuple[Input, ...], size: BatchSize) -> None:
    """A batch of one example that does not grow with the towers cannot be shared among them."""
    for value in inputs if size.fixed else ():
        entries = value.shape.elements if isinstance(value.shape, Sequence) else []
        rows = entries[value.batch.axis] if len(entries) > value.batch.axis else None
        if isinstance(rows, Number) and rows.value == 1:
            raise refuse(facts, value.node or steps[0].call, "TMG218",
                         "each training step takes one example: this input has room for no more",
                         "feed several examples at a time, and leave the batch axis open")  # fmt: skip


def _numbers_behind(variable: Variable) -> list[Number]:
    """The numbers that a variable's shape and initial value are made of, not those behind other tensors' shapes."""
    found: list[Number] = []
    todo, seen = list(variable.inputs), set()
    while todo:
        value = todo.pop()
        batched = isinstance(value, Tensor) and bool(value.roots)
        if value.uid in seen or batched or isinstance(value, (ShapeOf, Variable)):
            continue
        seen.add(value.uid)
        if isinstance(value, Number):
            found.append(value)
        todo += [*value.inputs, *value.parts()]
    return found


def unread(facts: Facts) -> list[Diagnostic]:
    """Warns of files of the project that could not be followed."""
    return [
        warn(facts, e.node, "TMG013", f"{e.name}; what the script does with it is not known",
             "see that no part of the model is in it; `python -m lib2to3 -w` mends Python 2 syntax")
        for e in facts.effects_of(EffectKind.UNREAD_MODULE)
    ] + [
        warn(facts, e.node, "TMG014", f"{e.name} is asked for while that file is being imported, before it has it: "
             "Python stops here", "import the module itself, and read the name from it where it is needed")
        for e in facts.effects_of(EffectKind.CIRCULAR_IMPORT)
    ]  # fmt: skip


def sessions_left(facts: Facts, several: bool) -> list[Diagnostic]:
    """Warns of sessions in files that may not change."""
    calls = {s.call: s for s in facts.sessions if facts.path_of(s.call)}
    return [
        warn(facts, call, "TMG306", "this session of another file keeps its configuration",
             "give it allow_soft_placement=True, or convert with --output-dir or --in-place")
        for call in calls if not several
    ]  # fmt: skip


def host_functions(facts: Facts, regions: list[Region]) -> list[Diagnostic]:
    """Warns of functions of the host that the towers call with their shards."""
    return [
        warn(facts, e.node, "TMG313", f"tf.{e.name} is taken to work on each example by itself: each tower calls it "
             "with its shard", "see that it does not look at the whole batch, or use TensorFlow's operations")
        for e in facts.effects_of(EffectKind.HOST_FUNCTION) if any(region.in_any_tower(e.site) for region in regions)
    ]  # fmt: skip


def check_defaults(facts: Facts, regions: list[Region]) -> None:
    """An input that has one row for all examples where nothing is fed must be fed with the others."""
    inputs = {i.uid for region in regions for i in region.inputs}
    single = {e.value.uid for e in facts.effects_of(EffectKind.DEFAULT_OF_ONE_ROW) if e.value is not None} & inputs
    for run in facts.runs if single else ():
        keys = {key.uid for key, _ in run.feeds}
        if keys & inputs and single - keys:
            raise refuse(facts, run.call, "TMG243", "this run leaves an input to its default, which has one row for "
                         "all examples and cannot be shared",
                         "feed it, or give it a default with a row for each example")  # fmt: skip


def check_recursion(facts: Facts, steps: list[TrainStep]) -> None:
    """A model that functions build by calling themselves is followed for a turn only, and so is not seen as a whole."""
    behind = {uid for uid, value in needed(s.loss for s in steps).items() if isinstance(value, Host)}
    for effect in facts.effects_of(EffectKind.RECURSION):
        if effect.value is not None and effect.value.uid in behind:
            raise refuse(facts, effect.node, "TMG232",
                         f"the model is built by {effect.name}, which calls itself",
                         "build it in a loop")  # fmt: skip


def check_state(facts: Facts, steps: list[TrainStep], regions: list[Region]) -> None:
    """Variables that carry something of a batch to the next step: the towers would each go on from their own shard.

    What is computed after the loop is of the whole batch, and set once: a number for all examples may be carried so.
    """
    read = _read_as_data([s.loss for s in steps])
    for effect in facts.effects_of(EffectKind.ASSIGNED):
        made = effect.value
        if not isinstance(made, Tensor):
            continue
        if not any(isinstance(v, Tensor) and v.batch.kind != "free" for v in made.inputs):
            continue
        once = not any(r.in_any_tower(effect.site) for r in regions)
        carried = [v for v in made.inputs if isinstance(v, Variable) and v.uid in read]
        if made.uid in read or any(not once or not _is_number(v) for v in carried):
            raise refuse(facts, effect.node, "TMG234",
                         "a variable carries what is computed from one batch to the model's next step",
                         "feed the state and fetch it, or leave statistics to a normalising layer")  # fmt: skip


def _is_number(variable: Variable) -> bool:
    """Whether a variable holds one number, in whatever shape: [0.] is read as 0. is."""
    return variable.dims is not None and all(d == 1 for d in variable.dims)


def _read_as_data(losses: list[Tensor]) -> dict[int, Value]:
    """What losses are computed from: not what they wait for, nor what stands in for statistics of the batch."""
    found: dict[int, Value] = {}
    todo: list[Value] = list(losses)
    while todo:
        value = todo.pop()
        if value.uid in found:
            continue
        found[value.uid] = value
        if isinstance(value, Input):
            continue
        waits = {v.uid for v in value.control} if isinstance(value, Tensor) else set()
        inputs = [v for v in (*value.inputs, *value.parts()) if v.uid not in waits]
        chosen = isinstance(value, Tensor) and (value.op == "join" or has(value.op, Trait.CONDITION))
        if chosen and any(v.roots for v in inputs):
            inputs = [v for v in inputs if v.roots]  # moving averages in place of the batch's own, outside of training
        todo += inputs
    return found


def check_followed(facts: Facts, steps: list[TrainStep]) -> None:
    """A call that is not followed may make variables, or mix examples, of which nothing would be seen."""
    unfollowed, values = set(facts.unfollowed), needed(step.loss for step in steps).values()
    for value in values:
        if isinstance(value, Bound) and value.function is None and isinstance(value.receiver, Instance):
            _check_set_unseen(facts, value)
        if isinstance(value, Host) and value.roots and value.node in unfollowed and is_foreign(value):
            package = package_of(facts, value.node)
            goes = f" into the package {package}" if package else ""
            raise refuse(facts, value.node, "TMG241",
                         f"the loss needs what this call{goes} makes of a batch, and it is not followed",
                         "convert with --trace, which runs the script to see what it gives")  # fmt: skip


def _check_set_unseen(facts: Facts, attribute: Bound) -> None:
    """An attribute that nothing sets may be set by a method of its object that gets a batch and is not followed."""
    for effect in facts.effects:
        result = effect.value if effect.kind is EffectKind.UNFOLLOWED else None
        method = result.inputs[0] if result is not None and result.roots else None
        if isinstance(method, Bound) and method.receiver is attribute.receiver:
            raise refuse(facts, effect.node, "TMG241", f"the loss needs {attribute.name}, which may be what this call "
                         "makes of a batch, and it is not followed", "see that the module of this object's class can "
                         "be imported from the folder of the script")  # fmt: skip


def check_contents(facts: Facts, regions: list[Region]) -> None:
    """What the towers cannot hold: sparse batches."""
    inputs = {i.uid for region in regions for i in region.inputs}
    for effect in facts.effects_of(EffectKind.SPARSE_PLACEHOLDER):
        sparse = isinstance(effect.value, Input) and effect.value.uid in inputs
        if sparse and not has_rows(effect.value, facts.tensors):  # type: ignore[arg-type]
            raise refuse(facts, effect.node, "TMG225",
                         "nothing tells that the rows of this sparse batch are its examples",
                         "give it a shape with the batch axis in front, such as [None, 784]")  # fmt: skip
