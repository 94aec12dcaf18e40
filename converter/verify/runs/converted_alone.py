"""The run of the converted script by itself: does its session config place all operations, and are its GPUs visible?"""

from __future__ import annotations

import re
from dataclasses import replace

from converter.verify.checks.figures import Facts
from converter.verify.data import CheckResult, Report

NAME = "session config"
_UNPLACED = re.compile(r"Cannot assign a device for operation '?([\w./-]+)")


def with_check(report: Report, check: CheckResult) -> Report:
    """The report with one more check."""
    checks = (*report.checks, check)
    if check.status != "failed":
        return replace(report, checks=checks)
    reason = f"{report.reason}; {check.detail}" if report.verdict == "failed" else check.detail
    return replace(report, verdict="failed", reason=reason, checks=checks)


def check_bare(event: Facts, towers: int) -> CheckResult:
    """The check for this many towers, made from the last event of the process (child/tmgprobe/roles/whole.py)."""
    if event["event"] == "ran":
        return _shown(event, towers)
    if event["event"] == "late":
        return CheckResult(NAME, "skipped", f"by itself the converted script took no step in {event['seconds']:.0f} s")
    if event["event"] == "died":
        return CheckResult(
            NAME, "failed", f"by itself the converted script ended its process (status {event['status']})"
        )
    if event["event"] == "ended" and not event["message"]:
        return CheckResult(NAME, "skipped", "by itself the converted script ended without a step that could be seen")
    message = event.get("message") or event["event"]
    unplaced = _UNPLACED.search(f"{message}\n{event.get('trace', '')}")
    if not unplaced:
        return CheckResult(NAME, "failed", f"by itself the converted script fails: {message}")
    what = f"by itself the converted script cannot place {unplaced[1]}"
    return CheckResult(NAME, "failed", f"{what}: the session's config needs allow_soft_placement=True")


def _shown(event: Facts, towers: int) -> CheckResult:
    """True if as many GPUs are visible as there are towers; a script that hides all GPUs has chosen the CPU."""
    needed, limits = event["gpus"], []
    environment = event["environment"]
    if environment is not None:
        limits.append((_entries(environment), f"CUDA_VISIBLE_DEVICES={environment}"))
    if event["listed"]:
        limits.append((len(event["listed"].split(",")), f"visible_device_list={event['listed']!r}"))
    if event["counted"] is not None:
        limits.append((event["counted"], f"device_count={{'GPU': {event['counted']}}}"))
    seen, why = min(limits, default=(needed, ""))
    if 0 < seen < needed:
        gpus = f"{seen} GPU{'' if seen == 1 else 's'} ({why})"
        if needed > towers:
            return CheckResult(NAME, "failed", f"an operation asks for GPU {needed - 1}, and the script sees {gpus}")
        return CheckResult(NAME, "failed", f"{needed} towers see {gpus}")
    placed = "its own config places every operation where there is no GPU"
    if needed and seen == 0:
        return CheckResult(NAME, "passed", f"{placed}; it hides all GPUs from itself ({why})")
    return CheckResult(NAME, "passed", f"{placed}, and hides none of {needed} GPUs" if needed else placed)


def _entries(visible: str) -> int:
    """The GPUs that CUDA_VISIBLE_DEVICES names; the first invalid entry ends the list."""
    count = 0
    for entry in visible.replace(" ", "").split(","):
        if not entry or entry.startswith("-"):
            break
        count += 1
    return count
