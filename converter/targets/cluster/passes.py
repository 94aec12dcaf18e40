"""The passes for scripts that train as N processes, in their order."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from converter.source.project.above import MOST_FILES, imported_files
from converter.source.project.folders import folders_above
from converter.syntax.script import Script
from converter.targets.cluster.changes import below_imports, changes
from converter.targets.cluster.checks import checks
from converter.targets.cluster.reading import reading
from converter.targets.passes import Fit, Pass

# Calls that train by an optimizer of tf.train, or that end in one.
_TRAINS = re.compile(
    rb"\.(?:minimize|compute_gradients|apply_gradients)\(|\b(?:create_train_op|optimize_loss|learning\.train)\("
)


def fit(script: Script) -> Fit | None:
    """The passes; None for a script where neither it nor a file of its project trains by an optimizer."""
    if not _TRAINS.search(script.text.encode()) and not any(map(_trains, _files(script))):
        return None
    return Fit(below_imports(script), PASSES)


def _files(script: Script) -> Iterator[str]:
    """The files that a script imports; then those around it, which it may put on Python's path itself."""
    yield from imported_files(script.path, script.tree)
    folder = os.path.dirname(os.path.abspath(script.path))
    found = 0
    for top, folders, names in os.walk((folders_above(folder) or [folder])[0]):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in names:
            if name.endswith(".py") and found < MOST_FILES:
                found += 1
                yield os.path.join(top, name)


def _trains(path: str) -> bool:
    try:
        return _TRAINS.search(Path(path).read_bytes()) is not None
    except OSError:
        return False


PASSES = (
    Pass("what several processes cannot do", checks, ends=True),
    Pass("how batches are dealt to workers", reading),
    Pass("the statement that starts a worker, and the size of the batch", changes),
)
