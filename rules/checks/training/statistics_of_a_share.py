"""A batch norm takes the statistics of its batch where nothing trains, and that batch does not grow."""

from __future__ import annotations

from collections.abc import Iterator

from converter.analysis.arrays.rows import rows_of
from converter.analysis.effects import EffectKind
from converter.analysis.facts import Effect, RunCall
from converter.analysis.values import Constant, Input, Value
from converter.diagnostics import Diagnostic
from converter.planner.batch_size.fed.carried import is_fetched
from converter.planner.batch_size.fed.rows import named_behind
from converter.planner.cases import Shared
from converter.planner.checking import check
from converter.planner.host.one_tower import runs_in
from converter.planner.questions.batch_statistics import norms_among
from converter.planner.wording import finding

CODES = ("TMG353",)


@check(Shared, batch="per-gpu")
def statistics_of_a_share(case: Shared) -> Iterator[Diagnostic]:
    """Runs that train nothing, through a batch norm that never uses its averages. Says so once."""
    trained = {step.result.uid for step in (*case.steps, *case.facts.train_steps)}
    alone = runs_in(case.facts, case.one_tower)
    for run in case.facts.runs:
        fed = [(k, v) for k, v in run.feeds if isinstance(k, Input) and _is_batch(k) and run.computes({k.uid})]
        if not fed or run.call in alone or run.computes(trained) or any(_is_whole(case, run, v) for _, v in fed):
            continue
        norm = next((one for one in norms_among(case.facts, run.behind.values()) if _is_shared(case, run, one)), None)
        if norm is not None:
            line = getattr(norm.node, "lineno", 0)
            yield finding(case.facts, run.call, "TMG353", line=line)
            return


def _is_batch(key: Input) -> bool:
    return key.batch.kind == "example" and key.batch.axis == 0


def _is_whole(case: Shared, run: RunCall, value: Value) -> bool:
    """Whether each tower may get as many rows as on one GPU: of batches that grow, and of a single row the first."""
    rows = rows_of(case.facts, value, run.site)
    if is_fetched(value) or (rows is not None and rows.value == 1):
        return True
    sizes = named_behind(case.facts, value) if rows is None else rows.factors()
    return not case.size.scaled.isdisjoint(sizes)


def _is_shared(case: Shared, run: RunCall, norm: Effect) -> bool:
    """Whether each tower has a batch norm of its own that is in training in this run."""
    told = norm.value
    if isinstance(told, Input):
        told = next((value for key, value in run.feeds if key is told), None)
    trains = isinstance(told, Constant) and told.value is True
    return trains and norm.kind is EffectKind.BATCH_NORM and any(r.in_tower(norm.site) for r in case.regions)
