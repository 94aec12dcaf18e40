"""Signals that ask a command to end: each ends it as Ctrl-C does, so that scripts and temporary files go with it."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager

_ASKING = ("SIGTERM", "SIGHUP")  # a terminal that is closed sends the second one


@contextmanager
def ended_in_order() -> Iterator[None]:
    """While the block runs, SIGTERM and SIGHUP raise KeyboardInterrupt; one that is ignored (nohup) stays so."""
    numbers = [getattr(signal, name) for name in _ASKING if hasattr(signal, name)]
    before = {number: signal.getsignal(number) for number in numbers}
    heard = [number for number in numbers if before[number] is not signal.SIG_IGN]
    for number in heard:
        signal.signal(number, _interrupt)
    try:
        yield
    finally:
        for number in heard:
            signal.signal(number, before[number])


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt
