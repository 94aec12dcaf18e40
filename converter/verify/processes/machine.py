"""The devices that towers run on: virtual ones of the CPU, or GPUs of this machine (`--devices gpu`).

GPUs are counted by nvidia-smi: CUDA stays untouched, so that processes can be forked which have imported TensorFlow.
"""

from __future__ import annotations

import os
import subprocess
from typing import Literal

from converter.dataclass import dataclass

Kind = Literal["cpu", "gpu"]
PATIENCE = 30.0  # seconds for nvidia-smi to answer
_QUERY = ("nvidia-smi", "--query-gpu=index,uuid,memory.free", "--format=csv,noheader,nounits")
# Original, conversion and the conversion's run by itself may be on one GPU at the same time.
_AT_ONCE = 3
_USED = 0.8  # of the free memory; the rest is for CUDA itself


@dataclass(frozen=True)
class Gpu:
    """A GPU as nvidia-smi lists it; free: MiB."""

    index: str
    uuid: str
    free: int


@dataclass(frozen=True)
class Devices:
    """What towers run on.

    visible: GPUs as CUDA_VISIBLE_DEVICES names them; none: virtual CPU devices.
    memory: MiB for each tower, where the towers are logical devices of one GPU; 0: each has a GPU of its own.
    """

    visible: tuple[str, ...] = ()
    memory: int = 0

    @property
    def job(self) -> dict[str, int | bool]:
        """What a script's process is told; see child/tmgprobe/graph/machine.py."""
        return {"on_gpus": bool(self.visible), "gpu_memory": self.memory}

    @property
    def environment(self) -> dict[str, str]:
        """Variables that show the GPUs, and keep them to full 32-bit numbers and the same algorithms in each run."""
        if not self.visible:
            return {}
        shown = ",".join(self.visible)
        return {"CUDA_VISIBLE_DEVICES": shown, "NVIDIA_TF32_OVERRIDE": "0", "TF_CUDNN_DETERMINISTIC": "1"}


CPU = Devices()


def devices_for(kind: Kind, towers: int) -> Devices:
    """The devices for so many towers: as many GPUs, else logical devices of the first; without GPUs the CPU's."""
    gpus = visible_gpus() if kind == "gpu" else []
    if len(gpus) >= towers:
        return Devices(tuple(gpu.index for gpu in gpus[:towers]))
    if not gpus:
        return CPU
    return Devices((gpus[0].index,), int(gpus[0].free * _USED / (towers * _AT_ONCE)))


def visible_gpus() -> list[Gpu]:
    """The GPUs that this process would see, in CUDA's order; none where nvidia-smi finds none."""
    found = _listed()
    named = os.environ.get("CUDA_VISIBLE_DEVICES")
    if named is None:
        return found
    chosen: list[Gpu] = []
    for name in (entry.strip() for entry in named.split(",")):
        gpu = next((gpu for gpu in found if gpu.index == name or (name and gpu.uuid.startswith(name))), None)
        if gpu is None or gpu in chosen:
            break  # CUDA stops at the first entry that names none
        chosen.append(gpu)
    return chosen


def _listed() -> list[Gpu]:
    try:
        told = subprocess.run(_QUERY, capture_output=True, text=True, timeout=PATIENCE, check=True).stdout
        rows = [[cell.strip() for cell in line.split(",")] for line in told.splitlines() if line.strip()]
        return [Gpu(index, uuid, int(free)) for index, uuid, free in rows]
    except (OSError, subprocess.SubprocessError, ValueError):
        return []
