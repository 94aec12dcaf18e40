"""A run in which the original trains nothing, as an evaluation does: both scripts run to their ends and are compared.

What such a run says is what it prints and fetches. Nothing is proven of training steps: the ledger says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from converter.verify.checks.untrained import Said, check_untrained
from converter.verify.data import CheckResult, LedgerLine, Report, Verdict
from converter.verify.judge import ComparisonSettings
from converter.verify.processes.answer import clean
from converter.verify.processes.child_process import MemoryIsUp, TimeIsUp, environment
from converter.verify.processes.layout import Copy
from converter.verify.processes.output import Output
from converter.verify.processes.runner import Job, Runner

NOTHING = "no step trains in this run"
AGAIN = 2  # further runs of the original, where something differs


def evaluation_job(like: Job, copy: Copy, args: Iterable[str], work: Path) -> dict[str, Any]:
    """The job of such a run, beside that of the compared steps of the same script."""
    return {**like, "role": "evaluation", **copy.job(args, work), "said": str(work / "said")}


def with_evaluation(
    stopped: Report, theirs: Job, original: Callable[[str], Job], runner: Runner, asked: ComparisonSettings
) -> Report:
    """The report of comparing such runs, where `stopped` says that nothing trains.

    theirs: the job of the conversion; original: one of the original, in a new folder of this name.
    """

    def said(job: Job) -> Said:
        work = Path(job["work"])
        output = Output(Path(job["said"]))
        try:
            event = runner.last_event(job, environment(asked.gpus, asked.devices))
        finally:
            output.close()
        text = clean(output.text(), work)
        if event["event"] == "ran":
            runs = tuple(tuple(float(number) for number in run) for run in event["runs"])
            return Said(text, runs, steps=event["steps"])
        problem = event.get("message") or f"its process ended ({event.get('status', event['event'])})"
        return Said(text, problem=clean(str(problem), work))

    def again() -> Iterator[Said]:
        for number in range(AGAIN):
            yield said(original(f"evaluated_again_{number}"))

    try:
        own = said(original("evaluated_original"))
        checks = check_untrained(own, said(theirs), again, asked.batches)
    except (TimeIsUp, MemoryIsUp):
        return stopped
    return _concluded(stopped, checks)


def _concluded(stopped: Report, checks: list[CheckResult]) -> Report:
    failed = next((check for check in checks if check.status == "failed"), None)
    passed = [check for check in checks if check.status == "passed"]
    what = f"{NOTHING}: what both scripts print and fetch to their ends was compared instead"
    entries = (*(check.entry() for check in checks), LedgerLine("unchecked", "training", what))
    if failed is None and not passed:
        words = "; ".join(f"{check.name}: {check.detail}" for check in checks)
        return replace(stopped, reason="; ".join(filter(None, (stopped.reason, words))), ledger=stopped.ledger)
    reason = f"{NOTHING}; " + "; ".join(f"{check.name}: {check.detail}" for check in ([failed] if failed else passed))
    verdict: Verdict = "failed" if failed else "passed"
    return replace(
        stopped, verdict=verdict, reason=reason, checks=tuple(checks), ledger=entries, log="", untrained=False
    )
