"""Where the program begins: the quick way out first, the command line only when there is work."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from converter.cli.shortcut import nothing_to_do


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; the arguments are the process's unless given.

    Exit status: 0 done; 1 would change, or not up to date; 2 refused, or bad usage; 3 verification
    failed; 4 internal error. Over several files: the worst.
    """
    given = sys.argv[1:] if arguments is None else list(arguments)
    if nothing_to_do(given):
        return 0
    from converter.cli.commands import run

    return run(given)
