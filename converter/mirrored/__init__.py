"""The second target: scripts that an Estimator or Keras trains get tf.distribute.MirroredStrategy.

A distribution strategy does what towers do, in TensorFlow's own training loops: each GPU holds a replica of the model,
takes a batch of its own, and the mean of the gradients is applied once.
"""

from __future__ import annotations

import ast
from typing import Literal

from converter.diagnostics import Diagnostic
from converter.header import lines_in_front
from converter.mirrored.estimator import estimator_changes, estimators
from converter.mirrored.keras import keras_changes, keras_fits
from converter.mirrored.strategy import check_options, check_others
from converter.options import Options
from converter.source.text import split_lines
from converter.syntax.changes import Change, applied
from converter.syntax.script import Script

HEADER = "TMG009"
Style = Literal["Estimator", "Keras", ""]
Trace = tuple[tuple[int, tuple[str, ...]], ...]
_SESSIONS = (
    "tf.Session",
    "tf.InteractiveSession",
    "tf.train.MonitoredTrainingSession",
    "tf.train.MonitoredSession",
    "tf.train.Supervisor",
)


def style_of(script: Script) -> Style:
    """What trains a script: "" for sessions of its own, and for what is no training script."""
    if any(script.name(call.func) in _SESSIONS for call in script.calls):
        return ""
    if estimators(script):
        return "Estimator"
    return "Keras" if _keras(script) and keras_fits(script) else ""


def _keras(script: Script) -> bool:
    return any(
        script.name(node).startswith("tf.keras")
        for node in ast.walk(script.tree)
        if isinstance(node, ast.Attribute | ast.Name)
    )


def convert_mirrored(
    script: Script, style: Style, options: Options, header: str, width: int
) -> tuple[str, tuple[Diagnostic, ...], Trace]:
    """The converted text, what its reader should know, and which lines come from which rule.

    The text is worth nothing where a finding is an error.
    """
    trained = [*estimators(script), *keras_fits(script)][0]
    check_options(script, trained, options)
    check_others(script)
    make = estimator_changes if style == "Estimator" else keras_changes
    changes = [] if script.findings else make(script, options, width)
    findings = tuple(sorted(script.findings, key=lambda finding: (finding.line, finding.column)))
    if any(finding.severity == "error" for finding in findings):
        return "", findings, ()
    changed, trace = applied(script.text, [_header(script, header), *changes])
    return changed, findings, trace


def _header(script: Script, header: str) -> Change:
    """The header comment, below the lines that must come first: shebang and coding cookie."""
    place = script.line(lines_in_front(split_lines(script.text)[:-1]) + 1)
    return Change(place, place, header.replace("\n", script.newline) + script.newline, HEADER)
