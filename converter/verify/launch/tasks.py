"""The tasks of a cluster: where each listens, what it is told, and which GPU it sees."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import socket
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from typing import NamedTuple

PORT = 2222  # of hosts that are named without one


class Task(NamedTuple):
    """One process of a cluster, by its number; worker 0 is the chief."""

    number: int

    @property
    def name(self) -> str:
        """The name that stands before its lines and in messages."""
        return f"worker {self.number}"


def count(text: str) -> int:
    """The number of workers.

    Raises:
        ValueError: it is none.
    """
    if not re.fullmatch(r"[1-9]\d{0,2}", text):
        raise ValueError(f"{text!r} is no number of workers, such as 4")
    return int(text)


def named_hosts(text: str) -> list[str]:
    """Addresses from `a,b:2222`; a host that is named several times has a port for each of its workers.

    Raises:
        ValueError: an address cannot be one, or two are the same.
    """
    hosts: list[str] = []
    for address in text.split(","):
        if not re.fullmatch(r"(?:[\w.\-]+|\[[\w:.]+\])(?::\d{1,5})?", address):
            raise ValueError(f"{address!r} is not HOST or HOST:PORT")
        named = re.search(r":\d{1,5}$", address) is not None
        ports = (f"{address}:{port}" for port in range(PORT, PORT + len(hosts) + 1))
        hosts.append(address if named else next(one for one in ports if one not in hosts))
    if len(set(hosts)) < len(hosts):
        raise ValueError(f"{text!r} names an address twice")
    return hosts


def free_ports(number: int) -> list[int]:
    """As many ports of the loopback interface as are asked for, all free now and different."""
    with ExitStack() as held:
        ports: list[int] = []
        for _ in range(number):
            one = held.enter_context(socket.socket())
            one.bind(("127.0.0.1", 0))
            ports.append(one.getsockname()[1])
    return ports


def local_hosts(number: int) -> list[str]:
    """Addresses on this machine with ports that are free now."""
    return [f"127.0.0.1:{port}" for port in free_ports(number)]


def tasks(hosts: Sequence[str]) -> list[Task]:
    """All tasks."""
    return [Task(number) for number in range(len(hosts))]


def config_of(task: Task, hosts: Sequence[str]) -> str:
    """TF_CONFIG for a task."""
    return json.dumps({"cluster": {"worker": list(hosts)}, "task": {"type": "worker", "index": task.number}})


def commands(hosts: Sequence[str], words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """For each task the host that it belongs on, and the command to run there; several on a host have a GPU each."""
    seen: dict[str, int] = {}
    machines = [address.rpartition(":")[0] for address in hosts]
    for task, machine in zip(tasks(hosts), machines, strict=True):
        place = seen.setdefault(machine, 0)
        seen[machine] += 1
        shown = f"CLUSTER_GPU={place} " if machines.count(machine) > 1 else ""
        yield machine, f"{shown}TF_CONFIG={shlex.quote(config_of(task, hosts))} {shlex.join(words)}"


def gpus() -> list[str]:
    """The GPUs that processes of this one would see, as CUDA_VISIBLE_DEVICES names them."""
    held = os.environ.get("CUDA_VISIBLE_DEVICES")
    if held is not None:
        return [name for name in held.split(",") if name.strip() and name.strip() != "-1"]
    program = shutil.which("nvidia-smi")
    if program is None:
        return []
    done = subprocess.run([program, "-L"], capture_output=True, text=True, check=False)
    return [str(number) for number, _ in enumerate(re.findall(r"^GPU \d+:", done.stdout, re.MULTILINE))]


def visible(task: Task, found: Sequence[str]) -> dict[str, str]:
    """The variables that show a worker one GPU; nothing where there are no GPUs.

    CLUSTER_GPU is what the worker itself goes by, as the script may set CUDA_VISIBLE_DEVICES again.
    """
    if not found:
        return {}
    own = found[task.number % len(found)]
    return {"CUDA_VISIBLE_DEVICES": own, "CLUSTER_GPU": own}
