"""Where the program begins: files that train nothing are passed over at once, all else is read by Typer."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from converter.cli.command_line.shortcut import nothing_to_do
from converter.cli.command_line.table import COMPLETION, ConfigurationError

BROKEN_PIPE = 128 + 13


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; the arguments are the process's unless given.

    Exit status: 0 done; 1 would change, or not up to date; 2 refused, or bad usage; 3 verification
    failed; 4 internal error; 130 interrupted. Over several files: the worst.
    """
    with _without_collector():
        try:
            status = _run(sys.argv[1:] if arguments is None else list(arguments))
            sys.stdout.flush()
        except BrokenPipeError:  # whoever read has closed the pipe, and the rest cannot be flushed either
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            status = BROKEN_PIPE
    if arguments is None:
        gc.freeze()  # the process ends: a last garbage collection would visit all objects for nothing
    return status


def _run(arguments: Sequence[str]) -> int:
    try:
        if COMPLETION not in os.environ and nothing_to_do(arguments):
            return 0
        from converter.cli.command_line import commands

        return commands.run(arguments)
    except ConfigurationError as error:
        return _configuration_error(error)
    except BrokenPipeError:
        raise
    except Exception as error:
        return _internal_error(error)


def _configuration_error(error: ConfigurationError) -> int:
    from converter.diagnostics import Diagnostic
    from converter.report.text import diagnostics

    print(diagnostics([Diagnostic(*problem) for problem in error.problems]), file=sys.stderr)
    return 2


def _internal_error(error: Exception) -> int:
    import traceback

    message = f"tf-multigpu: TMG090 internal error: {type(error).__name__}: {error}"
    print(traceback.format_exc(), file=sys.stderr)
    print(f"{message}\n    please report it to the project, with the command and the lines above", file=sys.stderr)
    return 4


@contextmanager
def _without_collector() -> Iterator[None]:
    """Turns automatic garbage collection off: the trees of one file hold next to no garbage.

    It would take a third of the time of a long script. Over many files `cli/files/work.py` collects between them.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
