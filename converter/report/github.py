"""Results as GitHub's workflow commands: each a line that the runner shows as an annotation at its place.

https://docs.github.com/en/actions/reference/workflow-commands-for-github-actions
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from converter.diagnostics import Diagnostic, Severity
from converter.report.excerpt import character
from converter.report.results import EXIT_CODES, FileResult
from converter.verify.data import Report

_COMMANDS: dict[Severity, str] = {"error": "error", "warning": "warning", "info": "notice"}


def results(done: Sequence[FileResult]) -> str:
    """Every finding, and each file that is wrong for a reason that no finding gives."""
    lines = []
    for result in done:
        lines += [_finding(finding) for finding in result.diagnostics]
        wrong = EXIT_CODES[result.outcome] > 0
        if wrong and not any(finding.severity == "error" for finding in result.diagnostics):
            message = result.outcome + (f"\nto write it: {result.again}" if result.again else "")
            lines.append(_command("error", f"tf-multigpu: {result.outcome}", message, result.path))
    return "".join(f"{line}\n" for line in lines)


def verification(report: Report, multi: str) -> str:
    """The verdict, each failed check, and what differs by design."""
    passed = report.verdict == "passed"
    lines = [_command("notice" if passed else "error", f"verify: {report.verdict}", report.reason, multi)]
    for check in report.checks:
        if check.status == "failed":
            lines.append(_command("error", f"verify: {check.name}", check.detail or "failed", multi))
    for entry in report.ledger:
        if entry.fate == "differs":
            lines.append(_command("notice", f"differs by design: {entry.what}", entry.detail, multi))
    return "".join(f"{line}\n" for line in lines)


def _finding(finding: Diagnostic) -> str:
    told = f"{finding.where}, column {finding.column}: {finding.message}" if finding.cell else finding.message
    message = "\n".join(filter(None, [told, finding.hint]))
    place = (finding.line, character(finding)) if finding.line else ()
    place = (finding.file_line, 0) if finding.cell else place
    return _command(_COMMANDS[finding.severity], f"tf-multigpu {finding.code}", message, finding.path, *place)


def _command(kind: str, title: str, message: str, path: str, line: int = 0, column: int = 0) -> str:
    # Annotations stand in files as git names them, without ./ in front.
    where = [f"file={_property(os.path.normpath(path))}"]
    if line:
        where += [f"line={line}", *([f"col={column}"] if column else [])]
    return f"::{kind} {','.join([*where, f'title={_property(title)}'])}::{_data(message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
