"""Reports on standard output in the formats of --output-format other than text."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from converter.cli.command_line.table import UsageError
from converter.report.results import FileResult

JOB_SUMMARY = "GITHUB_STEP_SUMMARY"  # where GitHub's runners say which file it is

if TYPE_CHECKING:
    from converter.choices import OutputFormat
    from converter.cli.files.request import Mode
    from converter.verify import Report


def chosen(output_format: OutputFormat, json: bool, mode: Mode | None = None) -> OutputFormat:
    """The output format that the options select.

    mode: of `convert`; None for `verify`.

    Raises:
        UsageError: two formats are asked for, or there would be two things on standard output.
    """
    if json and output_format not in ("text", "json"):
        raise UsageError(f"--json and --output-format {output_format} exclude each other")
    if mode == "print" and output_format not in ("text", "json"):
        raise UsageError(
            f"--output-format {output_format} reports on standard output, where the script would go: "
            "add -o FILE, --in-place, --diff or --check"
        )
    return "json" if json else output_format


def of_results(form: OutputFormat, done: Sequence[FileResult]) -> str:
    """A run of `convert`."""
    from converter.report import data, github, markdown, sarif

    if form == "github":
        _summarise(markdown.results(done))
        return github.results(done)
    if form == "markdown":
        return markdown.results(done)
    return (sarif.results(done) if form == "sarif" else data.results(done)) + "\n"


def _summarise(page: str) -> None:
    """Adds to the summary of the job, where GitHub runs one."""
    path = os.environ.get(JOB_SUMMARY)
    if not path:
        return
    try:
        with open(path, "a", encoding="utf-8") as file:
            file.write(page + "\n")
    except OSError as error:
        print(f"the job's summary cannot be written: {path}: {error.strerror}", file=sys.stderr)


def of_report(form: OutputFormat, report: Report, multi: str) -> str:
    """A verification; `multi` is the converted script's path."""
    from converter.report import data, github, markdown, sarif

    if form == "github":
        _summarise(markdown.verification(report))
        return github.verification(report, multi)
    if form == "markdown":
        return markdown.verification(report)
    return (sarif.verification(report, multi) if form == "sarif" else data.verification(report)) + "\n"
