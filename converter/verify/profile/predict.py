"""From measured figures to predicted times. Pure arithmetic.

A tower's time is that of its floating point operations, or that of starting its and the host's operations
one after the other where this takes longer. A device's transfers in one direction follow one another, each
after its latency; both directions go at the same time. The busiest device decides: the host, or a GPU with
its link to the host and those to others.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import astuple, fields

from converter.dataclass import dataclass
from converter.verify.profile.data import BatchMode, Fabric, Machine, MeasuredStep, OnHosts, Prediction, Transfer

LARGEST = 16  # GPUs
ENOUGH = 3  # so many measured numbers of GPUs determine the others
NETWORKS = (1.0, 10.0, 25.0)  # Gbit/s, nominal
CLUSTERS = ((10, 1), (2, 1), (2, 4), (2, 8), (8, 4), (8, 8))  # machines, and the GPUs in each
REACHED = 0.9  # of a network's nominal rate
HOP = 50.0  # microseconds until a message reaches the next machine; a ring takes 2(N-1) of them one after the other
HOST = "host"
GOOD = 0.75  # an efficiency that needs no explanation


@dataclass(frozen=True)
class Load:
    """The work and traffic of the busiest devices in one step; bytes in one direction.

    host: through the host; link: between the host and a GPU; peer: between a GPU and the others.
    batch: the part of `link` that is batches. transfers: of one GPU. flops: of one tower. operations:
    graph operations of one tower and of the host.
    """

    host: float
    link: float
    peer: float
    batch: float
    transfers: float
    flops: float
    operations: float


@dataclass(frozen=True)
class _Times:
    """Seconds of a step's parts."""

    work: float  # floating point operations
    launch: float
    batch: float
    exchange: float
    latency: float

    @property
    def compute(self) -> float:
        return max(self.work, self.launch)

    @property
    def transfer(self) -> float:
        return self.batch + self.exchange + self.latency


def predict(
    original: MeasuredStep, measured: Sequence[MeasuredStep], batch: BatchMode, machine: Machine
) -> tuple[Prediction, ...]:
    """Steps of 1 to 16 GPUs on every fabric; one GPU runs the original."""
    loads = {one.towers: load(one) for one in measured if one.towers > 1}
    first = load_alone(original)
    found = []
    for fabric in machine.fabrics:
        alone = times(first, fabric, machine)
        for gpus in range(1, LARGEST + 1) if len(loads) >= ENOUGH else (1, *sorted(loads)):
            now = alone if gpus == 1 else times(loads.get(gpus) or between(loads, gpus), fabric, machine)
            step = now.compute + now.transfer
            more = gpus if batch == "per-gpu" else 1
            speedup = more * (alone.compute + alone.transfer) / step if step else float(gpus)
            found.append(
                Prediction(
                    fabric=fabric.name,
                    gpus=gpus,
                    measured=gpus == 1 or gpus in loads,
                    compute=now.compute,
                    transfer=now.transfer,
                    step=step,
                    overlapped=max(now.compute, now.transfer),
                    speedup=speedup,
                    efficiency=speedup / gpus,
                    limit=limit(now) if speedup / gpus < GOOD else "",
                )
            )
    return tuple(found)


def load(measured: MeasuredStep) -> Load:
    """The busiest devices of a measured step."""
    gpus = [device for device, _ in measured.operations if device != HOST]
    flops, operations = dict(measured.flops), dict(measured.operations)

    def most(loads: Iterable[float]) -> float:
        return max(loads, default=0)

    def of(gpu: str, with_host: bool, with_peers: bool) -> list[Transfer]:
        mine = [edge for edge in measured.edges if gpu in (edge.source, edge.target)]
        return [edge for edge in mine if (with_host if HOST in (edge.source, edge.target) else with_peers)]

    return Load(
        host=_one_way(of(HOST, True, True), HOST),
        link=most(_one_way(of(gpu, True, False), gpu) for gpu in gpus),
        peer=most(_one_way(of(gpu, False, True), gpu) for gpu in gpus),
        batch=most(
            sum(dict(edge.kinds).get("inputs", 0) for edge in of(gpu, True, False) if edge.target == gpu)
            for gpu in gpus
        ),
        transfers=most(_one_way(of(gpu, True, True), gpu, count=True) for gpu in gpus),
        flops=most(flops.get(gpu, 0) for gpu in gpus),
        operations=most(operations.get(gpu, 0) for gpu in gpus) + operations.get(HOST, 0),
    )


def load_alone(original: MeasuredStep) -> Load:
    """The original on one GPU: only its batch crosses."""
    given = float(original.fed + original.read)
    flops, operations = (float(sum(count for _, count in figures)) for figures in (original.flops, original.operations))
    return Load(
        host=given,
        link=given,
        peer=0,
        batch=given,
        transfers=float(given > 0),
        flops=flops,
        operations=operations,
    )


def _one_way(edges: Iterable[Transfer], device: str, count: bool = False) -> float:
    out, into = 0, 0
    for edge in edges:
        size = edge.transfers if count else edge.bytes
        out += size if edge.source == device else 0
        into += size if edge.target == device else 0
    return float(max(out, into))


def between(loads: dict[int, Load], gpus: int) -> Load:
    """The load of another number of GPUs than were measured.

    Every figure of a tower step has the form a + b·N + c/N: what one device exchanges with all others
    grows with N, shares of a batch and of sharded variables fall. Three measured numbers determine it; the
    nearest are taken. N times the form is a polynomial of degree 2 (Lagrange).
    """
    nearest = sorted(loads, key=lambda known: (abs(known - gpus), known))[:ENOUGH]

    def at(place: int) -> float:
        total = 0.0
        for known in nearest:
            part = known * astuple(loads[known])[place]
            for other in nearest:
                part *= (gpus - other) / (known - other) if other != known else 1
            total += part
        return max(0.0, total / gpus)

    return Load(*(at(place) for place in range(len(fields(Load)))))


def times(now: Load, fabric: Fabric, machine: Machine) -> _Times:
    """Seconds of the parts of a step."""
    giga = 1e9
    through_host = now.host / (fabric.host * giga)
    through_gpu = now.link / (fabric.link * giga) + now.peer / (fabric.peer * giga)
    moving = max(through_host, through_gpu)
    # Batches reach all GPUs at the rate at which the rest of the host's traffic does.
    rate = through_host / now.link if through_host > through_gpu and now.link else 1 / (fabric.link * giga)
    batch = min(moving, now.batch * rate)
    return _Times(
        now.flops / (machine.tflops * 1e12),
        now.operations * machine.launch * 1e-6,
        batch,
        moving - batch,
        now.transfers * machine.latency * 1e-6,
    )


def limit(now: _Times) -> str:
    """Names the largest part of a step beside the computing."""
    work = f"computing takes {_time(now.work)}"
    largest = max((now.batch, "feed"), (now.exchange, "parameters"), (now.latency + now.launch, "little work"))[1]
    if largest == "feed":
        return f"feed-bound: the batch is {_time(now.batch)} on its way, {work}"
    if largest == "parameters":
        return f"parameter-bound: parameters and gradients are {_time(now.exchange)} on their way, {work}"
    fixed = _time(now.latency + now.launch)
    return f"too little work per tower: {work}, starting operations and transfers {fixed}"


def _time(seconds: float) -> str:
    return f"{seconds * 1e3:.2g} ms" if seconds < 1 else f"{seconds:.3g} s"


def predict_hosts(
    original: MeasuredStep,
    parameters: int,
    machine: Machine,
    clusters: Sequence[tuple[int, int]] = CLUSTERS,
    networks: Sequence[float] = NETWORKS,
) -> tuple[OnHosts, ...]:
    """Steps of `--target cluster` on each network: a process for each GPU; inside of a machine the first fabric counts.

    A worker computes what the original's step does. Its gradients go around a ring of all workers, in which those of
    one machine are neighbours: then each network card, and each link inside of a machine, carries 2(N-1)/N of the
    parameters in each direction (benchmarks/cluster.py measures 1.00 to 1.01 times that), and the slowest of them
    decides.

    parameters: bytes of the variables that are trained.
    """
    fabric = machine.fabrics[0]
    own = times(load_alone(original), fabric, machine)
    alone = own.compute + own.transfer
    return tuple(
        on_hosts(alone, parameters, hosts, gpus, network, fabric) for hosts, gpus in clusters for network in networks
    )


def on_hosts(alone: float, parameters: int, hosts: int, gpus: int, network: float, fabric: Fabric) -> OnHosts:
    """One step. alone: seconds that one GPU takes for the original's."""
    workers = hosts * gpus
    share = 2 * (workers - 1) / workers * parameters / 1e9
    slowest = min(network * REACHED / 8, fabric.peer if gpus > 1 else float("inf"))
    transfer = share / slowest + 2 * (workers - 1) * HOP * 1e-6
    step, overlapped = alone + transfer, max(alone, transfer)
    return OnHosts(
        hosts=hosts,
        gpus=gpus,
        network=network,
        compute=alone,
        transfer=transfer,
        speedup=workers * alone / step if step else float(workers),
        most=workers * alone / overlapped if overlapped else float(workers),
    )
