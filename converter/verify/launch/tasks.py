"""The tasks of a cluster: where each listens, what it is told, and which GPU it sees."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from converter.verify.processes.ports import free_ports

Hosts = Mapping[str, Sequence[str]]
JOBS = ("ps", "worker")


class Task(NamedTuple):
    """One process of a cluster: parameter server or worker, and its number."""

    job: str
    number: int

    @property
    def name(self) -> str:
        """The name that stands before its lines and in messages."""
        return f"{self.job} {self.number}"


def counts(text: str) -> dict[str, int]:
    """Numbers of tasks from `1ps,3w`.

    Raises:
        ValueError: it does not say both.
    """
    found = re.fullmatch(r"([1-9]\d{0,2})ps,([1-9]\d{0,2})w", text)
    if not found:
        raise ValueError(f"{text!r} is not like 1ps,3w: 1 parameter server and 3 workers")
    return {"ps": int(found[1]), "worker": int(found[2])}


def named_hosts(text: str) -> Hosts:
    """Addresses from `ps=a:2222;worker=b:2222,c:2222`.

    Raises:
        ValueError: a job is missing, or an address has no port.
    """
    parts = [part.partition("=") for part in text.split(";")]
    hosts = {job: addresses.split(",") for job, _, addresses in parts}
    if sorted(hosts) != sorted(JOBS) or len(parts) != len(JOBS):
        raise ValueError(f"{text!r} is not like ps=a:2222;worker=b:2222,c:2222")
    for address in (address for addresses in hosts.values() for address in addresses):
        if not re.fullmatch(r"[\w.\-\[\]:]+:\d{1,5}", address):
            raise ValueError(f"{address!r} is not HOST:PORT")
    return hosts


def local_hosts(numbers: Mapping[str, int]) -> Hosts:
    """Addresses on this machine with ports that are free now."""
    free = iter(free_ports(sum(numbers.values())))
    return {job: [f"127.0.0.1:{next(free)}" for _ in range(number)] for job, number in numbers.items()}


def tasks(hosts: Hosts) -> Iterator[Task]:
    """All tasks, parameter servers first: workers wait for them."""
    return (Task(job, number) for job in JOBS for number in range(len(hosts[job])))


def config_of(task: Task, hosts: Hosts) -> str:
    """TF_CONFIG for a task."""
    cluster = {job: list(hosts[job]) for job in JOBS}
    return json.dumps({"cluster": cluster, "task": {"type": task.job, "index": task.number}})


def commands(hosts: Hosts, words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """For each task the host that it belongs on, and the command to run there."""
    for task in tasks(hosts):
        address = hosts[task.job][task.number]
        yield address.rpartition(":")[0], f"TF_CONFIG={shlex.quote(config_of(task, hosts))} {shlex.join(words)}"


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
    """The variable that shows a worker one GPU, and a parameter server none; nothing where there are no GPUs."""
    if not found:
        return {}
    return {"CUDA_VISIBLE_DEVICES": found[task.number % len(found)] if task.job == "worker" else ""}
