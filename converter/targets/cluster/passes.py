"""The passes for scripts that train as N processes, in their order."""

from __future__ import annotations

import re
from pathlib import Path

from converter.source.project.above import imported_files
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
    """The passes; None for a script where neither it nor a file that it imports trains by an optimizer."""
    if not _TRAINS.search(script.text.encode()) and not any(map(_trains, imported_files(script.path, script.tree))):
        return None
    return Fit(below_imports(script), PASSES)


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
