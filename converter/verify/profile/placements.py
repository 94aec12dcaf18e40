"""The other placements of a conversion's variables: the same script converted for each, and which one to choose."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import get_args

from converter.choices import Variables
from converter.dataclass import dataclass
from converter.plan.decisions import EVALUATION
from converter.verify.profile.data import EXCHANGED, BatchMode, Machine, MeasuredStep, Placement
from converter.verify.profile.predict import predict

NEAR = 1.05  # steps that differ less count as the same: then the plainer placement is chosen


@dataclass(frozen=True)
class Converted:
    """A script converted with one placement.

    own: whether it is the profiled script's own. files: what changes with it, by the paths from its folder; None for
    the files that are there already. refused: why there is no such conversion, "" where there is. notes: what the
    conversion leaves to one GPU.
    """

    variables: str
    own: bool
    files: Mapping[str, bytes] | None = None
    refused: str = ""
    notes: tuple[str, ...] = ()


def conversions(single: Path, multi: Path) -> tuple[Converted, ...]:
    """The conversions with each placement, by the header of the converted script; none where it has none."""
    from converter.conversion import convert
    from converter.source import encode
    from converter.verify.origin import repeat

    made = repeat(single, multi, {})
    if made is None or not made.origin.same_source:
        return ()
    found = []
    for variables in get_args(Variables):
        if variables == made.header.options.variables:
            left = tuple(one.text for one in made.conversion.decisions if one.topic == EVALUATION)
            found.append(Converted(variables, True, notes=left))
            continue
        options = replace(made.header.options, variables=variables)
        again = convert(made.conversion.source, options, several=True, again=True)
        if again.text is None:
            finding = again.diagnostics[-1]
            found.append(Converted(variables, False, None, f"{finding.code} in {finding.where}: {finding.message}"))
            continue
        files = {multi.name: encode(again.source, again.text)}
        for part in again.parts:
            name = Path(os.path.relpath(part.path, single.parent)).as_posix()
            files[name] = encode(part.source, part.text) if part.source else part.text.encode()
        found.append(Converted(variables, False, files))
    return tuple(found)


def placement(
    converted: Converted, original: MeasuredStep, measured: Sequence[MeasuredStep], batch: BatchMode, machine: Machine
) -> Placement:
    """The cost of one placement."""
    several = [one for one in measured if one.towers > 1]
    if not several:
        return Placement(converted.variables, converted.own, converted.refused or "it was not measured")
    largest = max(one.towers for one in several)
    rows = [row for row in predict(original, measured, batch, machine) if row.gpus == largest]
    busiest = tuple((one.towers, one.busiest(*EXCHANGED)[1]) for one in several)
    return Placement(converted.variables, converted.own, "", busiest, tuple((row.fabric, row.step) for row in rows))


def choice(placements: Sequence[Placement]) -> str:
    """The placement with the shortest steps on the first fabric, or a plainer one that is about as fast."""
    measured = [one for one in placements if one.steps]
    if len(measured) < 2:
        return ""
    best = min(one.steps[0][1] for one in measured)
    return next(one.variables for one in measured if one.steps[0][1] <= NEAR * best)
