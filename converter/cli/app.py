"""Where the program begins: the quick way out first, the command line only when there is work."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from converter.cli.shortcut import nothing_to_do


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; the arguments are the process's unless given.

    Exit status: 0 done; 1 would change, or not up to date; 2 refused, or bad usage; 3 verification
    failed; 4 internal error. Over several files: the worst.
    """
    given = sys.argv[1:] if arguments is None else list(arguments)
    if nothing_to_do(given):
        return 0
    with _without_collector():
        from converter.cli.commands import run

        return run(given)


@contextmanager
def _without_collector() -> Iterator[None]:
    """Until the end no garbage is looked for by itself: in the trees of one file there is next to none.

    It would take a third of the time of a long script. Over many files `cli.work` collects between them.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
