"""One script from reading to writing."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Iterator
from dataclasses import replace

from converter import conversion
from converter.cli.freshness import check, header_of, may_be_converted
from converter.cli.request import STDIN, Job, Request, jobs_of
from converter.conversion import Conversion
from converter.diagnostics import Diagnostic, Refusal
from converter.header import relabel
from converter.report.diff import unified
from converter.report.results import FileResult
from converter.source import Source, encode, from_bytes, load, mentions_tensorflow, write

# The refusal that is none in a folder: most files of a project train nothing.
NO_TRAINING_STEP = "TMG201"
Findings = tuple[Diagnostic, ...]


def results_of(request: Request) -> Iterator[FileResult]:
    """Works on one file after the other; whatever happens to one, the others are worked on."""
    jobs, problems = jobs_of(request)
    yield from (FileResult(problem.path, "refused", (problem,)) for problem in problems)
    for job in jobs:
        yield _within_its_border(job, request)


def _within_its_border(job: Job, request: Request) -> FileResult:
    path = _name_of(job)
    try:
        return _work_on(job, request)
    except Refusal as refusal:
        return FileResult(path, "refused", (refusal.diagnostic,))
    except Exception as error:
        message = f"internal error: {type(error).__name__}: {error}"
        hint = "please report it to the project, with the script and what --verbose shows"
        finding = Diagnostic("TMG090", path, 0, 0, message, hint)
        return FileResult(path, "failed", (finding,), traceback=traceback.format_exc())


def _work_on(job: Job, request: Request) -> FileResult:
    data = sys.stdin.buffer.read() if job.script.path == STDIN else load(job.script.path)
    if not mentions_tensorflow(data) and _passes_without_tensorflow(job, request):
        return _left_alone(job, request, data)
    if request.mode == "check" and not job.script.named and job.target is None and not may_be_converted(data):
        return FileResult(job.script.path, "unchanged")
    source = from_bytes(_name_of(job), data)
    header = header_of(source)
    if request.mode == "check" and header is not None:
        return check(source, header)
    done = conversion.convert(source, request.options)
    if done.status == "converted":
        return _deliver(job, request, source, done)
    if done.status == "failed":
        return FileResult(source.path, "failed", done.diagnostics)
    return _not_converted(job, request, source, done)


def _name_of(job: Job) -> str:
    return "<stdin>" if job.script.path == STDIN else job.script.path


def _passes_without_tensorflow(job: Job, request: Request) -> bool:
    """Not where the user names one script and asks for a text that does not exist."""
    if not job.script.named or request.skip or job.copies or request.mode == "in-place":
        return True
    return request.mode == "check" and job.target is None


def _not_converted(job: Job, request: Request, source: Source, done: Conversion) -> FileResult:
    """A script that stays as it is: passed over, or refused where a conversion was what was asked for."""
    errors = [finding for finding in done.diagnostics if finding.severity == "error"]
    trains_nothing = all(finding.code == NO_TRAINING_STEP for finding in errors)
    may_pass = not job.script.named or request.skip or job.copies
    if done.status == "unchanged" and (may_pass or request.mode in ("in-place", "diff", "check")):
        return _left_alone(job, request, source.data, done.diagnostics)
    if errors and trains_nothing and may_pass:
        return _left_alone(job, request, source.data)
    nothing = Diagnostic(
        NO_TRAINING_STEP, source.path, 0, 0, "there is nothing to convert", "name the training script"
    )
    return FileResult(source.path, "refused", done.diagnostics or (nothing,))


def _left_alone(job: Job, request: Request, data: bytes, findings: Findings = ()) -> FileResult:
    """A file that needs no conversion; an output folder gets a copy, for the scripts that import it."""
    if not job.copies or job.target is None:
        return FileResult(_name_of(job), "unchanged", findings)
    if request.mode == "check":
        same = _holds(job.target, data)
        return FileResult(_name_of(job), "unchanged" if same else "would change", findings, job.target)
    return FileResult(_name_of(job), "unchanged", findings, job.target, _write(job, job.target, data))


def _deliver(job: Job, request: Request, source: Source, done: Conversion) -> FileResult:
    """Proves a conversion if asked to, and brings it where it is wanted."""
    text = relabel(done.text or "", _source_as_seen_from(job))
    data = encode(source, text)
    report = ""
    if request.verify:
        from converter.cli.proof import prove

        passed, report = prove(source, data, request.options)
        if not passed:
            hint = "please report it to the project, with the script and this report"
            finding = Diagnostic("TMG012", source.path, 0, 0, "not proven, nothing is written", hint)
            return FileResult(source.path, "unverified", (*done.diagnostics, finding), report=report)
    result = FileResult(source.path, "converted", done.diagnostics, encoding=source.encoding, report=report)
    # The byte order mark belongs to the first line: without it `patch` would not find that line in the file.
    mark = "\ufeff" if source.bom else ""
    if request.mode == "print":
        return replace(result, text=mark + text)
    if request.mode == "diff":
        diff = unified(mark + source.text, mark + text, source.path)
        return replace(result, outcome="would change", diff=diff)
    if request.mode == "check":
        same = _holds(job.target or source.path, data)
        return replace(result, outcome="up to date" if same else "would change", output=job.target)
    assert job.target is not None
    return replace(result, output=job.target, written=_write(job, job.target, data))


def _source_as_seen_from(job: Job) -> str:
    """The source's name for the header: relative to the folder of the file that carries it."""
    if job.script.path == STDIN:
        return "<stdin>"
    if job.target is None:
        return os.path.basename(job.script.path)
    return os.path.relpath(job.script.path, os.path.dirname(job.target) or ".").replace(os.sep, "/")


def _holds(path: str, data: bytes) -> bool:
    return os.path.isfile(path) and load(path) == data


def _write(job: Job, target: str, data: bytes) -> bool:
    """Writes unless the file holds just this already; says whether it wrote."""
    if _holds(target, data):
        return False
    like = None if job.script.path == STDIN else job.script.path
    write(target, data, mode_from=like, make_folders=job.copies)
    return True
