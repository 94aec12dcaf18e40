"""`--scale-lr`: the learning rate times the number of GPUs, or its square root."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from converter.analysis.facts import TrainStep
from converter.analysis.traits import default_rates
from converter.analysis.values import Typed
from converter.options import Options
from converter.plan import Replace
from converter.planner.host.gpu_count import GpuCount
from converter.planner.writing.source_text import Text


def rate_edits(steps: Sequence[TrainStep], options: Options, text: Text, count: GpuCount) -> list[Replace]:
    """`--scale-lr`: the optimizer's learning rate times the number of GPUs, or its square root."""
    if options.scale_lr == "none":
        return []
    replaces: list[Replace] = []
    done: set[ast.AST] = set()
    for step in steps:
        optimizer = step.optimizer
        if not isinstance(optimizer, Typed) or optimizer.node is None or optimizer.node in done:
            continue
        call = optimizer.node
        done.add(call)
        factor = count.beside(call) if options.scale_lr == "linear" else f"{count.beside(call)} ** 0.5"
        rate = next((k.value for k in call.keywords if k.arg == "learning_rate"), call.args[0] if call.args else None)
        if rate is not None:
            inner = text.of(rate)
            inner = inner if isinstance(rate, (ast.Name, ast.Attribute, ast.Constant, ast.Call)) else f"({inner})"
            replaces.append(Replace(text.start(rate), text.end(rate), f"{inner} * {factor}", "TMG113"))
        elif default := default_rates().get(optimizer.name):
            rate_text = f"learning_rate={default} * {factor}"
            replaces.append(Replace(text.start(call), text.end(call), text.with_argument(call, rate_text), "TMG113"))
    return replaces
