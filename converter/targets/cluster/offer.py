"""Whether the cluster target takes a script that towers refuse."""

from __future__ import annotations

from typing import TYPE_CHECKING

from converter.options import Options
from converter.source import parse
from converter.source.viewed import viewed
from converter.syntax.script import Script
from converter.targets.cluster.checks import checks
from converter.targets.cluster.passes import KERAS, fit
from converter.targets.keras_package import trained_by_keras
from converter.targets.passes import Case, run

if TYPE_CHECKING:
    from converter.source import Source


def takes(source: Source) -> bool:
    """True if `--target cluster` converts a script that towers refuse.

    The script is not read again: what the facts of a script can keep from both targets (several GPUs or processes of
    its own) is among the refusals of towers, and `NO_OFFER` of the command line holds their codes. How batches are
    dealt follows from the facts, but never refuses a script.
    """
    source = viewed(source)
    script = Script(source.path, source.text, parse(source))
    options = Options(target="cluster")
    case, fitted = Case(script, options, 0), fit(script)
    if fitted is None or trained_by_keras(script, options):
        return False
    return not (run(case, KERAS) if fitted.passes is KERAS else checks(case)).refused
