"""Reads the answers of the scripts' processes, and says why a process gave none."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from converter.verify.data import Verdict, VerifyError
from converter.verify.processes.child_process import Child, Event

BEFORE, UNTRAINED = " before its first training step", " ended without a training step"
# the event that is waited for -> when a script failed that ended before it
_WHERE = {
    "recorded": " in its first training steps",
    "replayed": " in its first training steps",
    "profiled": " before or in its first training steps",
}


class Stopped(Exception):
    """A script ended before there were figures. If only the conversion does not run, it has failed."""

    def __init__(self, reason: str, log: str = "", verdict: Verdict = "not comparable") -> None:
        super().__init__(reason)
        self.reason, self.log, self.verdict = reason, log, verdict


def does_not_train(reason: str) -> bool:
    """Whether a reason is that of an original that comes to no training step: nothing of its conversion was seen."""
    return reason.startswith("the original script") and (BEFORE in reason or UNTRAINED in reason)


def find_interpreter(named: str | None) -> str:
    """The interpreter as something that can be run from any folder; links are kept (virtual environments)."""
    if named is None:
        return sys.executable
    found = shutil.which(os.path.expanduser(named))
    if found is None:
        raise VerifyError(f"{named}: no such interpreter")
    return os.path.abspath(found)


def clean(text: str, work: Path) -> str:
    """A text without the temporary folders in its paths."""
    for folder in ("converted", "original"):
        text = text.replace(str(work / folder) + os.sep, "")
    return text.replace(str(work) + os.sep, "")


def _forks(event: Event) -> str:
    count = event.get("outside", {}).get("forks", 0)
    return f"; it has forked {count} process{'es' * (count > 1)}, in which none is looked for" if count else ""


def expect(child: Child, wanted: str) -> Event:
    """The event with this name; another one means that the script cannot be compared."""
    event = child.event()
    name = child.title
    verdict: Verdict = "failed" if child.role in ("record", "strategy conversion") or (
        child.role.startswith("ddp process")
    ) else "not comparable"
    if event["event"] == wanted:
        return event
    if event["event"] == "no tensorflow":
        raise VerifyError(
            f"TensorFlow cannot be imported by this interpreter ({event['message']}); install the extra "
            "`verify`, or name an interpreter that has TensorFlow with --python"
        )
    if event["event"] == "no torch":
        raise VerifyError(
            f"PyTorch cannot be imported by this interpreter ({event['message']}): pip install 'tf-multigpu[torch]', "
            "or name an interpreter that has PyTorch with --python"
        )
    if event["event"] == "broken":
        raise RuntimeError(f"the probe failed in {name}:\n{event['trace']}")
    if event["event"] == "in parts":
        reason = "goes on with a run in parts (Session.partial_run) after an update, which is not compared"
        raise Stopped(f"{name} {reason}", "", "not comparable")
    if event["event"] == "died":
        where = BEFORE if wanted in ("started", "ready") else ""
        raise Stopped(f"{name} ended its process (status {event['status']}){where}", child.tail(), verdict)
    if event["event"] == "ended" and event["message"]:
        where = _WHERE.get(wanted, BEFORE)
        raise Stopped(f"{name} failed{where}: {event['message']}", event["trace"] or child.tail(), verdict)
    if event["event"] == "ended":
        raise Stopped(
            f"{name}{UNTRAINED} (no run of an optimizer's train op was seen{_forks(event)})",
            child.tail(),
            verdict,
        )
    raise RuntimeError(f"unexpected event {event['event']!r} from {name}")
