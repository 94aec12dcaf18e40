"""`tf-multigpu lint`: finds mistakes in scripts that use several GPUs by their own means."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from converter.choices import OutputFormat
from converter.cli import formats
from converter.cli.command_line.table import UsageError
from converter.cli.terminal import say
from converter.diagnostics import Refusal
from converter.report import text
from converter.report.results import FileResult, exit_code

if TYPE_CHECKING:
    from converter.source import InputFile

_PASSED_OVER = ("TMG003", "TMG042")  # in a folder: files that are empty, as many __init__.py, and other languages


def lint_command(
    *, sources: Sequence[str], exclude: Sequence[str], output_format: OutputFormat, json: bool, quiet: bool
) -> int:
    """Prints what is found in scripts and folders; returns the exit status: 1 for any finding.

    Raises:
        UsageError: an option that would do nothing.
    """
    from converter.source import expand
    from converter.source.ignored import Excluded

    form = formats.chosen(output_format, json)
    if exclude and all(os.path.isfile(source) for source in sources):
        raise UsageError("leaves files out of folders: name a folder, or leave the script itself out", "--exclude")
    scripts, problems = expand(sources, None, Excluded(tuple(exclude)))
    done = [FileResult(problem.path, "refused", (problem,)) for problem in problems]
    done += [_result(script) for script in scripts]
    if form == "text":
        found = [finding for result in done for finding in result.diagnostics]
        if found:
            say(text.diagnostics(found))
        if not quiet:
            say(text.findings_summary(done))
    else:
        print(formats.of_results(form, done), end="")
    return exit_code(done)


def _result(script: InputFile) -> FileResult:
    """The lint findings for one file; a file of a named folder that is not Python is skipped, as `convert` does."""
    from converter.source import from_bytes, leads_to_tensorflow, load
    from converter.source.pragmas import pragmas_in, without_ignored
    from converter.source.text import in_cells
    from converter.syntax.lint import lint

    try:
        data = load(script.path)
        if not script.named and script.path.endswith(".ipynb") and not leads_to_tensorflow(script.path, data):
            return FileResult(script.path, "clean")
        source = from_bytes(script.path, data)
        if not leads_to_tensorflow(source.path, source.code):
            return FileResult(script.path, "clean")
        found = without_ignored(source.path, pragmas_in(source.text), lint(source))
        found = tuple(in_cells(finding, source) for finding in found)
    except Refusal as refusal:
        if refusal.diagnostic.code in _PASSED_OVER and not script.named:
            return FileResult(script.path, "clean")
        return FileResult(script.path, "refused", (refusal.diagnostic,))
    return FileResult(script.path, "found" if found else "clean", found)
