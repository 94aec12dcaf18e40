"""Tensors without a batch that are made of the batch size, as `tf.constant(batch_size)` is."""

from __future__ import annotations

from collections.abc import Container

from converter.analysis.facts import Facts
from converter.analysis.traits import Trait, has
from converter.analysis.values import Host, Number, Sequence, Tensor, Value, Variable, needed
from converter.planner.questions.rows_from_python import has_rows


def is_made_of_size(value: Value, sizes: Container[tuple[object, ...]]) -> bool:
    """Whether a tensor without a batch takes a number that is, or is computed from, one of these batch sizes."""
    if not isinstance(value, Tensor) or value.batch.kind != "free":
        return False
    given = [v for i in value.inputs for v in (i, *(i.elements if isinstance(i, Sequence) else ()))]
    if any(has_rows(v, sizes) for v in value.inputs if isinstance(v, (Sequence, Host))):
        return True
    return any(isinstance(v, Number) and any(o.key in sizes for o in v.origins) for v in given)


def counts_examples(facts: Facts, value: Value, sizes: Container[tuple[object, ...]]) -> bool:
    """Whether a tensor is the number of examples so far: the variable that counts the steps, times the batch size.

    Schedules take it in place of the steps. It is the same for all towers, and counts the examples of all of them.
    """
    if not isinstance(value, Tensor) or value.op != "multiply":
        return False
    factors = [v for v in value.inputs if isinstance(v, Number)]
    if not any(origin.key in sizes for number in factors for origin in number.linear):
        return False
    steps = {v.uid for made in facts.tensors if made.op == "train op" for v in made.inputs if isinstance(v, Variable)}
    given = [v for v in value.inputs if not isinstance(v, Number)]
    behind = [v for v in needed(given).values() if isinstance(v, Tensor) and (isinstance(v, Variable) or not v.inputs)]
    return bool(behind) and all(v.uid in steps for v in behind)


def may_be_made_again(facts: Facts, value: Value, sizes: Container[tuple[object, ...]]) -> bool:
    """Whether a tensor is computed from such tensors, all of which each tower may make for itself.

    One that is fed, or keeps its value, is the same in all towers; so is a number of examples so far.
    """
    if not isinstance(value, Tensor) or value.batch.kind != "free":
        return False
    behind = [v for v in needed([value]).values() if isinstance(v, Tensor) and is_made_of_size(v, sizes)]
    return bool(behind) and not any(
        isinstance(v, Variable) or has(v.op, Trait.HAS_DEFAULT) or counts_examples(facts, v, sizes) for v in behind
    )
