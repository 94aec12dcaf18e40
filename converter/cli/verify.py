"""`verify`: runs the original and the converted script and compares their training steps."""

from __future__ import annotations

import signal
import sys
import traceback
from collections.abc import Mapping
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from converter.diagnostics import Refusal

if TYPE_CHECKING:
    from converter.verify import Interpreters, Report, Settings


INTERRUPTED = 128 + signal.SIGINT


class Batch(str, Enum):
    """What the script's batch size means in the converted script."""

    per_gpu = "per-gpu"
    total = "total"


def verify_command(
    single: Annotated[Path, typer.Argument(metavar="SINGLE", help="The original script.")],
    multi: Annotated[Path, typer.Argument(metavar="MULTI", help="The converted script.")],
    args: Annotated[
        list[str] | None,
        typer.Argument(metavar="-- ARGS", help="Arguments for both scripts.", show_default=False),
    ] = None,
    gpus: Annotated[
        int | None, typer.Option("--gpus", min=1, help="Number of towers; default: what MULTI says, else 2.")
    ] = None,
    steps: Annotated[int, typer.Option("--steps", min=1, help="Training steps to compare.")] = 3,
    batch: Annotated[
        Batch | None,
        typer.Option("--batch", help="Meaning of the batch size; default: what MULTI's header says."),
    ] = None,
    python: Annotated[
        str | None,
        typer.Option(
            "--python", metavar="INTERPRETER", help="Interpreter with TensorFlow to run the scripts with."
        ),
    ] = None,
    timeout: Annotated[
        float, typer.Option("--timeout", min=1, help="Seconds for the whole verification.")
    ] = 600,
    memory: Annotated[
        float | None,
        typer.Option(
            "--memory",
            metavar="GIB",
            help="Memory that both scripts may take together; default: three quarters of the machine's.",
        ),
    ] = None,
    html: Annotated[
        str | None,
        typer.Option("--html", metavar="FILE", help="Write the report as a page, too (extra `report`)."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print only what went wrong.")] = False,
) -> None:
    """Prove a conversion: run both scripts on virtual devices and compare their training steps.

    Exit status: 0 all checks passed, 2 wrong usage, 3 failed or not comparable, 4 internal error, 130 interrupted.
    """
    from converter.cli.page import problem_with_page, write_page
    from converter.verify import Settings, VerifyError

    settings = Settings(
        gpus=gpus,
        steps=steps,
        batch=batch.value if batch else None,
        python=python,
        args=tuple(args or ()),
        timeout=timeout,
        memory=memory,
    )
    problem = problem_with_page(html) if html else ""
    if problem:
        typer.echo(f"verify: {problem}", err=True)
        raise typer.Exit(2)
    try:
        report = run_verification(single, multi, settings, quiet=quiet)
        if html:
            write_page(report, single, multi, html)
    except VerifyError as error:
        typer.echo(f"verify: {error}", err=True)
        raise typer.Exit(2) from None
    except Refusal as refusal:
        typer.echo(f"verify: {refusal.diagnostic.path}: {refusal.diagnostic.message}", err=True)
        raise typer.Exit(2) from None
    except KeyboardInterrupt:
        typer.echo("verify: interrupted; the scripts were ended", err=True)
        raise typer.Exit(INTERRUPTED) from None
    except Exception:
        typer.echo(
            f"verify: internal error; please report it with this text\n{traceback.format_exc()}", err=True
        )
        raise typer.Exit(4) from None
    _print(report, as_json, quiet)
    raise typer.Exit(0 if report.verdict == "passed" else 3)


def run_verification(
    single: Path,
    multi: Path,
    settings: Settings,
    parts: Mapping[str, bytes] | None = None,
    quiet: bool = False,
    pool: Interpreters | None = None,
) -> Report:
    """What `convert --verify` calls, too: with a progress bar, and ended in order by SIGTERM as by Ctrl-C."""
    from converter.cli.progress import progress_bar
    from converter.verify import verify

    before = signal.signal(signal.SIGTERM, _interrupt)
    try:
        with progress_bar(quiet) as tell:
            return verify(single, multi, settings, parts, tell, pool)
    finally:
        signal.signal(signal.SIGTERM, before)


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


def _print(report: Report, as_json: bool, quiet: bool) -> None:
    from converter.report.verification import render_json, render_text

    if as_json:
        typer.echo(render_json(report))
    elif not quiet:
        typer.echo(render_text(report), nl=False)
    elif report.verdict != "passed":
        print(f"{report.verdict}: {report.reason}", file=sys.stderr)
