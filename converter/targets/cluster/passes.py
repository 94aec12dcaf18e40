"""The passes for scripts that train as N processes, in their order."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

from converter.analysis.traits import Trait
from converter.plan.decisions import Command
from converter.source.project.above import MOST_FILES, imported_files
from converter.source.project.folders import folders_above
from converter.syntax.known import is_known
from converter.syntax.script import Script
from converter.targets.cluster.changes import below_imports, changes
from converter.targets.cluster.checks import checks
from converter.targets.cluster.keras import beside_sessions, check_keras, keras_trainings, reading_keras
from converter.targets.cluster.reading import reading
from converter.targets.mirrored.strategy import no_other_means
from converter.targets.passes import Fit, TargetPass

# Calls that train by an optimizer of tf.train, or that end in one.
_TRAINS = re.compile(
    rb"\.(?:minimize|compute_gradients|apply_gradients)\(|\b(?:create_train_op|optimize_loss|learning\.train)\("
)


def fit(script: Script) -> Fit | None:
    """The passes; None for eager code, and where neither an optimizer of the project nor Keras trains."""
    if "GradientTape(" in script.text:
        return None
    canned = any(is_known(script, call.func, Trait.OPTIMIZED_MODEL) for call in script.calls)
    if not canned and not _TRAINS.search(script.text.encode()) and not any(map(_trains, _files(script))):
        return Fit(fits[0], KERAS) if (fits := keras_trainings(script)) else None
    return Fit(below_imports(script), PASSES)


def _files(script: Script) -> Iterator[str]:
    """The files that a script imports; where it changes Python's path, those around it, too."""
    imported = imported_files(script.path, script.tree)
    yield from imported
    if "sys.path" not in script.text and not any(b"sys.path" in _bytes(path) for path in imported):
        return
    folder = os.path.dirname(os.path.abspath(script.path))
    found = 0
    for top, folders, names in os.walk((folders_above(folder) or [folder])[0]):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in names:
            if name.endswith(".py") and found < MOST_FILES:
                found += 1
                yield os.path.join(top, name)


def _trains(path: str) -> bool:
    return _TRAINS.search(_bytes(path)) is not None


def _bytes(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError:
        return b""


PASSES = (
    TargetPass("what several processes cannot do", checks),
    TargetPass("how batches are dealt to workers", reading),
    TargetPass("what Keras trains beside", beside_sessions),
    TargetPass("the statement that starts a worker, and the size of the batch", changes),
)
KERAS = (
    TargetPass("no other means of using several GPUs", no_other_means, ends=True),
    TargetPass("what several processes cannot do", checks),
    TargetPass("what Keras cannot do in several processes", check_keras, ends=True),
    TargetPass("how batches are dealt to workers", reading_keras),
    TargetPass("the statement that starts a worker, and the size of the batch", changes),
)


def commands(path: str, source: str, gpus: int | None) -> tuple[Command, ...]:
    """How a converted script is started on this machine, and on several. path: of the script."""
    script = shlex.quote(path)
    return (
        Command("here", f"tf-multigpu launch --local 2 -- {script}"),
        Command("on hosts", f"tf-multigpu launch --hosts HOST:PORT,HOST:PORT -- {script}"),
    )
