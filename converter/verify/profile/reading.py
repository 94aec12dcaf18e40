"""From what a script's process measured to plain figures (child/tmgprobe/roles/profile.py says what it sends)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from converter.verify.profile.data import MeasuredStep, Transfer

LARGEST = 5  # tensors named for each edge
KINDS = ("parameters", "gradients", "inputs", "other")


def read_measured(event: Mapping[str, Any], asked: int) -> MeasuredStep:
    """The figures of one step; train ops that take turns are added up."""
    runs = event["runs"]
    towers = {device for run in runs for device in run["towers"]}
    return MeasuredStep(
        asked=asked,
        towers=max(1, len(towers)),
        edges=_edges(crossing for run in runs for crossing in run["edges"]),
        flops=_by_device(run["flops"] for run in runs),
        operations=_by_device(run["operations"] for run in runs),
        fed=sum(run["fed"] for run in runs),
        read=sum(run["read"] for run in runs),
        runs=len(runs),
        rows=max((run["rows"] for run in runs), default=0),
    )


def trained_bytes(event: Mapping[str, Any]) -> int:
    """Bytes of the variables that a step trains."""
    every: dict[str, int] = {}
    for run in event["runs"]:
        every.update(run["trained"])
    return sum(every.values())


def notes_of(events: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    """Notes on what the figures do not include."""
    without: Counter[str] = Counter()
    unsized: set[str] = set()
    for event in events:
        for run in event["runs"]:
            without.update(run["without"].keys())
            unsized.update(run["unsized"])
    notes = []
    if without:
        notes.append(f"floating point operations of {', '.join(sorted(without))} are not counted")
    if unsized:
        notes.append(f"tensors whose size the trace does not tell: {', '.join(sorted(unsized)[:LARGEST])}")
    return tuple(notes)


def _device(name: str) -> str:
    """`cpu:0` is the host; the virtual device k stands for GPU k - 1."""
    number = int(name.partition(":")[2])
    return f"gpu:{number - 1}" if number else "host"


def _by_device(runs: Iterable[Mapping[str, int]]) -> tuple[tuple[str, int], ...]:
    sums: Counter[str] = Counter()
    for run in runs:
        sums.update({_device(name): count for name, count in run.items()})
    return tuple(sorted(sums.items()))


def _edges(crossings: Iterable[Mapping[str, Any]]) -> tuple[Transfer, ...]:
    every: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for crossing in crossings:
        every.setdefault((_device(crossing["source"]), _device(crossing["target"])), []).append(crossing)
    edges = []
    for (source, target), parts in sorted(every.items()):
        kinds: Counter[str] = Counter()
        tensors: Counter[str] = Counter()
        for part in parts:
            kinds[part["kind"]] += part["bytes"]
            tensors[part["tensor"]] += part["bytes"]
        edges.append(
            Transfer(
                source=source,
                target=target,
                bytes=sum(part["bytes"] for part in parts),
                transfers=len(parts),
                kinds=tuple((kind, kinds[kind]) for kind in KINDS if kinds[kind]),
                largest=tuple(tensors.most_common(LARGEST)),
            )
        )
    return tuple(sorted(edges, key=lambda edge: -edge.bytes))
