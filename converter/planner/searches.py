"""Training steps that only search values for a trained model, and stay on one GPU."""

from __future__ import annotations

from converter.analysis.facts import Facts, TrainStep
from converter.analysis.values import Number, Value, Variable, needed, tensors_in
from converter.planner.batch_size.means import size_for

Key = tuple[object, ...]


def searches_of(facts: Facts, steps: tuple[TrainStep, ...], unbatched: tuple[TrainStep, ...]) -> tuple[TrainStep, ...]:
    """The training steps that only search values for a trained model, which other steps take batches for.

    Such a search is given variables of its own, which no other loss reads: the codes from which a generator makes
    given pictures. They have a row for each example, so that towers cannot share them and the search takes the whole
    batch on one GPU; or it takes no batch.
    """
    every = (*steps, *unbatched)
    own = [step for step in every if (trained := _trained(step)) and not _read_by_others(trained, step, every)]
    rest = tuple(step for step in steps if step not in own)
    if not own or not rest:
        return ()
    sizes = (size for size, _, _ in facts.batch_sizes if isinstance(size, Number))
    written = (origin for size in sizes for origin in size.origins)
    keys = {origin.key for origin in (*size_for(facts, rest).origins, *written)}
    return tuple(s for s in own if s in unbatched or all(_has_rows(value, keys) for value in _trained(s)))


def _trained(step: TrainStep) -> list[Variable]:
    """The variables that a step is given to train; none where one of them is not seen."""
    given = list(tensors_in(step.variables)) if step.variables is not None else []
    known = [value for value in given if isinstance(value, Variable)]
    return known if len(known) == len(given) else []


def _read_by_others(trained: list[Variable], step: TrainStep, steps: tuple[TrainStep, ...]) -> bool:
    return any(value.uid in other.behind for other in steps if other is not step for value in trained)


def _has_rows(value: Value, keys: set[Key]) -> bool:
    """Whether a variable is made with the batch size in its shape."""
    numbers = (n for n in needed(value.inputs).values() if isinstance(n, Number))
    return any(origin.key in keys for number in numbers for origin in number.origins)
