"""`profile`: measures what a step of a conversion moves and computes, and predicts its time on real GPUs."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from converter.cli.command_line.table import INTERRUPTED
from converter.cli.endings import ended_in_order
from converter.cli.gpu_numbers import gpu_numbers

if TYPE_CHECKING:
    from converter.verify.profile import Fabric


def profile_command(
    *,
    single: str,
    multi: str,
    args: Sequence[str],
    gpus: str,
    bandwidth: float | None,
    host_bandwidth: float | None,
    tflops: float,
    latency: float,
    launch: float,
    python: str | None,
    timeout: float,
    json: bool,
) -> int:
    """Measures a step on virtual devices and predicts its time on real GPUs; returns the exit status."""
    from converter.report.profile import render_json, render_text
    from converter.verify import VerifyError
    from converter.verify.processes.answer import Stopped
    from converter.verify.profile import Machine, ProfileSettings, profile

    machine = Machine(_fabrics(bandwidth, host_bandwidth), tflops, latency, launch)
    numbers = gpu_numbers(gpus)
    try:
        settings = ProfileSettings(
            gpus=numbers,
            machine=machine,
            python=python,
            args=tuple(args),
            timeout=timeout,
            placements=True,
        )
        with ended_in_order():
            result = profile(Path(single), Path(multi), settings)
    except VerifyError as error:
        print(f"profile: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("profile: interrupted; the scripts were ended", file=sys.stderr)
        return INTERRUPTED
    except Stopped as problem:
        lines = [f"profile: {problem.reason}", *(f"  | {line}" for line in problem.log.splitlines())]
        print("\n".join(lines), file=sys.stderr)
        return 3
    except Exception:
        print(f"profile: internal error; please report it with this text\n{traceback.format_exc()}", file=sys.stderr)
        return 4
    print(render_json(result) if json else render_text(result), end="\n" if json else "")
    return 0


def _fabrics(bandwidth: float | None, host: float | None) -> tuple[Fabric, ...]:
    """The known fabrics, or the one that is given; the host serves two GPUs at full rate unless said otherwise."""
    from converter.verify.profile import FABRICS, Fabric

    if bandwidth is not None:
        return (Fabric("as given", bandwidth, bandwidth, host or 2 * bandwidth),)
    return tuple(replace(fabric, host=host or fabric.host) for fabric in FABRICS)
