"""An input without a shape may be one value, or have a row for each example."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from converter.analysis.facts import Facts, behind_losses
from converter.analysis.inputs.feeds import is_one_array
from converter.analysis.inputs.initial_values import initial_values
from converter.analysis.traits import Trait, has
from converter.analysis.values import Input, Tensor, Typed, tensors_in
from converter.diagnostics import Diagnostic
from converter.planner.cases import Leaving, Placed
from converter.planner.checking import check
from converter.planner.questions.fed_without_rows import WithoutRows, computed_of, fed_without_rows
from converter.planner.questions.one_value import is_one_value
from converter.planner.towers.merges.recomputed import repeats
from converter.planner.wording import finding

CODES = ("TMG253",)


TYPES = ("bool", "string")  # of a switch, or of the handle of an iterator


@check(Placed)
def without_a_shape(case: Placed) -> Iterator[Diagnostic]:
    """Inputs without a shape that a loss reads, where nothing tells that each is one value for all examples."""
    facts = case.facts
    values = behind_losses(case.steps).values()
    initial = initial_values(facts)
    for value in values:
        if not isinstance(value, Input) or value.op != "placeholder" or value.node in initial:
            continue
        told = value.dtype in TYPES or value.dims is not None or value.label in case.options.shared
        if value.batch.kind != "free" or told or is_one_array(facts, value):
            continue
        fed = [v for run in facts.runs for key, v in run.feeds if key is value]
        objects = {v.kind for v in values if isinstance(v, Typed) and value in v.inputs}
        if (not fed or not all(map(is_one_value, fed))) and not (objects <= {"Cell"} and _is_setting(facts, value)):
            name = value.label or "this input"
            options = f", or say so: --shared {name}, --batch-axis {name}=0" if value.label else ""
            later = "" if value.shape is None else "its shape is known only in a run, and "
            yield finding(
                facts, value.node or case.steps[0].call, "TMG253 without_shape", later=later, name=name, options=options
            )


@check(Leaving)
def fed_one_example(case: Leaving) -> Iterator[Diagnostic]:
    """Runs that feed a single value where the training steps feed rows, for what the towers compute of its rows."""
    facts, region = case.facts, case.region
    feeds = fed_without_rows(facts, region.inputs)
    if not feeds:
        return
    _, merged = repeats(facts, region, case.wanted, case.steps)
    leaving = [*(part.value for part, _ in merged.values()), *(step.loss for step in case.steps)]
    for fed in dict.fromkeys(fed for value in leaving for fed in computed_of(value, feeds)):
        name = fed.key.label or "an input"
        lone = {other.key for other in feeds if other.run is fed.run}
        beside = any(key in region.inputs and key not in lone for key, _ in fed.run.feeds)
        advice = (
            "feed as many values as the other inputs have rows" if beside else f"feed a list of one: {_listed(fed)}"
        )
        yield finding(facts, fed.run.call, "TMG253 fed_one_example", name=name, advice=advice)


def _listed(fed: WithoutRows) -> str:
    """The fed value as a list of one, as the user would write it."""
    given = fed.run.feed_node
    written = given.values[fed.place] if isinstance(given, ast.Dict) and fed.place < len(given.values) else None
    return f"{fed.key.label}: [{ast.unparse(written)}]" if written is not None else "[value]"


def _is_setting(facts: Facts, value: Input) -> bool:
    """Whether the model reads an input as one number: a rate of dropout, a weight of means, a condition."""
    made: set[int] = {value.uid}
    for tensor in sorted(facts.tensors, key=lambda t: t.uid):
        given = [v for i in tensor.inputs for v in (i, *tensors_in(i))]
        if tensor.uid in made or not any(v.uid in made for v in given):
            continue
        first = tensor.inputs[0].uid in made
        if has(tensor.op, Trait.SETTING) and not (first and "dropout" in tensor.op):
            continue
        beside = [v for v in given if isinstance(v, Tensor) and v.uid not in made]
        if not has(tensor.op, Trait.OF_ONE_NUMBER) or any(v.batch.kind in ("example", "opaque") for v in beside):
            return False
        if tensor.batch.kind == "free":
            made.add(tensor.uid)
    return True
