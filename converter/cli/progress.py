"""How far a verification has come, on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from converter.verify.data import Progress


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
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None)
        yield lambda progress: bar.update(
            task, description=progress.doing, completed=progress.done, total=progress.total
        )
