"""`tf-multigpu convert`."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from typing import Annotated

import typer

from converter.cli.request import Mode, Request, make_request
from converter.header import from_flags
from converter.options import BatchMode, Options, ScaleLr, Variables
from converter.report import text
from converter.report.results import FileResult, exit_code

EPILOG = """
Examples:

[bold]tf-multigpu convert train.py -o train_mg.py[/bold]  for two GPUs, into a new file

[bold]tf-multigpu convert train.py --num-gpus auto --diff[/bold]  show what would change

[bold]tf-multigpu convert train.py -o train_mg.py --verify[/bold]  write only what is proven to train the same

[bold]tf-multigpu convert train.py --output-dir mg/[/bold]  with the files of the project that must change too

[bold]tf-multigpu convert project/ -o project_mg/[/bold]  a folder; what needs no conversion is copied

[bold]tf-multigpu convert --check project/[/bold]  do converted files still match their sources?

Exit status: 0 done; 1 would change or not up to date; 2 refused or bad usage; 3 not proven; 4 internal error.
"""

# Every value is checked where headers are read as well, by from_flags.
TAKES_TEXT = True

_WHERE, _WHAT, _SAYS = "Where it goes", "What is written", "What is said"
_BROKEN_PIPE = 128 + 13


def convert_command(
    sources: Annotated[
        list[str], typer.Argument(metavar="SRC", help="Scripts, or folders of them; - is standard input.")
    ],
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE|DIR|-",
            rich_help_panel=_WHERE,
            help="The file to write, or the folder (it exists, ends with /, or takes several scripts).",
        ),
    ] = None,
    output_dir: Annotated[
        str | None,
        typer.Option(
            metavar="DIR",
            rich_help_panel=_WHERE,
            help="The folder for the script, the files of its project that change with it, and their helpers.",
        ),
    ] = None,
    in_place: Annotated[
        bool, typer.Option("--in-place", rich_help_panel=_WHERE, help="Write over the scripts themselves.")
    ] = False,
    diff: Annotated[
        bool, typer.Option("--diff", rich_help_panel=_WHERE, help="Write nothing; show a unified diff.")
    ] = False,
    check: Annotated[
        bool,
        typer.Option(
            "--check",
            rich_help_panel=_WHERE,
            help="Write nothing; exit 1 for a converted script that no longer matches its source, and for a "
            "named one that would be converted (with -o: whose output is not just that).",
        ),
    ] = False,
    num_gpus: Annotated[
        str,
        typer.Option(
            metavar="N|auto", rich_help_panel=_WHAT, help="Towers; auto counts the GPUs at run time."
        ),
    ] = "2",
    batch: Annotated[
        BatchMode,
        typer.Option(rich_help_panel=_WHAT, help="Whose the script's batch size is: each GPU's, or all's."),
    ] = "per-gpu",
    variables: Annotated[
        Variables, typer.Option(rich_help_panel=_WHAT, help="The device that holds the variables.")
    ] = "cpu",
    scale_lr: Annotated[
        ScaleLr,
        typer.Option("--scale-lr", rich_help_panel=_WHAT, help="How the learning rate grows with the GPUs."),
    ] = "none",
    gpu_memory: Annotated[
        str,
        typer.Option(
            metavar="growth|all|FRACTION",
            rich_help_panel=_WHAT,
            help="How much of each GPU's memory to take: as needed, all, or a fraction of it.",
        ),
    ] = "growth",
    shared: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", rich_help_panel=_WHAT, help="An input that each GPU gets whole. Repeatable."
        ),
    ] = None,
    batch_axis: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=K", rich_help_panel=_WHAT, help="An input whose batch axis is K, not 0. Repeatable."
        ),
    ] = None,
    line_length: Annotated[
        str | None,
        typer.Option(
            metavar="N",
            rich_help_panel=_WHAT,
            help="Of added lines; the project's setting for black if not given.",
        ),
    ] = None,
    verify: Annotated[
        bool, typer.Option("--verify", help="Train both on virtual devices first; write only what is proven.")
    ] = False,
    html: Annotated[
        str, typer.Option("--html", metavar="FILE", help="With --verify: write the proof as a page (extra `report`).")
    ] = "",
    trace: Annotated[
        bool,
        typer.Option(
            "--trace", help="Run a script that reading does not tell enough of, and go by what its calls gave."
        ),
    ] = False,
    python: Annotated[
        str | None,
        typer.Option("--python", metavar="INTERPRETER", help="For --trace: interpreter with TensorFlow."),
    ] = None,
    skip_non_training: Annotated[
        bool,
        typer.Option(
            "--skip-non-training", help="Pass over named scripts that train nothing, as in folders."
        ),
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", rich_help_panel=_SAYS, help="Report as JSON on standard output.")
    ] = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", rich_help_panel=_SAYS, help="Say only why a file was refused.")
    ] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", rich_help_panel=_SAYS, help="Name every file; show tracebacks.")
    ] = False,
) -> None:
    """Rewrite single-GPU training scripts for several GPUs.

    One script without -o, --in-place, --diff or --check is converted to standard output.
    """
    switched: dict[Mode, bool] = {"in-place": in_place, "diff": diff, "check": check}
    try:
        if quiet and verbose:
            raise ValueError("--quiet and --verbose exclude each other")
        options = _options(num_gpus, batch, variables, scale_lr, gpu_memory, shared, batch_axis, line_length)
        modes = [mode for mode, on in switched.items() if on]
        request = make_request(
            sources, output, modes, options, verify, skip_non_training, output_dir, html, trace, python
        )
        if html:
            from converter.cli.page import problem_with_page

            if problem := problem_with_page(html):
                raise ValueError(problem)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
    raise typer.Exit(_run(request, as_json, quiet, verbose))


def _options(
    num_gpus: str, batch: str, variables: str, scale_lr: str, gpu_memory: str,
    shared: list[str] | None, batch_axis: list[str] | None, line_length: str | None,
) -> Options:  # fmt: skip
    flags = ["--num-gpus", num_gpus, "--batch", batch, "--variables", variables]
    flags += ["--scale-lr", scale_lr, "--gpu-memory", gpu_memory]
    flags += [] if line_length is None else ["--line-length", line_length]
    for name in shared or ():
        flags += ["--shared", name]
    for name in batch_axis or ():
        flags += ["--batch-axis", name]
    return from_flags(flags)


def _run(request: Request, as_json: bool, quiet: bool, verbose: bool) -> int:
    from converter.cli.work import results_of

    results = results_of(request)
    try:
        if as_json:
            return _print_json(results)
        done = []
        for result in results:
            done.append(result)
            _print(result, quiet, verbose)
        if not quiet and request.mode not in ("print", "diff") and (verbose or _is_worth_saying(done)):
            typer.echo(text.summary(done), err=True)
        sys.stdout.flush()
        return exit_code(done)
    except BrokenPipeError:
        # Whoever read has seen enough; the interpreter must not fail on the rest when it flushes.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _BROKEN_PIPE


def _print_json(results: Iterable[FileResult]) -> int:
    from converter.report import data

    done = list(results)
    typer.echo(data.results(done))
    return exit_code(done)


def _print(result: FileResult, quiet: bool, verbose: bool) -> None:
    """One file's findings on standard error, its text or diff on standard output."""
    refused = result.outcome == "refused"
    shown = [
        finding
        for finding in result.diagnostics
        if finding.severity == "error"
        or (finding.severity == "warning" and not quiet)
        or (finding.severity == "info" and (verbose or refused))
    ]
    if result.report and (not quiet or result.outcome == "unverified"):
        typer.echo(result.report, err=True)
    if shown:
        typer.echo(text.diagnostics(shown), err=True)
    if result.traceback and verbose:
        typer.echo(result.traceback, err=True)
    if verbose or (not quiet and _is_news(result)):
        typer.echo(text.outcome(result), err=True)
    if result.text is not None:
        _emit(result.text.encode(result.encoding))
    if result.diff:
        _emit_diff(result.diff, result.encoding)


def _is_news(result: FileResult) -> bool:
    """Whether a file's outcome is not yet plain from what is printed of it."""
    return result.written or (result.outcome == "would change" and result.diff is None)


def _is_worth_saying(done: list[FileResult]) -> bool:
    return len(done) > 1 and any(result.outcome != "unchanged" or result.written for result in done)


def _emit(data: bytes) -> None:
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def _emit_diff(diff: str, encoding: str) -> None:
    """In the file's own encoding, so that `patch` takes it; on a terminal in the terminal's, and coloured."""
    if sys.stdout.isatty():
        from converter.report.diff import coloured

        plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
        diff, encoding = diff if plain else coloured(diff), sys.stdout.encoding
    # Only a path in the two first lines can hold what the encoding lacks.
    _emit(diff.encode(encoding, "backslashreplace"))
