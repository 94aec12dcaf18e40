"""Runs scripts in processes of their own, within what all scripts of one verification may take together."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from converter.dataclass import dataclass
from converter.verify.data import VerifyError
from converter.verify.processes.answer import Stopped
from converter.verify.processes.child_process import Child, Event, Limits, MemoryIsUp, TimeIsUp
from converter.verify.processes.interpreters import Interpreters

Job = Mapping[str, Any]


@dataclass(frozen=True)
class Runner:
    """What scripts are run with. python: the interpreter; limits: what all of them may take together."""

    pool: Interpreters
    python: str
    limits: Limits

    def begin(self, job: Job, settled: Mapping[str, str], on_step: Callable[[str, int], None] | None = None) -> Child:
        """Begins a job in an environment; see `Child`."""
        return Child(self.pool, self.python, job, settled, self.limits, on_step=on_step)

    def last_event(self, job: Job, settled: Mapping[str, str]) -> Event:
        """The event with which a script ends that is waited for no sooner."""
        with self.begin(job, settled) as child:
            event = child.event()
            return child.event() if event["event"] == "started" else event

    @contextmanager
    def bounded(self, late: str, much: str, advice: str = "") -> Iterator[None]:
        """Turns the ends of time and memory, and an interpreter that does not start, into `Stopped` and VerifyError.

        late, much: what to say where the time is up, or too much memory is taken; advice: what to do for more time.
        """
        try:
            yield
        except TimeIsUp:
            stood = "; ".join(dict.fromkeys(child.stood() for child in self.limits.children))
            raise Stopped(f"{': '.join(filter(None, (late, stood)))}{advice}", late=True) from None
        except MemoryIsUp as excess:
            raise Stopped(f"the scripts take {excess}, {much}") from None
        except (FileNotFoundError, PermissionError) as error:
            raise VerifyError(f"{self.python}: cannot be run ({error.strerror})") from None
