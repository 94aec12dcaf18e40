"""Training steps in several threads."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import combinations

from converter.analysis.facts import Facts, Threaded, TrainStep
from converter.diagnostics import Diagnostic
from converter.planner.cases import Selected
from converter.planner.checking import check
from converter.planner.questions.statements import parents_of
from converter.planner.wording import finding

CODES = ("TMG346", "TMG248")

REPEATED = (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)


@check(Selected)
def overlap(case: Selected) -> Iterator[Diagnostic]:
    """Threads that train beside each other, or beside the script's own loop."""
    facts = case.facts
    training = [thread for thread in facts.threads if _steps_of(facts, thread)]
    several = len({thread.call for thread in training}) > 1 or any(_is_repeated(facts, thread) for thread in training)
    if not training or not several:
        return
    steps = {step.result.uid: step.site for thread in training for step in _steps_of(facts, thread)}
    if any(not one.excludes(other) for one, other in combinations(steps.values(), 2)):
        yield finding(facts, training[0].call, "TMG248")
    else:
        yield finding(facts, training[0].call, "TMG346")


def _steps_of(facts: Facts, thread: Threaded) -> list[TrainStep]:
    """The training steps that a thread runs; of those in different branches a script takes one."""
    runs = [run for run in facts.runs if thread.makes(run)]
    return [step for step in facts.train_steps if any(run.computes({step.result.uid}) for run in runs)]


def _is_repeated(facts: Facts, thread: Threaded) -> bool:
    """Whether a call may make more than one thread that runs at a time: not where each turn waits for its thread."""
    for above in parents_of(facts, thread.call):
        if isinstance(above, REPEATED):
            return True
        if isinstance(above, ast.FunctionDef | ast.Lambda):
            break
    return any(isinstance(site.stmt, ast.For | ast.While) and not _waits(site.stmt) for site in thread.site.chain())


def _waits(loop: ast.For | ast.While) -> bool:
    """Whether a loop waits for a thread in each turn."""
    calls = (node for stmt in loop.body for node in ast.walk(stmt) if isinstance(node, ast.Call))
    return any(isinstance(call.func, ast.Attribute) and call.func.attr == "join" and not call.args for call in calls)
