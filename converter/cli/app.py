"""Where the program begins: the quick ways first, Typer only where a command line is not plainly right."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress

from converter import __version__
from converter.cli.command_line.reading import read
from converter.cli.command_line.shortcut import nothing_to_do
from converter.cli.command_line.table import (
    COMMANDS,
    COMPLETION,
    CONVERT,
    HELP,
    HELP_ALL,
    VERSION,
    Command,
    ConfigurationError,
    UsageError,
)

INTERRUPTED = 128 + 2
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
    if COMPLETION not in os.environ:
        if shown := _shown(arguments):
            print(shown, file=sys.stdout if arguments else sys.stderr)
            return 0 if arguments else 2
        with suppress(UsageError):  # Typer finds the same fault, and prints it with the usage
            if found := read(arguments):
                return _guarded(*found)
    from converter.cli.command_line import commands

    try:
        return commands.run(arguments)
    except ConfigurationError as error:
        return _configuration_error(error)
    except BrokenPipeError:
        raise
    except Exception as error:
        return _internal_error(error)


def _guarded(command: Command, given: Mapping[str, object]) -> int:
    """The exit status of a command, also of one that fails."""
    from converter.cli.config.layers import completed

    try:
        values = completed(command, given)
        return 0 if command is CONVERT and nothing_to_do(values) else command.run(values)
    except UsageError:
        raise
    except ConfigurationError as error:
        return _configuration_error(error)
    except KeyboardInterrupt:
        return INTERRUPTED
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


def _shown(arguments: Sequence[str]) -> str:
    """The text to show if only that was asked for: the version, or a help text; else ""."""
    *command, last = arguments or HELP.flags[:1]
    if last in (*HELP.flags, *HELP_ALL.flags) and (not command or (len(command) == 1 and command[0] in COMMANDS)):
        from converter.cli.command_line.usage import help_text

        return help_text(COMMANDS[command[0]] if command else None, last in HELP_ALL.flags)
    return f"tf-multigpu {__version__}" if not command and last in VERSION.flags else ""


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
