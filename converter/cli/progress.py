"""Progress on a terminal: of `verify` with its scripts, of `convert` with its files and with a long one."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeVar

from converter.cli.terminal import has_color, say, shown

if TYPE_CHECKING:
    from converter.verify.data import Progress

Result = TypeVar("Result")

PATIENCE = 0.5  # seconds before a bar for files, or the time, is shown
_clocks: list[_Clock] = []  # the one that is shown, if any: a bar takes its place


@contextmanager
def progress_bar(quiet: bool = False) -> Iterator[Callable[[Progress], None] | None]:
    """A function for `verify` to report to, which draws a bar; None if standard error is no terminal."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    _stop_clocks()
    columns = (BarColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
    console = Console(stderr=True, no_color=not has_color(sys.stderr))
    with Bar(*columns, console=console, transient=True) as bar:
        task = bar.add_task("", total=None)
        yield lambda progress: bar.update(
            task, description=progress.doing, completed=progress.done, total=progress.total
        )


@contextmanager
def files_bar(quiet: bool = False) -> Iterator[tuple[Callable[[int, int, str], None] | None, Callable[[str], None]]]:
    """Two functions: to count finished files on a bar (None without a terminal), and to print above the bar."""
    if quiet or not sys.stderr.isatty():
        yield None, say
        return
    bar = _FilesBar()
    try:
        yield bar.tell, bar.say
    finally:
        bar.stop()


class _FilesBar:
    """A bar that appears when a run takes longer than a moment.

    It has no thread of its own: where there is one, a process cannot be forked safely.
    """

    def __init__(self) -> None:
        self._began = monotonic()
        self._bar: Any = None
        self._task: Any = None

    def tell(self, done: int, total: int, path: str) -> None:
        if self._bar is None and total > 1 and monotonic() - self._began > PATIENCE:
            self._start(total)
        if self._bar is not None:
            self._bar.update(self._task, completed=done, description=path, refresh=True)

    def say(self, line: str) -> None:
        if self._bar is None:
            say(line)
        else:
            self._bar.console.out(shown(line), highlight=False)

    def stop(self) -> None:
        if self._bar is not None:
            self._bar.stop()

    def _start(self, total: int) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

        _stop_clocks()
        columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}", markup=False))
        console = Console(stderr=True, no_color=not has_color(sys.stderr))
        self._bar = Progress(*columns, console=console, transient=True, auto_refresh=False, redirect_stdout=False)
        self._bar.start()
        self._task = self._bar.add_task("", total=total)


def timed(results: Iterator[Result], doing: str, quiet: bool = False) -> Iterator[Result]:
    """The same results; while one is waited for, a line on the terminal says what is done and for how long.

    The line is gone when a result is there, and where a bar begins.
    """
    if quiet or not sys.stderr.isatty() or not _may_have_timer():
        yield from results
        return
    while True:
        clock = _Clock(doing)
        try:
            result = next(results)
        except StopIteration:
            return
        finally:
            clock.stop()
        yield result


def _may_have_timer() -> bool:
    return hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()


class _Clock:
    """A line with the seconds since it began, written by a timer of the system.

    It has no thread, so that a process may be forked, and a fork has no timer. It writes past Python's streams, in
    which the program may be at that moment.
    """

    def __init__(self, doing: str) -> None:
        self._doing, self._began, self._width = doing, monotonic(), 0
        self._running = True
        self._before = signal.signal(signal.SIGALRM, self._tick)
        signal.setitimer(signal.ITIMER_REAL, PATIENCE, 1.0)
        _clocks.append(self)

    def stop(self) -> None:
        """Erases the line; nothing if it was stopped before."""
        if self._running:
            self._running = False
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, self._before)
            _clocks.remove(self)
            self._write("")

    def _tick(self, *_: object) -> None:
        if self._running:
            self._write(f"{self._doing}, {monotonic() - self._began:.0f} s")

    def _write(self, text: str) -> None:
        """Puts a text in place of the last one, cut to the window; the cursor ends at the line's beginning."""
        shown = text[: max(1, shutil.get_terminal_size().columns - 1)]
        if shown or self._width:
            with suppress(OSError):
                os.write(2, f"\r{shown.ljust(self._width)}\r".encode(sys.stderr.encoding, "replace"))
        self._width = len(shown)


def _stop_clocks() -> None:
    for clock in tuple(_clocks):
        clock.stop()
