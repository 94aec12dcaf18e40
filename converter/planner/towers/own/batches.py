"""Batches from queues and data sets of which each tower takes its own, one after the other.

A net for pictures of any size takes one example a step from its pipeline: `image, boxes = next_batch(1)`. A batch of N
such examples does not exist, or is padded, but each tower may take the next example. That is done where the pipeline
does not end, so that no example is left over, and the script counts no examples.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from converter.analysis.facts import Facts, RunCall, TrainStep, behind_losses
from converter.analysis.tensors.sparse import is_sparse
from converter.analysis.traits import Trait, has
from converter.analysis.values import Constant, Input, Number, Origin, Typed, Value, is_none
from converter.planner.batch_size.pipelines import behind_training, training_sizes
from converter.planner.own.examples import OwnExamples, has_own_shape
from converter.planner.own.repeated import LOOPS, counts_steps
from converter.planner.own.taken import is_taken
from converter.planner.questions.statements import called


def own_batches(facts: Facts, steps: list[TrainStep]) -> OwnExamples | None:
    """The pipelines' outputs that towers take one by one; None where the batches are better cut, or that is not clear.

    That is better for examples of one shape, and for batches of several examples: it also trains on the last of them.
    """
    inputs = [value for value in behind_losses(steps).values() if isinstance(value, Input)]
    taken = [value for value in inputs if is_taken(value)]
    if not taken or any(value.is_batch for value in inputs if value not in taken):
        return None
    sizes = [size for size, _, _ in training_sizes(facts, taken, steps)]
    if any(map(is_sparse, taken)):
        return None
    one_each = all(isinstance(size, Number) and size.value == 1 for size in sizes)
    if not one_each or not any(map(has_own_shape, taken)):
        return None
    if not all(_never_ends(facts, value, steps) for value in taken):
        return None
    counts = frozenset(origin for size in sizes if isinstance(size, Number) for origin in size.origins)
    runs = [run for run in facts.runs if run.computes({value.uid for value in taken})]
    if not all(_is_counted_by_settings(facts, run, counts) for run in runs):
        return None
    return OwnExamples(tuple(dict.fromkeys(value.node for value in taken if value.node is not None)), (), ())


def _never_ends(facts: Facts, value: Input, steps: list[TrainStep]) -> bool:
    """Whether a pipeline goes through its data again and again."""
    behind = behind_training(facts, [value], steps).values()
    iterators = [one for one in behind if isinstance(one, Typed) and one.kind == "Iterator"]
    if has(value.op, Trait.NEXT_BATCH):
        return bool(iterators) and all("endless" in one.state for one in iterators)
    epochs = [number for one in behind for number in _epochs(facts, one)]
    return bool(epochs) and all(map(is_none, epochs))


def _epochs(facts: Facts, value: Value) -> Iterator[Value]:
    """The number of epochs that a producer of file names or of slices is given."""
    node = getattr(value, "node", None)
    if not isinstance(node, ast.Call) or not has(called(node), Trait.TAKES_EPOCHS):
        return
    given = [*node.args[1:2], *(keyword.value for keyword in node.keywords if keyword.arg in ("num_epochs", None))]
    for one in given:
        number = one.value if isinstance(one, ast.Constant) else facts.read_or_written.get(one)
        yield number if isinstance(number, Value) else Constant(number)
    if not given:
        yield Constant(None)


def _is_counted_by_settings(facts: Facts, run: RunCall, sizes: frozenset[Origin]) -> bool:
    """Whether no loop around a run counts the examples, or is given a number that depends on the batch size."""
    loops = [site.stmt for site in run.site.chain() if isinstance(site.stmt, LOOPS)]
    heads = [loop.test if isinstance(loop, ast.While) else loop.iter for loop in loops]
    read = (facts.read_or_written.get(node) for head in heads for node in ast.walk(head))
    if any(isinstance(value, Number) and value.origins & sizes for value in read):
        return False
    return all(_asks_to_stop(loop) or counts_steps(facts, loop) for loop in loops)


def _asks_to_stop(loop: ast.stmt) -> bool:
    """`while not coord.should_stop():`, which no end of the data stops."""
    test = loop.test if isinstance(loop, ast.While) else None
    call = test.operand if isinstance(test, ast.UnaryOp) else None
    return isinstance(call, ast.Call) and has(getattr(call.func, "attr", ""), Trait.SAYS_TO_STOP)
