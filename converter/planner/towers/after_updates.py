"""What waits for an update of variables, and reads them: it must get their values behind the update on each device."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from converter.analysis.effects import EffectKind
from converter.analysis.facts import Effect, Facts
from converter.analysis.traits import Trait, has
from converter.analysis.values import LISTED, Mapping, Sequence, Tensor, Value, Variable, needed, tensors_in
from converter.options import Options
from converter.plan import Replace
from converter.planner.plan_faults import PlanFault
from converter.planner.region.region import Region
from converter.planner.wording import refuse
from converter.planner.writing.helper_names import called
from converter.planner.writing.source_text import SourceText

HELPER = "after_updates"
UPDATE = "train op"


def wait_edits(facts: Facts, regions: tuple[Region, ...], options: Options, text: SourceText) -> list[Replace]:
    """Edits of `tf.control_dependencies` around what reads variables that the operations waited for have changed.

    Raises Refusal where gradients are taken there and variables are cut into slices: the model has put these together
    before the update.
    """
    steps = {step.result.uid for step in facts.train_steps}
    found: dict[ast.AST, Replace] = {}
    for wait in facts.effects_of(EffectKind.WAIT):
        node = wait.node
        if not isinstance(node, ast.Call) or any(region.in_any_tower(wait.site) for region in regions):
            continue
        behind = _behind_updates(facts, wait)
        takes_gradients = any(_takes_gradients(tensor, steps) for tensor in behind)
        if takes_gradients and options.variables == "partitioned":
            raise refuse(facts, node, PlanFault.READ_BEHIND_UPDATE)
        if takes_gradients or any(map(_reads_variables, behind)):
            found[node] = Replace(text.start(node.func), text.end(node.func), called(HELPER), "TMG148")
    return list(found.values())


def _behind_updates(facts: Facts, wait: Effect) -> list[Tensor]:
    """Tensors built in a `tf.control_dependencies` block that waits for updates of variables."""
    updates = _updating(tensors_in(wait.value)) if wait.value else set[int]()
    return [tensor for tensor in facts.tensors if updates & {value.uid for value in tensor.control}] if updates else []


def _takes_gradients(tensor: Tensor, steps: set[int]) -> bool:
    """Whether a training step, or a gradient that it is made of, is built there."""
    return tensor.uid in steps or (tensor.op == "gradient" and any(value.uid in steps for value in tensor.inputs))


def _updating(tensors: Iterable[Tensor]) -> set[int]:
    """The uids of the operations that train variables or assign them, or run behind one that does."""
    found: set[int] = set()
    known: set[int] = set()  # those that are found, and all values that are behind none
    for tensor in sorted(tensors, key=lambda one: one.uid):
        behind = needed([tensor], known)
        if any(value.uid in found or (isinstance(value, Tensor) and _changes(value)) for value in behind.values()):
            found.add(tensor.uid)
            known.add(tensor.uid)
        else:
            known |= behind.keys()
    return found


def _changes(tensor: Tensor) -> bool:
    if tensor.op == UPDATE:
        return True
    return has(tensor.op, Trait.ASSIGNS) and any(_may_be_trained(value) for value in tensor.inputs[:1])


def _reads_variables(tensor: Tensor) -> bool:
    """Whether a tensor is computed from variables, of which it reads copies on its own device."""
    if has(tensor.op, Trait.LAYER):
        return True
    if tensor.op == UPDATE or has(tensor.op, Trait.ASSIGNS) or has(tensor.op, Trait.GROUPS):
        return False  # it takes the variable itself, and runs where that is
    return any(_may_be_trained(part) for value in _chosen(tensor.operands) for part in _parts(value))


def _chosen(values: Iterable[Value]) -> Iterator[Value]:
    """Values, of those that branches or turns of a loop join each one."""
    for value in values:
        yield from _chosen(value.inputs) if isinstance(value, Tensor) and value.op == "join" else (value,)


def _parts(value: Value) -> Iterable[Value]:
    """The tensors in a list; those in an object are not what a call computes from."""
    return tensors_in(value) if isinstance(value, (Sequence, Mapping)) else (value,)


def _may_be_trained(value: Value) -> bool:
    return value.trainable if isinstance(value, Variable) else isinstance(value, Tensor) and value.op == LISTED
