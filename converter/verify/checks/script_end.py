"""The check of a script that ends with an error before the last step that was asked for."""

from __future__ import annotations

from converter.verify.checks.figures import Facts
from converter.verify.data import CheckResult

_NAME = "end of the script"


def check_end(recorded: Facts, replayed: Facts) -> list[CheckResult]:
    """If a script failed within the compared steps, the other one must have failed, too; no check if neither did.

    recorded, replayed: the last events of the conversion and of the original: the number of `steps` taken, and of those
    `skipped` behind them, the `error` that ended the script, and for the original how many `further` steps it took
    behind the recorded ones.
    """
    theirs, mine = recorded["error"], replayed["error"]
    after, own = recorded["steps"] + recorded["skipped"], len(replayed["steps"]) + replayed["further"]
    if theirs and mine:
        both = f"the conversion ends with an error after step {after} ({theirs}), and so does the original ({mine})"
        return [CheckResult(_NAME, "skipped", both)]
    if theirs:
        detail = f"the conversion fails after step {after}: {theirs}; the original, after {_steps(own)}, does not"
        return [CheckResult(_NAME, "failed", detail)]
    if mine:
        detail = f"the original fails after {_steps(own)}, which the conversion does not: {mine}"
        return [CheckResult(_NAME, "skipped", detail)]
    return []


def _steps(count: int) -> str:
    return f"{count} step" if count == 1 else f"{count} steps"
