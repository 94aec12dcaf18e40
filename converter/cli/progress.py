"""Progress on a terminal: of `verify` with its scripts, of `convert` with its files."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING, Any

from converter.cli.terminal import has_color, say, shown

if TYPE_CHECKING:
    from converter.verify.data import Progress

PATIENCE = 0.5  # seconds before a bar for files is shown


@contextmanager
def progress_bar(quiet: bool = False) -> Iterator[Callable[[Progress], None] | None]:
    """What `verify` is to tell; a bar on standard error if that is a terminal, else nothing is shown."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    columns = (BarColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
    console = Console(stderr=True, no_color=not has_color(sys.stderr))
    with Bar(*columns, console=console, transient=True) as bar:
        task = bar.add_task("", total=None)
        yield lambda progress: bar.update(
            task, description=progress.doing, completed=progress.done, total=progress.total
        )


@contextmanager
def files_bar(quiet: bool = False) -> Iterator[tuple[Callable[[int, int, str], None] | None, Callable[[str], None]]]:
    """What to tell how many files are done, None where nothing is shown, and what prints on standard error above it."""
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

        columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}", markup=False))
        console = Console(stderr=True, no_color=not has_color(sys.stderr))
        self._bar = Progress(*columns, console=console, transient=True, auto_refresh=False, redirect_stdout=False)
        self._bar.start()
        self._task = self._bar.add_task("", total=total)
