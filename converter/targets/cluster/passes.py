"""The passes for scripts that train on several machines, in their order."""

from __future__ import annotations

from converter.analysis.traits import Trait, has
from converter.syntax.script import Script
from converter.targets.cluster.changes import changes
from converter.targets.cluster.gradients import gradients
from converter.targets.cluster.reading import reading
from converter.targets.cluster.template import template
from converter.targets.passes import Fit, Pass

SESSION = "tf.Session"


def fit(script: Script) -> Fit | None:
    """The call that makes the session, and the passes; None for a script without one, or without a training step."""
    sessions = [call for call in script.calls if script.name(call.func) == SESSION]
    trains = any(has(getattr(call.func, "attr", ""), Trait.TRAINS) for call in script.calls)
    return Fit(sessions[0], PASSES) if sessions and trains else None


PASSES = (
    Pass("what trains, on which batches, and what follows the batch size", reading, ends=True),
    Pass("the session, its loop and the statement that trains", template, ends=True),
    Pass("what workers may do to gradients and variables", gradients, ends=True),
    Pass("the changes", changes),
)
