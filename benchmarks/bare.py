"""Runs scripts as they are up to their K-th training step, for benchmarks/verify.py: `bare.py STEPS SCRIPT ...`.

TensorFlow is imported once; each of several scripts runs in a process of its own, forked after that.
"""

from __future__ import annotations

import importlib
import os
import runpy
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "converter/verify/child"))


def main() -> None:
    """Runs one script, or each of several in a forked process."""
    steps, scripts = int(sys.argv[1]), sys.argv[2:]
    importlib.import_module("tmgprobe.process.api").load()
    if len(scripts) == 1:
        take(steps, os.path.abspath(scripts[0]))
    for script in scripts:
        child = os.fork()
        if not child:
            take(steps, os.path.abspath(script))
        if os.waitpid(child, 0)[1]:
            raise SystemExit(f"{script} failed")


def take(steps: int, script: str) -> None:
    """Ends the process after the last step, as the children of verify are ended."""
    graphs = importlib.import_module("tmgprobe.graph.graphs")
    session = importlib.import_module("tensorflow.python.client.session")
    optimizer = importlib.import_module("tensorflow.python.training.optimizer")
    trains: set[Any] = set()
    known: dict[str, bool] = {}
    apply, run = optimizer.Optimizer.apply_gradients, session.BaseSession.run
    taken = 0

    def apply_gradients(self: Any, *args: Any, **kwargs: Any) -> Any:
        result = apply(self, *args, **kwargs)
        trains.add(getattr(result, "op", result))
        return result

    def counted(self: Any, fetches: Any, *args: Any, **kwargs: Any) -> Any:
        nonlocal taken
        result = run(self, fetches, *args, **kwargs)
        key = str(fetches)
        if key not in known:
            elements = [graphs.operation_of(element) for element, _ in graphs.elements(self.graph, fetches)]
            known[key] = bool(trains & graphs.ancestors(elements))
        taken += known[key]
        if taken == steps:
            sys.stdout.flush()
            os._exit(0)
        return result

    optimizer.Optimizer.apply_gradients, session.BaseSession.run = apply_gradients, counted
    sys.argv = [script]
    os.chdir(os.path.dirname(script))
    sys.path.insert(0, os.path.dirname(script))
    runpy.run_path(script, run_name="__main__")
    raise SystemExit(f"{script}: fewer than {steps} training steps")


if __name__ == "__main__":
    main()
