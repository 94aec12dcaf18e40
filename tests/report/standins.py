"""A report to make pages from, without running anything."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from converter.conversion import convert
from converter.options import Options
from converter.report.page.html import Scripts
from converter.source import read
from converter.source.header import find_header
from converter.verify.data import (
    Box,
    BoxEdge,
    Changed,
    ConversionOrigin,
    DeviceSpan,
    LedgerLine,
    LossRow,
    Part,
    Report,
    StepTrace,
)
from tests import goldens
from tests.verify.test_report import verdict

ROOT = Path(__file__).resolve().parent.parent.parent
FOLDER = goldens.FIXTURES / "layers_cnn"


def step_trace(towers: int) -> StepTrace:
    """A step as it should be: inputs and update on the CPU, `towers` towers; without any, on one device."""
    names = [f"cpu:{number + 1}" for number in range(towers)] or ["cpu:0"]
    boxes = [Box("cpu:0", "update", 5, 40), *([Box("cpu:0", "input", 8, 20)] if towers else [])]
    edges, spans = [], [DeviceSpan("cpu:0", "update", 900, 950)]
    if towers:
        boxes.append(Box("cpu:0", "average", 4, 30))
        edges.append(BoxEdge("cpu:0", "average", "cpu:0", "update", 4))
        spans.append(DeviceSpan("cpu:0", "average", 800, 850))
    for name in names:
        boxes += [Box(name, "forward", 20, 300), Box(name, "gradient", 40, 500), Box(name, "other", 3, 1)]
        spans += [DeviceSpan(name, "forward", 0, 300), DeviceSpan(name, "gradient", 300, 800)]
        parts: list[tuple[Part, Part]] = [("input", "forward"), ("gradient", "average")] if towers else []
        edges += [
            BoxEdge("cpu:0" if one == "input" else name, one, name if two == "forward" else "cpu:0", two, 2)
            for one, two in parts
        ]
        edges.append(BoxEdge(name, "forward", name, "gradient", 12))
    return StepTrace(tuple(boxes), tuple(edges), tuple(spans), (("cpu:0", 6),))


def scripts() -> Scripts:
    texts = [(FOLDER / name).read_text(encoding="utf-8") for name in ("single.py", "multi.py")]
    return Scripts("train.py", "train_multi.py", *texts)


def report(towers: int = 2, **changes: Any) -> Report:
    """A proof of a fixture, with figures that were made up."""
    source = read(str(FOLDER / "single.py"))
    conversion = convert(source, Options(num_gpus=2))
    changed = Changed("single.py", scripts().before, scripts().after, conversion.trace)
    origin = ConversionOrigin(find_header(scripts().after), True, True, (changed,))
    whole = replace(
        verdict(),
        gpus=towers,
        versions=(("TensorFlow", "2.21.0"), ("Python", "3.11.7")),
        ledger=(
            LedgerLine("same", "gradients", "the mean", 1e-7, 1e-4),
            LedgerLine("differs", "one step", "takes 8 examples", 2.0),
            LedgerLine("unchecked", "GPUs", "there were none"),
        ),
        losses=(LossRow(2.0, 2.0), LossRow(1.5, 1.5), LossRow(1.25, 1.25)),
        original=step_trace(0),
        converted=step_trace(towers),
        origin=origin,
        command="tf-multigpu verify train.py train_multi.py --gpus 2",
    )
    return replace(whole, **changes)
