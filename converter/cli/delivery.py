"""Brings a conversion where it is wanted: the script, and the files of its project that change with it."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from converter.cli.request import STDIN, Job, Request
from converter.diagnostics import Diagnostic, Refusal
from converter.header import relabel
from converter.report.results import FileResult, Fix
from converter.source import Source, encode, load, write

if TYPE_CHECKING:
    from converter.conversion import Conversion


@dataclass
class Written:
    """What a run has written so far.

    jobs: the absolute paths of all scripts of the run. originals: what files held before, by absolute
        path. parts: who changed a file with itself, by absolute path: the script, and the bytes.
    beside: the absolute paths of all that was written with a script, the module of the helpers too.
    """

    jobs: frozenset[str] = frozenset()
    originals: dict[str, bytes] = field(default_factory=dict)
    parts: dict[str, tuple[str, bytes]] = field(default_factory=dict)
    beside: set[str] = field(default_factory=set)


@dataclass(frozen=True)
class _File:
    """One file of a conversion: its text with the header as seen from where it goes.

    source: None for the module of the helpers. target: None where it goes to no file.
    """

    path: str
    source: Source | None
    target: str | None
    text: str

    @property
    def data(self) -> bytes:
        return encode(self.source, self.text) if self.source else self.text.encode()

    @property
    def mark(self) -> str:
        # The byte order mark belongs to the first line: without it `patch` would not find that line in the file.
        return "\ufeff" if self.source and self.source.bom else ""


def takes_several(job: Job, request: Request) -> bool:
    """Whether other files than the script have a place to go."""
    if job.script.path == STDIN or request.mode in ("print", "file"):
        return False
    return job.into_folder or request.output is None


def without_plans(done: Conversion) -> Conversion:
    """A conversion with no more than is delivered: what comes from another process is to be small."""
    parts = tuple(replace(part, plan=None, trace=()) for part in done.parts)
    return replace(done, plan=None, trace=(), parts=parts)


def deliver(job: Job, request: Request, done: Conversion, written: Written) -> list[FileResult]:
    """Proves a conversion if asked to, and writes or shows it; the script's result comes first.

    Raises:
        Refusal: TMG007, a file cannot be written; TMG008, two conversions differ about one file.
    """
    files = _files(job, done)
    left_behind = (f for f in done.diagnostics if f.code != "TMG307" or not _is_of_this_run(f.path, request, written))
    done = replace(done, diagnostics=tuple(left_behind))
    for file in files[1:]:
        _check_target(job, request, file, written)
    report = ""
    if request.verify:
        from converter.cli.proof import prove

        below = os.path.dirname(done.source.path)
        parts = {os.path.relpath(file.path, below or "."): file.data for file in files[1:]}
        target = job.target or ""
        passed, report = prove(done.source, files[0].data, request, parts, target)
        if not passed:
            hint = "please report it to the project, with the script and this report"
            finding = Diagnostic("TMG012", done.source.path, 0, 0, "verification failed, nothing is written", hint)
            return [FileResult(done.source.path, "unverified", (*done.diagnostics, finding), report=report)]
    results = [_result(file, request) for file in files]
    results[0] = replace(results[0], diagnostics=done.diagnostics, report=report)
    if request.mode in ("print", "diff", "check"):
        return results
    return _write_all(job, files, results, written)


def _is_of_this_run(path: str, request: Request, written: Written) -> bool:
    """Whether a script is converted in this run too, or is a copy that a run has written."""
    inside = os.path.join(os.path.abspath(request.output), "") if request.mode == "folder" and request.output else None
    path = os.path.abspath(path)
    return path in written.jobs or (inside is not None and path.startswith(inside))


def source_as_seen_from(job: Job) -> str:
    """The source's name for the header: relative to the folder of the file that carries it."""
    if job.script.path == STDIN:
        return "<stdin>"
    return _seen_from(job.target, job.script.path)


def holds(path: str, data: bytes) -> bool:
    """Whether a file has just this in it."""
    return os.path.isfile(path) and load(path) == data


def put(job: Job, target: str, data: bytes) -> bool:
    """Writes unless the file holds just this already; says whether it wrote."""
    if holds(target, data):
        return False
    like = None if job.script.path == STDIN else job.script.path
    write(target, data, mode_from=like, make_folders=job.into_folder)
    return True


def _files(job: Job, done: Conversion) -> list[_File]:
    text = relabel(done.text or "", source_as_seen_from(job))
    files = [_File(done.source.path, done.source, job.target, text)]
    for part in done.parts:
        target = None
        if job.target is not None:
            below = os.path.relpath(part.path, os.path.dirname(job.script.path) or ".")
            target = os.path.normpath(os.path.join(os.path.dirname(job.target), below))
        text = part.text
        if part.source is not None:
            script = _seen_from(target or part.path, job.script.path)
            text = relabel(text, _seen_from(target, part.path), script=script)
        files.append(_File(part.path, part.source, target, text))
    return files


def _seen_from(target: str | None, path: str) -> str:
    if target is None:
        return os.path.basename(path)
    return os.path.relpath(path, os.path.dirname(target) or ".").replace(os.sep, "/")


def _check_target(job: Job, request: Request, file: _File, written: Written) -> None:
    """TMG008 where another script's conversion has changed a file in another way, or it would fall out of DIR."""
    if file.target is None or file.source is None:
        return
    other, data = written.parts.get(os.path.abspath(file.target), ("", b""))
    if other and _body(data) != _body(file.data):
        message = f"{file.path} must change with it, and changed in another way with {other}"
        hint = "convert the two scripts into separate folders"
        raise Refusal(Diagnostic("TMG008", job.script.path, 0, 0, message, hint))
    inside = request.mode == "in-place" or request.output is None
    if not inside and os.path.relpath(file.target, request.output).startswith(os.pardir):
        message = f"{file.path} must change with it, and lies outside of the script's folder"
        raise Refusal(Diagnostic("TMG008", job.script.path, 0, 0, message, "convert the folder around both"))


def _body(data: bytes) -> list[bytes]:
    """A file's lines without its header, which names the script."""
    return [line for line in data.split(b"\n") if not line.startswith(b"# tf-multigpu ")]


def _result(file: _File, request: Request) -> FileResult:
    result = FileResult(file.target or file.path, "added")
    if file.source:
        result = FileResult(file.path, "converted", encoding=file.source.encoding)
    if request.mode == "print":
        return replace(result, text=file.mark + file.text)
    if request.mode == "diff":
        from converter.report.diff import unified

        before, is_new = _before(file)
        diff = unified(before, file.mark + file.text, file.path, is_new, request.ignore_space)
        fix = Fix(file.path, file.source.text, file.text) if file.source else None
        return replace(result, outcome="would change", diff=diff, fix=fix)
    if request.mode == "check":
        if holds(file.target or file.path, file.data):
            return replace(result, outcome="up to date", output=file.target)
        fix = Fix(file.path, file.source.text, file.text) if file.source and file.target is None else None
        return replace(result, outcome="would change", output=file.target, fix=fix)
    return replace(result, output=file.target)


def _before(file: _File) -> tuple[str, bool]:
    """What a diff starts from, and whether there is no such file yet: the module of helpers may be there or not."""
    if file.source:
        return file.mark + file.source.text, False
    if not os.path.exists(file.path):
        return "", True
    return load(file.path).decode("utf-8", "surrogateescape"), False


def _write_all(
    job: Job, files: Sequence[_File], results: Sequence[FileResult], written: Written
) -> list[FileResult]:
    """Writes the script last; where one file cannot be written, the others are as before."""
    undo: list[Callable[[], None]] = []
    done: list[FileResult] = []
    try:
        for file, result in reversed(list(zip(files, results, strict=True))):
            assert file.target is not None
            as_before = _undoing(file.target)
            same = _body(written.parts.get(os.path.abspath(file.target), ("", b""))[1]) == _body(file.data)
            done.insert(0, replace(result, written=not same and put(job, file.target, file.data)))
            undo.append(as_before)
    except Refusal:
        for step in reversed(undo):
            with suppress(OSError, Refusal):
                step()
        raise
    for file in files:
        if file.source is not None and file.target is not None:
            written.originals.setdefault(os.path.abspath(file.path), file.source.data)
    written.beside |= {os.path.abspath(file.target) for file in files[1:] if file.target is not None}
    for file in files[1:]:
        if file.source is not None and file.target is not None:
            written.parts.setdefault(os.path.abspath(file.target), (job.script.path, file.data))
    return done


def _undoing(target: str) -> Callable[[], None]:
    if not os.path.exists(target):
        return lambda: os.unlink(target)
    before = load(target)
    return lambda: write(target, before)
