"""`verify`: runs the original and the converted script and compares their training steps."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from converter.choices import OutputFormat
from converter.cli import formats
from converter.cli.command_line.table import INTERRUPTED, UsageError
from converter.cli.endings import ended_in_order
from converter.cli.gpu_numbers import gpu_numbers
from converter.cli.terminal import say, shown
from converter.diagnostics import Refusal

if TYPE_CHECKING:
    from converter.cli.config.layers import Layers
    from converter.verify import Interpreters, Report, VerifySettings
    from converter.verify.data import Progress


def verify_command(*, layers: Layers, single: str, multi: str, **given: Any) -> int:
    """Runs both scripts on virtual devices and compares their training steps; returns the exit status.

    given: the values of the options, of which the table says what each means.
    """
    from converter.cli.page import problem_with_page, write_page
    from converter.verify import VerifyError

    layers.check()
    form, html, quiet = formats.chosen(given["output_format"], given["json"]), given["html"], given["quiet"]
    if quiet and given["verbose"]:
        raise UsageError("--quiet and --verbose exclude each other")
    settings = _settings(given)
    problem = problem_with_page(html) if html else ""
    if problem:
        print(f"verify: {problem}", file=sys.stderr)
        return 2
    try:
        folders = Path(single).is_dir() and Path(multi).is_dir()
        more = bool(settings.each_choice or settings.whole or settings.more_gpus)
        if folders and (html or more):
            several = "--html, --whole, --each-choice and several numbers of --gpus"
            raise VerifyError(f"{several} are for two scripts, not for two folders")
        if settings.each_choice and single.endswith(".ipynb"):
            raise VerifyError("--each-choice is for scripts: a notebook has no command line")
        run = _run_folders if folders else _run_more if more else run_verification
        report = run(Path(single), Path(multi), settings, quiet=quiet)
        if html:
            write_page(report, Path(single), Path(multi), html)
    except VerifyError as error:
        print(f"verify: {error}", file=sys.stderr)
        return 2
    except Refusal as refusal:
        print(f"verify: {refusal.diagnostic.path}: {refusal.diagnostic.message}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("verify: interrupted; the scripts were ended", file=sys.stderr)
        return INTERRUPTED
    except Exception as error:
        from converter.cli.crash import crash_report

        told = crash_report(error, [single, multi]) if given["debug"] else traceback.format_exc()
        print(f"verify: internal error; please report it with this text\n{told}", file=sys.stderr)
        return 4
    _print(report, form, multi, quiet, given["verbose"])
    return 0 if report.verdict == "passed" else 3


def _settings(given: Mapping[str, Any]) -> VerifySettings:
    from converter.verify import VerifySettings

    numbers = () if given["gpus"] is None else gpu_numbers(given["gpus"])
    same = {one.name: given[one.name] for one in fields(VerifySettings) if one.name in given}
    other = {
        "gpus": numbers[0] if numbers else None,
        "more_gpus": numbers[1:],
        "steps": "all" if given["whole"] else _steps(given["steps"]),
        "data": given["data_dir"],
    }
    return VerifySettings(**same | other)


def _run_more(single: Path, multi: Path, settings: VerifySettings, quiet: bool) -> Report:
    """The same as `run_verification`, for several numbers of towers and each choice of the command line."""
    from converter.verify import verify_more

    with _followed(quiet) as tell:
        return verify_more(single, multi, settings, tell)


def _run_folders(single: Path, multi: Path, settings: VerifySettings, quiet: bool) -> Report:
    """The same as `run_verification`, for all converted scripts of a folder."""
    from converter.verify import verify_folders

    with _followed(quiet) as tell:
        return verify_folders(single, multi, settings, tell)


@contextmanager
def _followed(quiet: bool) -> Iterator[Callable[[Progress], None] | None]:
    """A function that draws the progress of a verification; until the block ends, signals act as Ctrl-C does."""
    from converter.cli.progress import progress_bar

    with ended_in_order(), progress_bar(quiet) as tell:
        yield tell


def _steps(text: str) -> int | Literal["all"]:
    """The value of --steps: a number, or "all"."""
    if text == "all":
        return "all"
    if not (text.isascii() and text.isdigit() and int(text)):
        raise UsageError(f"--steps takes a number of 1 or more, or all, not {text}", "--steps")
    return int(text)


def run_verification(
    single: Path,
    multi: Path,
    settings: VerifySettings,
    parts: Mapping[str, bytes] | None = None,
    quiet: bool = False,
    pool: Interpreters | None = None,
) -> Report:
    """Run a verification with a progress bar, ended by signals as by Ctrl-C; `convert --verify` calls it, too."""
    from converter.verify import verify

    with _followed(quiet) as tell:
        return verify(single, multi, settings, parts, tell, pool)


def _print(report: Report, form: OutputFormat, multi: str, quiet: bool, verbose: bool) -> None:
    from converter.report.verification import render_summary, render_text

    if form != "text":
        print(formats.of_report(form, report, multi), end="")
    elif not quiet:
        print(shown(render_text(report) if verbose else render_summary(report, multi), sys.stdout), end="")
    elif report.verdict != "passed":
        say(f"{report.verdict}: {report.reason}")
