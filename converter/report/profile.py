"""Shows what a step costs and is predicted to take: as text for a terminal, or as JSON."""

from __future__ import annotations

import json

from converter.verify.profile.data import EXCHANGED, Fabric, MeasuredStep, Prediction, Profile, Transfer, to_json

SHOWN = (1, 2, 4, 8, 16)  # numbers of GPUs; those that were measured come on top
EDGES = 6  # lines
EXAMPLES = "examples/s   "  # a heading of the table, with the space behind it


def render_json(profile: Profile) -> str:
    """All figures as JSON."""
    return json.dumps(to_json(profile), indent=2, ensure_ascii=False)


def render_text(profile: Profile) -> str:
    """The measured figures first, then the predicted times, then what they rest on."""
    lines = [*_advice(profile), *(f"warning: {warning}" for warning in profile.warnings)]
    lines += ["MEASURED in one training step on virtual devices", "", *_measured(profile), ""]
    lines += _placements(profile)
    lines += _edges(profile.measured[-1])
    lines += ["", "PREDICTED, not measured: step times on real GPUs", ""]
    for fabric in profile.machine.fabrics:
        rows = [row for row in profile.predictions if row.fabric == fabric.name]
        lines += [*_table(profile, fabric, rows), ""]
    lines += _hosts(profile)
    return "\n".join([*lines, *_rests_on(profile)]).rstrip() + "\n"


def _advice(profile: Profile) -> list[str]:
    """The placement to choose, first of all; nothing where none were compared."""
    found = {one.variables: one for one in profile.placements if one.steps}
    if not profile.chosen:
        return []
    best, own = found[profile.chosen], next((one for one in found.values() if one.own), None)
    gpus, (fabric, step) = best.busiest[-1][0], best.steps[0]
    told = f"{_time(step)} a step with {gpus} GPUs on {fabric}"
    if own is None or own is best:
        return [f"keep --variables {best.variables}: {told} (predicted), about the least of all placements", ""]
    return [
        f"use --variables {best.variables}: {told} (predicted); "
        f"--variables {own.variables}, as it is, takes {_time(own.steps[0][1])}",
        "",
    ]


def _placements(profile: Profile) -> list[str]:
    """The table of predicted cost for each placement of the variables."""
    found = [one for one in profile.placements if one.steps]
    if not found:
        return []
    towers, fabrics = [n for n, _ in found[0].busiest], [name for name, _ in found[0].steps]
    numbers = "".join(f"{f'N = {n}':>9}" for n in towers)
    lines = [
        f"--variables    busiest device one way,    predicted step with {towers[-1]} GPUs",
        f"           {numbers}   {'   '.join(f'{name:>10}' for name in fabrics)}",
    ]
    for one in profile.placements:
        if not one.steps:
            lines.append(f"{one.variables:<11}   not possible: {one.refused}")
            continue
        sizes = "".join(f"{size / profile.parameters:>7.2f} P" if profile.parameters else "" for _, size in one.busiest)
        times = "   ".join(f"{_time(seconds):>10}" for _, seconds in one.steps)
        lines.append(f"{one.variables:<11}{sizes}   {times}")
    return [*lines, ""]


def _measured(profile: Profile) -> list[str]:
    original = profile.original
    work = sum(count for _, count in original.flops)
    batch = f"fed {_bytes(original.fed)}" + (f", read {_bytes(original.read)}" if original.read else "")
    lines = [
        f"parameters {_bytes(profile.parameters)}; the original: {_count(work)}FLOP a step, {batch}",
        "",
        "towers   FLOP per tower   fed + read   cross devices   parameters and gradients,      ring all-reduce",
        "                                                       busiest device one way",
    ]
    for one in profile.measured:
        device, busiest = one.busiest(*EXCHANGED)
        of_parameters = f" = {busiest / profile.parameters:.2f} P" if profile.parameters else ""
        ring = profile.bound(one.towers)
        factor = f" = {2 * (one.towers - 1) / one.towers:.2f} P"
        lines.append(
            f"{one.towers:>6}   {_count(_per_tower(one)) + 'FLOP':>14}   {_bytes(one.fed + one.read):>10}   "
            f"{_bytes(one.total):>13}   {f'{device} {_bytes(busiest)}{of_parameters}':<27}   {_bytes(ring)}{factor}"
        )
    lines.append("(P: the size of the parameters)")
    shares = _shares(profile.measured[-1])
    return [*lines, f"share of the work: {shares}"] if shares else lines


def _per_tower(measured: MeasuredStep) -> int:
    towers = [count for device, count in measured.flops if device != "host"]
    return max(towers) if towers else sum(count for _, count in measured.flops)


def _shares(measured: MeasuredStep) -> str:
    total = sum(count for _, count in measured.flops)
    if not total:
        return ""
    return ", ".join(f"{device} {count / total:.1%}" for device, count in measured.flops)


def _edges(measured: MeasuredStep) -> list[str]:
    """Edges that carry the same number of bytes the same way are one line."""
    groups: dict[tuple[str, str, int], list[Transfer]] = {}
    for edge in measured.edges:
        ends = [end if end == "host" else "gpu" for end in (edge.source, edge.target)]
        groups.setdefault((ends[0], ends[1], edge.bytes), []).append(edge)
    lines = [f"what crosses in one step of {measured.towers} towers, largest first"]
    for edges in list(groups.values())[:EDGES]:
        first, more = edges[0], len(edges) - 1
        kinds = ", ".join(f"{kind} {_bytes(size)}" for kind, size in first.kinds)
        others, each = (f" and {more} more alike", " each") if more else ("", "")
        lines += [
            f"  {first.source} -> {first.target}{others}: {_bytes(first.bytes)} in {first.transfers} tensors{each}"
            + (f" ({kinds})" if kinds else ""),
            f"      largest: {', '.join(f'{name} {_bytes(size)}' for name, size in first.largest[:2])}",
        ]
    rest = [edge for edges in list(groups.values())[EDGES:] for edge in edges]
    if rest:
        lines.append(f"  ... and {len(rest)} more, {_bytes(sum(edge.bytes for edge in rest))} together")
    return lines


def _table(profile: Profile, fabric: Fabric, rows: list[Prediction]) -> list[str]:
    lines = [
        f"{fabric.name} (GB/s one way: GPU to GPU {fabric.peer:g}, GPU to host {fabric.link:g}, "
        f"host to all {fabric.host:g})",
        f"  GPUs   compute   transfers   step        if overlapped   {EXAMPLES}speed-up   efficiency",
    ]
    for row in rows:
        if row.gpus not in SHOWN and not any(one.towers == row.gpus for one in profile.measured):
            continue
        mark = " " if row.measured else "~"
        lines.append(
            f"  {mark}{row.gpus:>3}   {_time(row.compute):>7}   {_time(row.transfer):>9}   {_time(row.step):<9}   "
            f"{_time(row.overlapped):<13}   {_examples(profile, row)}{row.speedup:>7.2f}x   {row.efficiency:>9.0%}"
        )
    return lines + _reasons(rows)


def _hosts(profile: Profile) -> list[str]:
    """Several machines: how many times as fast as one GPU, with transfers after the computing and beside it."""
    found = profile.hosts
    if not found:
        return []
    networks = list(dict.fromkeys(one.network for one in found))
    lines = [
        "several machines, one process for each GPU (--target cluster): examples a second against one GPU, if nothing",
        "of the transfers is hidden behind the computing, to all that can be",
        "  machines x GPUs" + "".join(f"{f'{network:g} Gbit/s':>20}" for network in networks),
    ]
    for hosts, gpus in dict.fromkeys((one.hosts, one.gpus) for one in found):
        row = [one for one in found if (one.hosts, one.gpus) == (hosts, gpus)]
        cells = "".join(f"{f'{one.speedup:.2f}x to {one.most:.2f}x':>20}" for one in row)
        lines.append(f"  {hosts:>8} x {gpus:<4}{cells}")
    slow = found[0]
    size = f"{_bytes(profile.parameters)} of parameters are {_time(slow.transfer)} on their way"
    gain = "less than one GPU alone" if slow.most < 1 else f"{slow.speedup:.2g} to {slow.most:.2g} times one GPU"
    return [
        *lines,
        f"  {slow.hosts} machines with one GPU each on {slow.network:g} Gbit/s: {size}, a step computes for "
        f"{_time(slow.compute)}: {gain}",
        "",
    ]


def _examples(profile: Profile, row: Prediction) -> str:
    """The predicted number of examples a second, which is what a step of N towers has more of."""
    rows = profile.original.rows * (row.gpus if profile.batch == "per-gpu" else 1)
    return f"{_count(rows / row.step) if rows and row.step else '-':>{len(EXAMPLES) - 3}}   "


def _reasons(rows: list[Prediction]) -> list[str]:
    slower = [row for row in rows if row.gpus > 1 and row.speedup < 1]
    weak = [row for row in rows if row.limit and row not in slower]
    lines = []
    if slower:
        numbers = ", ".join(str(row.gpus) for row in slower)
        lines.append(f"  predicted SLOWER than one GPU with {numbers}: {slower[0].limit}")
    if weak:
        lines.append(f"  from {weak[0].gpus} GPUs on {weak[0].limit}")
    return lines


def _rests_on(profile: Profile) -> list[str]:
    machine = profile.machine
    lines = [
        f"The prediction supposes {machine.tflops:g} TFLOP/s per GPU, {machine.launch:g} us to start an operation, "
        f"{machine.latency:g} us before a transfer",
        "(--tflops, --launch, --latency, --bandwidth, --host-bandwidth), and that a batch is ready when a step begins.",
        f"Batch size: {profile.batch}. One GPU runs the original. '~': from the measured numbers of towers by formula.",
    ]
    if profile.batch == "per-gpu":
        lines.append(
            "A step of N GPUs trains on N batches: a script with a fixed number of steps does N times the work, unless "
            "it is converted with --scale-steps divide."
        )
    if profile.original.runs > 1:
        lines.append(f"A step is {profile.original.runs} runs, of train ops that take turns.")
    lines += [f"note: {note}" for note in profile.notes]
    versions = ", ".join(f"{name} {version}" for name, version in profile.versions)
    parts = [versions, "virtual CPU devices", profile.processes, f"{profile.seconds:g} s"]
    return [*lines, ", ".join(filter(None, parts))]


def _count(number: float) -> str:
    for letter, size in (("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if number >= size:
            return f"{number / size:.3g} {letter}"
    return f"{number:g} "


def _bytes(number: float) -> str:
    return _count(number) + "B"


def _time(seconds: float) -> str:
    return f"{seconds:.3g} s" if seconds >= 1 else f"{seconds * 1e3:.3g} ms"
