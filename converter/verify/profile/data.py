"""Settings and result of a profile, as plain data."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, Literal

from converter.dataclass import dataclass

BatchMode = Literal["per-gpu", "total"]


EXCHANGED = ("parameters", "gradients")  # what an all-reduce would move


@dataclass(frozen=True)
class Fabric:
    """What connects the devices of a machine; each figure in GB/s in one direction, as reached in practice.

    peer: of one GPU to all others. link: of one GPU to the host. host: of the host to all GPUs at once.
    """

    name: str
    peer: float
    link: float
    host: float


# About three quarters of the nominal 15.75 and 31.5 GB/s of 16 lanes, two such ports at the host; NVLink 2:
# six links of 25 GB/s nominal at each GPU, the host reached over PCIe 3.0.
FABRICS = (
    Fabric("PCIe 3.0", 12, 12, 24),
    Fabric("PCIe 4.0", 24, 24, 48),
    Fabric("NVLink", 110, 12, 24),
)


@dataclass(frozen=True)
class Machine:
    """The machine that times are predicted for.

    tflops: float32 operations that one GPU sustains, in 10^12 a second.
    latency: microseconds until a transfer begins. launch: microseconds to start one operation.
    """

    fabrics: tuple[Fabric, ...] = FABRICS
    tflops: float = 5.0
    latency: float = 10.0
    launch: float = 5.0


@dataclass(frozen=True)
class ProfileSettings:
    """How to profile.

    gpus: numbers of towers to run; times for others are extrapolated.
    python: interpreter to run both scripts with; None is the one that runs this.
    args: command line arguments for both scripts.
    timeout: seconds for all runs together.
    placements: whether to measure the script with other placements of its variables, too.
    """

    gpus: tuple[int, ...] = (2, 4, 8)
    machine: Machine = Machine()
    python: str | None = None
    args: tuple[str, ...] = ()
    timeout: float = 600.0
    placements: bool = False


@dataclass(frozen=True)
class Transfer:
    """What goes from one device to another in one step.

    kinds: bytes by what they are, "parameters", "gradients", "inputs", "other".
    largest: the largest tensors, with their bytes.
    """

    source: str
    target: str
    bytes: int
    transfers: int
    kinds: tuple[tuple[str, int], ...]
    largest: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class MeasuredStep:
    """One step as it ran with this many towers (`asked` may have been another number).

    flops, operations: by device; floating point operations and graph operations.
    fed: bytes of the feed. read: bytes that datasets and queues gave. rows: examples that are fed, 0 where none are.
    runs: run calls that make up the step (train ops that take turns).
    """

    asked: int
    towers: int
    edges: tuple[Transfer, ...]
    flops: tuple[tuple[str, int], ...]
    operations: tuple[tuple[str, int], ...]
    fed: int
    read: int
    runs: int
    rows: int = 0

    @property
    def total(self) -> int:
        """Bytes that cross devices in the step."""
        return sum(edge.bytes for edge in self.edges)

    def busiest(self, *kinds: str) -> tuple[str, int]:
        """The device with the most bytes of these kinds (without any: of all) in one direction, and these."""
        sums: dict[tuple[str, str], int] = {}
        for edge in self.edges:
            size = sum(size for kind, size in edge.kinds if kind in kinds) if kinds else edge.bytes
            for end in (("out", edge.source), ("in", edge.target)):
                sums[end] = sums.get(end, 0) + size
        (_, device), size = max(sums.items(), key=lambda item: item[1], default=(("", "none"), 0))
        return device, size


@dataclass(frozen=True)
class Prediction:
    """A step of N towers on one fabric; seconds.

    compute: of one tower. transfer: of the busiest device. step: both, one after the other; overlapped:
    if transfers hid behind the computing. speedup: examples a second against one GPU with the original.
    limit: what keeps the speed-up from being larger, "" if it is near its largest.
    """

    fabric: str
    gpus: int
    measured: bool
    compute: float
    transfer: float
    step: float
    overlapped: float
    speedup: float
    efficiency: float
    limit: str


@dataclass(frozen=True)
class Placement:
    """What a script costs with its variables in one place (`convert --variables`).

    own: whether the profiled script has them there. refused: why there are no figures, "" where there are.
    busiest: (towers, bytes of parameters and gradients of the busiest device in one direction), measured.
    steps: (fabric, seconds of a step with the largest of these numbers of towers), predicted.
    """

    variables: str
    own: bool
    refused: str = ""
    busiest: tuple[tuple[int, int], ...] = ()
    steps: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True)
class OnHosts:
    """A step of `--target cluster`: `gpus` workers on each of several machines; seconds. network: Gbit/s, nominal.

    step: computing and transfers one after the other; overlapped: the longer of the two, as gradients of the last
    layers may go while those of the first are computed. speedup, most: examples a second against one GPU with the
    original, for each of the two.
    """

    hosts: int
    gpus: int
    network: float
    compute: float
    transfer: float
    speedup: float
    most: float

    @property
    def step(self) -> float:
        """Nothing overlaps."""
        return self.compute + self.transfer

    @property
    def overlapped(self) -> float:
        """All that can overlap does."""
        return max(self.compute, self.transfer)


@dataclass(frozen=True)
class Profile:
    """The measured steps, and what is predicted from them.

    original: the original's step on one device. parameters: bytes of the variables that are trained.
    placements: of the variables, compared; chosen: the one to use, "" where nothing was compared.
    hosts: on several machines, where a worker's batch is that of one GPU.
    warnings: what makes the figures doubtful. notes: what they leave out.
    """

    batch: BatchMode
    parameters: int
    original: MeasuredStep
    measured: tuple[MeasuredStep, ...]
    machine: Machine
    predictions: tuple[Prediction, ...]
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    versions: tuple[tuple[str, str], ...] = ()
    seconds: float = 0.0
    processes: str = ""
    placements: tuple[Placement, ...] = ()
    chosen: str = ""
    hosts: tuple[OnHosts, ...] = ()

    def bound(self, towers: int) -> float:
        """Bytes that each device sends and receives in a ring all-reduce of the gradients, 2(N-1)/N parameters."""
        return 2 * (towers - 1) / towers * self.parameters


def to_json(profile: Profile) -> dict[str, Any]:
    """A profile as what `json.dumps` takes; bytes, seconds, and the word that says what is predicted."""
    content = asdict(profile)
    for measured, entry in zip(profile.measured, content["measured"], strict=True):
        entry["total_bytes"] = measured.total
        entry["busiest_device"], entry["busiest_bytes"] = measured.busiest()
        entry["exchange_device"], entry["exchange_bytes"] = measured.busiest(*EXCHANGED)
        entry["ring_all_reduce_bytes"] = profile.bound(measured.towers)
    content["versions"] = dict(profile.versions)
    content["predictions_are"] = "predicted from the measured figures and the stated machine, not measured"
    return content
