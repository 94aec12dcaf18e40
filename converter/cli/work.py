"""One script from reading to writing."""

from __future__ import annotations

import gc
import os
import sys
import traceback
from collections.abc import Iterator
from dataclasses import replace

from converter import conversion
from converter.cli.delivery import Written, deliver, holds, put, takes_several
from converter.cli.freshness import check, header_of, may_be_converted
from converter.cli.proof import traced
from converter.cli.request import STDIN, Job, Request, importers_first, jobs_of
from converter.conversion import Conversion
from converter.diagnostics import Diagnostic, Refusal
from converter.report.results import FileResult
from converter.source import Source, from_bytes, leads_to_tensorflow, load

# The refusal that is none in a folder: most files of a project train nothing.
NO_TRAINING_STEP = "TMG201"
PILED_UP = 500_000  # objects that the collector watches, made and not freed since it last ran: some 100 MB
Findings = tuple[Diagnostic, ...]


def results_of(request: Request) -> Iterator[FileResult]:
    """Works on one file after the other; whatever happens to one, the others are worked on."""
    if not (request.verify or request.trace):
        yield from _results(request)
        return
    from converter.verify.interpreters import opened

    with opened(None) as pool:
        yield from _results(replace(request, pool=pool))


def _results(request: Request) -> Iterator[FileResult]:
    jobs, problems = jobs_of(request)
    yield from (FileResult(problem.path, "refused", (problem,)) for problem in problems)
    written = Written(frozenset(os.path.abspath(job.script.path) for job in jobs))
    for job in importers_first(jobs):
        if os.path.abspath(job.target or job.script.path) not in written.parts:
            yield from _within_its_border(job, request, written)
        if gc.get_count()[0] > PILED_UP:
            gc.collect()


def _within_its_border(job: Job, request: Request, written: Written) -> list[FileResult]:
    path = _name_of(job)
    try:
        return _work_on(job, request, written)
    except Refusal as refusal:
        return [FileResult(path, "refused", (refusal.diagnostic,))]
    except Exception as error:
        message = f"internal error: {type(error).__name__}: {error}"
        hint = "please report it to the project, with the script and what --verbose shows"
        finding = Diagnostic("TMG090", path, 0, 0, message, hint)
        return [FileResult(path, "failed", (finding,), traceback=traceback.format_exc())]


def _work_on(job: Job, request: Request, written: Written) -> list[FileResult]:
    data = sys.stdin.buffer.read() if job.script.path == STDIN else load(job.script.path)
    if _passes_without_tensorflow(job, request) and not leads_to_tensorflow(job.script.path, data):
        return [_left_alone(job, request, data)]
    if request.mode == "check" and not job.script.named and job.target is None and not may_be_converted(data):
        return [FileResult(job.script.path, "unchanged")]
    source = from_bytes(_name_of(job), data)
    header = header_of(source)
    if request.mode == "check" and header is not None:
        return [check(source, header)]
    several = takes_several(job, request)
    done = conversion.convert(source, request.options, several=several, originals=written.originals)
    if done.status == "refused" and request.trace:
        done = traced(done, request, several, written.originals)
    if done.status == "converted":
        return deliver(job, request, done, written)
    if done.status == "failed":
        return [FileResult(source.path, "failed", done.diagnostics)]
    return [_not_converted(job, request, source, done)]


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
        same = holds(job.target, data)
        return FileResult(_name_of(job), "unchanged" if same else "would change", findings, job.target)
    return FileResult(_name_of(job), "unchanged", findings, job.target, put(job, job.target, data))
