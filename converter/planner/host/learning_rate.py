"""`--scale-lr`: the learning rate times the number of GPUs, or its square root."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from converter.analysis.facts import Facts, RateSite, TrainStep
from converter.analysis.traits import default_rates
from converter.analysis.values import Tensor, Typed, Value
from converter.options import Options
from converter.plan import Replace
from converter.planner.host.gpu_count import GpuCount
from converter.planner.writing.source_text import SourceText

_PLAIN = (ast.Name, ast.Attribute, ast.Constant, ast.Call)  # take a factor without parentheses


def rate_edits(facts: Facts, options: Options, text: SourceText, count: GpuCount) -> list[Replace]:
    """Edits that scale the learning rate of each optimizer with the number of towers."""
    if options.scale_lr == "none":
        return []
    replaces: list[Replace] = []
    for site in _sites(facts):
        call, rate = site.call, site.rate
        factor = count.for_node(call) if options.scale_lr == "linear" else f"{count.for_node(call)} ** 0.5"
        if rate is not None:
            inner = text.of(rate) if isinstance(rate, _PLAIN) else f"({text.of(rate)})"
            replaces.append(Replace(text.start(rate), text.end(rate), f"{inner} * {factor}", "TMG113"))
        elif default := default_rates().get(site.name):
            rate_text = f"learning_rate={default} * {factor}"
            replaces.append(Replace(text.start(call), text.end(call), text.with_argument(call, rate_text), "TMG113"))
    return replaces


def rates_not_seen(facts: Facts, steps: Sequence[TrainStep]) -> Iterator[ast.AST]:
    """Optimizers whose learning rate is not written in their call, so that it cannot be scaled."""
    sites = _sites(facts)
    for site in sites:
        if site.passed or (site.rate is None and site.name not in default_rates()):
            yield site.call
    calls = {site.call for site in sites}
    for step in steps:
        if step.call not in calls and not _is_known(step.optimizer, calls, bool(sites)):
            yield step.call


def _sites(facts: Facts) -> list[RateSite]:
    """Each call once, whatever number of times it is followed."""
    return list({site.call: site for site in facts.rates}.values())


def _is_known(optimizer: Value | None, calls: set[ast.Call], any_made: bool) -> bool:
    """Whether the rates of an optimizer, and of those that it stands for or is built around, are among some calls."""
    if optimizer is None:
        return any_made  # what applies the gradients is looked for by its own call
    if isinstance(optimizer, Typed) and optimizer.node in calls:
        return True
    within = optimizer.inputs if isinstance(optimizer, (Typed, Tensor)) else ()
    return any(_is_known(value, calls, False) for value in within)
