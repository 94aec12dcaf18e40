"""The events of the children as plain data: losses and traces of steps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from converter.verify.data import Box, BoxEdge, DeviceSpan, LossRow, StepTrace


def step_trace(found: Mapping[str, Any] | None) -> StepTrace | None:
    """The step that child/tmgprobe/session/timeline.py traced; None if nothing was traced."""
    if not found or not found["boxes"]:
        return None
    return StepTrace(
        tuple(Box(*row) for row in found["boxes"]),
        tuple(BoxEdge(*row) for row in found["edges"]),
        tuple(DeviceSpan(*row) for row in found["spans"]),
        tuple(sorted(found["variables"].items())),
    )


def losses(replayed: Mapping[str, Any]) -> tuple[LossRow, ...]:
    """The losses of both scripts, step by step; none where one of them could not be read."""
    found = [step.get("curve") for step in replayed["steps"] if step["order"]]
    if not all(found):
        return ()
    return tuple(LossRow(float(original), float(converted)) for converted, original, _ in found)
