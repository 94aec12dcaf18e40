"""Predicted steps of `--target cluster`: one process for each GPU, on several machines. Pure arithmetic.

A worker computes what the original's step does. Its gradients go around a ring of all workers, in which those of one
machine are neighbours: then each network card, and each link inside of a machine, carries 2(N-1)/N of the parameters in
each direction (benchmarks/cluster.py measures 1.00 to 1.01 times that), and the slowest of them decides.
"""

from __future__ import annotations

from collections.abc import Sequence

from converter.verify.profile.data import Fabric, Machine, MeasuredStep, OnHosts
from converter.verify.profile.predict import load_alone, times

NETWORKS = (1.0, 10.0, 25.0)  # Gbit/s, nominal
CLUSTERS = ((10, 1), (2, 1), (2, 4), (2, 8), (8, 4), (8, 8))  # machines, and the GPUs in each
REACHED = 0.9  # of a network's nominal rate
HOP = 50.0  # microseconds until a message reaches the next machine; a ring takes 2(N-1) of them one after the other


def predict_hosts(
    original: MeasuredStep,
    parameters: int,
    machine: Machine,
    clusters: Sequence[tuple[int, int]] = CLUSTERS,
    networks: Sequence[float] = NETWORKS,
) -> tuple[OnHosts, ...]:
    """Steps of these clusters on each network; inside of a machine the first fabric counts.

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
