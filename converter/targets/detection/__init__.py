"""Configurations of the Object Detection API: its trainer builds the clones, the configuration says the batch."""

from __future__ import annotations

from converter.targets.detection.commands import commands
from converter.targets.detection.pipeline import PipelineEdit, convert_pipeline

__all__ = ["PipelineEdit", "commands", "convert_pipeline"]
