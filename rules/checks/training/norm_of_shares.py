"""A batch norm in training, where the towers share a batch whose size was not found."""

from __future__ import annotations

from collections.abc import Iterator

from converter.diagnostics import Diagnostic
from converter.planner.cases import Placed
from converter.planner.checking import check
from converter.planner.questions.batch_statistics import norms_behind, trains
from converter.planner.writing.findings import error
from rules.checks.batches.size_not_found import GOES_ON

CODES = ("TMG239",)


@check(Placed, unless=("TMG218",))
def norm_of_shares(case: Placed) -> Iterator[Diagnostic]:
    """Refuse batch norms in training that would see a share of the script's batch, unless it was asked for."""
    if case.options.asked_batch is None or case.options.batch != "total":
        return
    trained = {step.result.uid for step in case.steps}
    why, advice = "", "make batches of a size with a name, such as batch_size"
    reasons = [w for w in (*case.size.warnings, *case.size.kept) if w.message.endswith(GOES_ON)]
    if reasons:
        why, advice = f", as {reasons[0].message.removesuffix(GOES_ON)} (line {reasons[0].line})", reasons[0].hint
    for step in case.steps:
        norms = (norm for norm in norms_behind(case.facts, step.loss) if trains(case.facts, trained, norm))
        if (norm := next(norms, None)) is not None:
            yield error(
                case.facts,
                norm.node,
                "TMG239",
                f"this batch norm is in training, and the batches do not grow{why}: the towers would share them, and "
                "each would normalise with the statistics of fewer examples than the script does",
                f"{advice}; or ask for --batch total to train so all the same",
            )
