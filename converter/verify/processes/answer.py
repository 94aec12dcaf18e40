"""Reads the answers of the scripts' processes, and says why a process gave none."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from converter.verify.data import Verdict, VerifyError
from converter.verify.processes.child_process import Child, Event

BEFORE = " before its first training step"
ORIGINALS = ("replay", "strategy original", "ddp original", "cluster original")  # roles of processes
# the event that is waited for -> when a script failed that ended before it
_WHERE = {
    "recorded": " in its first training steps",
    "replayed": " in its first training steps",
    "profiled": " before or in its first training steps",
}
# events of interpreters without a library -> its name, and what of the tool's checkout has it
_LIBRARIES = {"no tensorflow": ("TensorFlow", "verify"), "no torch": ("PyTorch", "torch")}
# events of scripts that do what is not compared -> what that is
_UNCOMPARED = {
    "refused": "takes its own steps, and fails where verify feeds it the conversion's ({place}: {message}); unless the "
    "conversion feeds something else, this is an internal error of verify: please report it",
    "in parts": "goes on with a run in parts (Session.partial_run) after an update, which is not compared",
    "threads": "runs training steps in several threads at once{where}: they have no order that two runs share; one "
    "thread at a time can be compared",
}
_NO_SHARD = "no part of the conversion's batch fits the fixed shapes of the original's inputs"
# roles in which a conversion runs: an end of its own is its fault
_CONVERSIONS = ("record", "strategy conversion", "ddp process", "cluster worker")


class Stopped(Exception):
    """A script ended before there were figures. If only the conversion does not run, it has failed.

    untrained: whether it is the original that comes to no training step: nothing of its conversion was seen.
    late: whether only the time was too short. evaluated: whether it is the original that came to its end without a
    training step, in this process, after runs that gave it values.
    """

    def __init__(
        self,
        reason: str,
        log: str = "",
        verdict: Verdict = "not comparable",
        untrained: bool = False,
        late: bool = False,
        evaluated: bool = False,
    ) -> None:
        super().__init__(reason)
        self.reason, self.log, self.verdict = reason, log, verdict
        self.untrained, self.late, self.evaluated = untrained, late, evaluated


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


def fails_too(original: Child, event: Event, conversion: Event, where: str = " in its first training step") -> None:
    """Raises `Stopped` if the original fails, too: its conversion has nothing to be like.

    event: how the original's run by itself ended; conversion: how the conversion's steps did.
    """
    if event["event"] == "ended" and event["message"]:
        reason = f"{original.title} fails{where} by itself: {event['message']}"
        more = f"; the converted script fails, too: {conversion['message']}"
        raise Stopped(reason + more, event["trace"] or original.tail())


def expect(child: Child, wanted: str, event: Event | None = None) -> Event:
    """The event with this name; another one means that the script cannot be compared.

    event: the child's, where it is known already.
    """
    event = child.event() if event is None else event
    if event["event"] == wanted:
        return event
    if event["event"] in _LIBRARIES:
        library, more = _LIBRARIES[event["event"]]
        raise VerifyError(
            f"{library} cannot be imported by this interpreter ({event['message']}): name one "
            f"that has it by --python, or in tf-multigpu's checkout: pip install '.[{more}]'"
        )
    if event["event"] == "broken":
        raise RuntimeError(f"the probe failed in {child.title}:\n{event['trace']}")
    if event["event"] in _UNCOMPARED:
        where = f" ({', '.join(event['lines'])})" if event.get("lines") else ""
        raise Stopped(
            f"{child.title} {_UNCOMPARED[event['event']].format(where=where, **event)}", event.get("trace", "")
        )
    if event["event"] == "no shard":
        raise Stopped(_NO_SHARD, verdict="failed")
    if event["event"] not in ("died", "ended"):
        raise RuntimeError(f"unexpected event {event['event']!r} from {child.title}")
    raise _ended(child, wanted, event)


def _ended(child: Child, wanted: str, event: Event) -> Stopped:
    """Why a script that ended before an event that was waited for cannot be compared."""
    verdict: Verdict = "failed" if child.role.startswith(_CONVERSIONS) else "not comparable"
    original = child.role in ORIGINALS
    if event["event"] == "died":
        where = BEFORE if wanted in ("started", "ready") else ""
        reason = f"{child.title} ended its process (status {event['status']}){where}"
        return Stopped(reason, child.tail(), verdict, original and where == BEFORE)
    if event["message"]:
        where = _WHERE.get(wanted, BEFORE)
        reason = f"{child.title} failed{where}: {event['message']}"
        return Stopped(reason, event["trace"] or child.tail(), verdict, original and where == BEFORE)
    reason = f"{child.title} ended without a training step (no run of an optimizer's train op was seen{_forks(event)})"
    evaluated = bool(original and event.get("evaluated") and not _forks(event))
    return Stopped(reason, child.tail(), verdict, original, evaluated=evaluated)
