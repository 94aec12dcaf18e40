"""`profile`: measures what a step of a conversion moves and computes, and predicts its time on real GPUs."""

from __future__ import annotations

import traceback
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from converter.profile import Fabric


def profile_command(
    single: Annotated[Path, typer.Argument(metavar="SINGLE", help="The original script.")],
    multi: Annotated[Path, typer.Argument(metavar="MULTI", help="The converted script.")],
    args: Annotated[
        list[str] | None,
        typer.Argument(metavar="-- ARGS", help="Arguments for both scripts.", show_default=False),
    ] = None,
    gpus: Annotated[
        str, typer.Option("--gpus", metavar="N,N,..", help="Numbers of towers to run; three tell about all others.")
    ] = "2,4,8",
    bandwidth: Annotated[
        float | None,
        typer.Option("--bandwidth", min=0.001, help="GB/s of a GPU in one direction, in place of PCIe and NVLink."),
    ] = None,
    host_bandwidth: Annotated[
        float | None,
        typer.Option("--host-bandwidth", min=0.001, help="GB/s of the host to all GPUs at once, in one direction."),
    ] = None,
    tflops: Annotated[
        float, typer.Option("--tflops", min=0.001, help="10^12 float32 operations a second that a GPU sustains.")
    ] = 5.0,
    latency: Annotated[float, typer.Option("--latency", min=0, help="Microseconds before a transfer begins.")] = 10.0,
    launch: Annotated[float, typer.Option("--launch", min=0, help="Microseconds to start an operation.")] = 5.0,
    python: Annotated[
        str | None,
        typer.Option("--python", metavar="INTERPRETER", help="Interpreter with TensorFlow to run the scripts with."),
    ] = None,
    timeout: Annotated[float, typer.Option("--timeout", min=1, help="Seconds for all runs together.")] = 600,
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")] = False,
) -> None:
    """Predict what a conversion costs on real GPUs: bytes between devices, work per tower, step times.

    Bytes and work are measured in one executed step on virtual devices; times are predicted from the stated machine.

    Exit status: 0 done, 2 wrong usage, 3 a script does not come to a training step, 4 internal error.
    """
    from converter.profile import Machine, Settings, profile
    from converter.report.profile import render_json, render_text
    from converter.verify import VerifyError
    from converter.verify.answer import Stopped

    machine = Machine(_fabrics(bandwidth, host_bandwidth), tflops, latency, launch)
    try:
        settings = Settings(_numbers(gpus), machine, python, tuple(args or ()), timeout)
        result = profile(single, multi, settings)
    except VerifyError as error:
        typer.echo(f"profile: {error}", err=True)
        raise typer.Exit(2) from None
    except Stopped as problem:
        lines = [f"profile: {problem.reason}", *(f"  | {line}" for line in problem.log.splitlines())]
        typer.echo("\n".join(lines), err=True)
        raise typer.Exit(3) from None
    except Exception:
        typer.echo(f"profile: internal error; please report it with this text\n{traceback.format_exc()}", err=True)
        raise typer.Exit(4) from None
    typer.echo(render_json(result) if as_json else render_text(result), nl=as_json)


def _numbers(text: str) -> tuple[int, ...]:
    from converter.verify import VerifyError

    parts = [part.strip() for part in text.split(",")]
    if not all(part.isascii() and part.isdecimal() and int(part) for part in parts):
        raise VerifyError(f"--gpus: {text!r} is not a list of numbers such as 2,4,8")
    return tuple(int(part) for part in parts)


def _fabrics(bandwidth: float | None, host: float | None) -> tuple[Fabric, ...]:
    """The known fabrics, or the one that is given; the host serves two GPUs at full rate unless said otherwise."""
    from converter.profile import FABRICS, Fabric

    if bandwidth is not None:
        return (Fabric("as given", bandwidth, bandwidth, host or 2 * bandwidth),)
    return tuple(replace(fabric, host=host or fabric.host) for fabric in FABRICS)
