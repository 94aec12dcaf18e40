"""A batch norm in training, where the towers share a batch whose size was not found."""

from __future__ import annotations

import re
from collections.abc import Iterator

from converter.diagnostics import Diagnostic
from converter.planner.cases import Placed
from converter.planner.checking import check
from converter.planner.questions.batch_statistics import norms_behind, trains
from converter.planner.wording import finding

CODES = ("TMG239",)
GOES_ON = re.compile("(:|, so) a step goes on taking")  # what the warnings of batches that do not grow say in the end


@check(Placed, unless=("TMG218",))
def norm_of_shares(case: Placed) -> Iterator[Diagnostic]:
    """Refuse batch norms in training that would see a share of the script's batch, unless it was asked for."""
    if case.options.asked_batch is None or case.options.batch != "total":
        return
    trained = {step.result.uid for step in case.steps}
    why, advice = "", "make batches of a size with a name, such as batch_size"
    reasons = [w for w in (*case.size.warnings, *case.size.kept) if GOES_ON.search(w.message)]
    if reasons:
        why, advice = f", as {GOES_ON.split(reasons[0].message)[0]} (line {reasons[0].line})", reasons[0].hint
    for step in case.steps:
        norms = (norm for norm in norms_behind(case.facts, step.loss) if trains(case.facts, trained, norm))
        if (norm := next(norms, None)) is not None:
            yield finding(case.facts, norm.node, "TMG239", why=why, advice=advice)
