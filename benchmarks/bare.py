"""Runs a script as it is up to its K-th training step, for benchmarks/verify.py: `bare.py STEPS SCRIPT`."""

from __future__ import annotations

import importlib
import os
import runpy
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "converter/verify/child"))


def main() -> None:
    """Ends the process after the last step, as the children of verify are ended."""
    steps, script = int(sys.argv[1]), os.path.abspath(sys.argv[2])
    api, graphs = importlib.import_module("tmgprobe.process.api"), importlib.import_module("tmgprobe.graph.graphs")
    api.load()
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
