"""What the same two scripts answered before: a pair of scripts that several tests verify runs once in a worker."""

from __future__ import annotations

import copy
import hashlib
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from converter.verify import run
from converter.verify.data import VerifySettings

Jobs = Mapping[str, Mapping[str, Any]]


class Records:
    """Stands in front of `converter.verify.run._run`.

    Two runs are the same where every byte beside both scripts is, their names, arguments and environment, the
    interpreter, and all settings. Whoever wants to be told of steps, or brings interpreters of its own, gets a run.
    """

    def __init__(self, pool: object, make: Callable[..., Any]) -> None:
        self._pool, self._make = pool, make
        self._known: dict[str, Any] = {}
        self.read = 0  # how often a record was read

    def __call__(self, proof: Any, jobs: Jobs, alone: Any) -> Any:
        if proof.tell is not run._nobody or proof.runner.pool is not self._pool:
            return self._make(proof, jobs, alone)
        key = _key(jobs, proof.asked, proof.settings, proof.runner.python)
        if key in self._known:
            self.read += 1
        else:
            self._known[key] = self._make(proof, jobs, alone)
        return copy.deepcopy(self._known[key])


def _key(jobs: Jobs, asked: Any, settings: VerifySettings, python: str) -> str:
    digest = hashlib.sha256(repr((asked, settings, python)).encode())
    environment = {name: value for name, value in os.environ.items() if name != "PYTEST_CURRENT_TEST"}
    digest.update(repr(sorted(environment.items())).encode())
    for role, job in sorted(jobs.items()):
        script = Path(job["script"])
        digest.update(repr((role, script.name, job["args"], job["gpus"], job["steps"], job["total"])).encode())
        for path in sorted(script.parent.rglob("*")):
            data = path.read_bytes() if path.is_file() else b""
            digest.update(repr((str(path.relative_to(script.parent)), path.is_file(), len(data))).encode() + data)
    return digest.hexdigest()
