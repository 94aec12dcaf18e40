"""Writes or shows a conversion: the script, and the files of its project that change with it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import field, replace
from typing import TYPE_CHECKING

from converter.cli.files.request import STDIN, Job, Request
from converter.dataclass import dataclass
from converter.diagnostics import Diagnostic, Refusal, refusal_of, whole_file
from converter.report.results import FileResult, Fix
from converter.source import Source, encode, from_bytes, load, other_names, write
from converter.source.header import bare, command_flags, find_header, is_converted, relabel
from converter.targets.registry import unused_in

if TYPE_CHECKING:
    from converter.cli.files.guard import OutputRecord
    from converter.cli.files.journal import FileChange
    from converter.conversion import Conversion


@dataclass
class WrittenFiles:
    """The files that this run has written so far.

    jobs: the absolute paths of all scripts of the run. originals: what files held before, by absolute path; the module
        of the helpers by the path that it would have beside the script. parts: by the absolute path of a changed file,
        the script that it changed with, and its bytes.
    beside: the absolute paths of all that was written with a script, the module of the helpers too.
    brought: the folders that copies come from, by the copies' absolute paths.
    targets: the absolute paths of all that was written, or would be. record: of the output folder, None outside of one.
    kept: the absolute paths of what a conversion was to write, and did not, as one of its files is somebody's own.
    """

    jobs: frozenset[str] = frozenset()
    originals: dict[str, bytes] = field(default_factory=dict)
    parts: dict[str, tuple[str, bytes]] = field(default_factory=dict)
    beside: set[str] = field(default_factory=set)
    targets: set[str] = field(default_factory=set)
    brought: dict[str, str] = field(default_factory=dict)
    record: OutputRecord | None = None
    kept: set[str] = field(default_factory=set)

    def keeps(self, target: str) -> bool:
        """True if the file must stay as an earlier run left it, as the files that it belongs to were not written."""
        return os.path.abspath(target) in self.kept and os.path.lexists(target)


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
    def shown(self) -> str:
        """The whole converted file as text, with its byte order mark, so that `patch` finds the first line."""
        return self._mark + self._after

    @property
    def before(self) -> str:
        """The file as it was."""
        return self._mark + self._before

    @property
    def fix(self) -> Fix | None:
        """The changes to a file of the project; None for an added file."""
        return Fix(self.path, self._before, self._after) if self.source else None

    @property
    def _mark(self) -> str:
        return "\ufeff" if self.source and self.source.bom else ""

    @property
    def _after(self) -> str:
        notebook = self.source.notebook if self.source else None
        return notebook.with_script(self.text) if notebook else self.text

    @property
    def _before(self) -> str:
        assert self.source is not None
        return self.source.notebook.json if self.source.notebook else self.source.text

    @property
    def in_place(self) -> bytes | None:
        """The bytes read, if the script is written over itself; None if it is written elsewhere."""
        return self.source.data if self.source and self.target == self.path else None


def takes_several(job: Job, request: Request) -> bool:
    """True if files other than the script can be written too."""
    if job.script.path == STDIN or request.mode in ("print", "file"):
        return False
    return job.into_folder or request.output is None


def without_plans(done: Conversion) -> Conversion:
    """A conversion without its plans: results that come from another process should be small."""
    parts = tuple(replace(part, plan=None, trace=()) for part in done.parts)
    return replace(done, plan=None, trace=(), parts=parts)


def deliver(job: Job, request: Request, done: Conversion, written: WrittenFiles) -> list[FileResult]:
    """Proves a conversion if asked to, and writes or shows it; the script's result comes first.

    Raises:
        Refusal: TMG007, a file cannot be written; TMG008, two conversions differ about one file; TMG020, a file is
            somebody's own; TMG024, it was written by somebody else meanwhile.
    """
    files = files_of(job, request, done)
    left_behind = (f for f in done.diagnostics if f.code != "TMG307" or not _is_of_this_run(f.path, request, written))
    done = replace(done, diagnostics=tuple(left_behind))
    if len(written.jobs) < 2 and (unknown := [finding for finding in done.diagnostics if finding.code == "TMG022"]):
        return [FileResult(done.source.path, "refused", tuple(replace(one, severity="error") for one in unknown))]
    _check_layout(job, request, done)
    for file in files[1:]:
        _check_target(job, request, file, written)
    report = ""
    if request.verify:
        from converter.cli.files.proof import prove

        below = os.path.dirname(done.source.path)
        parts = {os.path.relpath(file.path, below or "."): file.data for file in files[1:]}
        target = job.target or ""
        passed, report = prove(done.source, files[0].data, request, parts, target)
        if not passed:
            hint = "please report it to the project, with the script and this report"
            finding = whole_file("TMG012", done.source.path, "verification failed, nothing is written", hint)
            return [FileResult(done.source.path, "unverified", (*done.diagnostics, finding), report=report)]
    if request.writes or request.compares:
        done = replace(done, diagnostics=(*done.diagnostics, *_hard_links(files)))
    if request.strict and (refusal := strictly(done.diagnostics, done.source.path)):
        return [FileResult(done.source.path, "refused", (*done.diagnostics, refusal))]
    results = [_result(file, request) for file in files]
    from converter.conversion import commands_of

    commands = commands_of(done, job.target or done.source.path, request.options)
    results[0] = replace(
        results[0], diagnostics=done.diagnostics, report=report, decisions=done.decisions, commands=commands
    )
    if request.mode in ("print", "diff", "check"):
        return results
    return _write_all(job, request, files, results, written)


def _is_of_this_run(path: str, request: Request, written: WrittenFiles) -> bool:
    """True if this run converts the file too, or the file lies in the folder that it writes."""
    inside = os.path.join(os.path.abspath(request.output), "") if request.mode == "folder" and request.output else None
    path = os.path.abspath(path)
    return path in written.jobs or (inside is not None and path.startswith(inside))


def source_as_seen_from(job: Job) -> str:
    """The source's name for the header: relative to the folder of the file that carries it."""
    if job.script.path == STDIN:
        return "<stdin>"
    return _seen_from(job.target, job.script.path)


def holds(path: str, data: bytes) -> bool:
    """True if the file holds exactly these bytes."""
    return os.path.isfile(path) and load(path) == data


def put(job: Job, request: Request, written: WrittenFiles, target: str, data: bytes, own: bytes | None = None) -> bool:
    """Writes a file unless it holds exactly this already; True if it wrote, or would have in a run that only compares.

    own: what the file holds that is written over itself; None for others, which must not be somebody's own.

    Raises:
        Refusal: as of `deliver`.
    """
    written.targets.add(os.path.abspath(target))
    if holds(target, data):
        _remember(written, target, data)
        return False
    if own is None and target.endswith(".ipynb") and _was_run(target, data):
        return False
    if own is None and not request.force:
        from converter.cli.files.guard import check_overwriting

        check_overwriting(target, data, written.record)
    if request.compares:
        return True
    like = None if job.script.path == STDIN else job.script.path
    if own is None:
        write(target, data, mode_from=like, make_folders=job.into_folder)
    else:
        write(target, data, before=own)
    _remember(written, target, data)
    return True


def _was_run(target: str, data: bytes) -> bool:
    """Whether a converted notebook differs from the new text only in outputs and numbers of executions."""
    from converter.source.notebook import same_cells

    with suppress(Refusal):  # a file that is not a notebook is copied as it is
        return os.path.isfile(target) and is_converted(from_bytes(target, data).text) and same_cells(load(target), data)
    return False


def _remember(written: WrittenFiles, target: str, data: bytes) -> None:
    if written.record is not None:
        written.record.add(target, data)


def files_of(job: Job, request: Request, done: Conversion) -> list[_File]:
    """The files of a conversion, each with where it goes and its text: the script, then the others."""
    request = replace(request, output=_whole_output(job, done)) if job.into_folder else request
    text = _labelled(done.text or "", job, request, source_as_seen_from(job), job.target)
    files = [_File(done.source.path, done.source, job.target, text)]
    for part in done.parts:
        target = target_of(job, request, part.path)
        text = part.text
        if part.source is not None:
            script = _seen_from(target or part.path, job.script.path)
            text = _labelled(text, job, request, _seen_from(target, part.path), target, script=script)
        files.append(_File(part.path, part.source, target, text))
    return files


def target_of(job: Job, request: Request, path: str) -> str | None:
    """The path to write another file of the project to; None if the script itself is written nowhere."""
    if job.target is None:
        return None
    if request.mode == "in-place":
        return path
    below = os.path.relpath(path, os.path.dirname(job.script.path) or ".")
    return os.path.normpath(os.path.join(os.path.dirname(job.target), below))


def _whole_output(job: Job, done: Conversion) -> str:
    """The folder of --output-dir that writes one script where it goes."""
    folder = os.path.abspath(os.path.dirname(job.target or ""))
    if not done.above:
        return folder
    from converter.source.project.above import start_of

    below = start_of(job.script.path).below
    return folder.removesuffix(os.path.join(os.sep, below)) if below else folder


def _labelled(text: str, job: Job, request: Request, source: str, target: str | None, **changes: str) -> str:
    """A converted file whose header names its source and the command; the request has the folder that it writes."""
    header = find_header(text)
    if header is None:
        return text
    import shlex

    script = source_as_seen_from(job) if target is None else _seen_from(target, job.script.path)
    script = "-" if job.script.path == STDIN else script
    words = ["tf-multigpu", "convert", script]
    if request.mode == "in-place":
        words.append("--in-place")
    elif job.into_folder and target is not None and request.output:
        words += ["--output-dir", os.path.relpath(request.output, os.path.dirname(os.path.abspath(target)))]
    elif target is not None:
        words += ["-o", os.path.basename(target)]
    unused = unused_in(job.script.path, text.encode(), header.options)
    also = request.layers.configured(job.script.path) - set(unused) if request.layers else ()
    return relabel(text, source, command=shlex.join([*words, *command_flags(header.options, also)]), **changes)


def _seen_from(target: str | None, path: str) -> str:
    if target is None:
        return os.path.basename(path)
    return os.path.relpath(path, os.path.dirname(target) or ".").replace(os.sep, "/")


def _check_layout(job: Job, request: Request, done: Conversion) -> None:
    """TMG008 where files that the script finds in a folder above it would not be found from the output."""
    if job.target is None or request.mode == "in-place" or not done.parts:
        return
    here, there = (os.path.dirname(os.path.abspath(path)) for path in (done.source.path, job.target))
    if here == there:
        return
    from converter.source.project.above import seen_from, start_of

    inside = os.path.join(os.path.abspath(request.output or "."), "") if job.into_folder else None
    for folder in done.above:
        place = os.path.join(os.path.normpath(os.path.join(there, os.path.relpath(folder, here))), "")
        if inside is None or not place.startswith(inside):
            names = sorted(seen_from("", os.path.abspath(part.path)) for part in done.parts)
            message = f"{' and '.join(names)} must change with it, and the output has no folder for what is found in "
            message += seen_from("", folder)
            whole = f"convert the folder that holds both, {seen_from('', start_of(job.script.path).root)}"
            hint = "write the whole folder: --output-dir DIR, or --in-place" if job.script.named else whole
            raise refusal_of("TMG008", job.script.path, message, hint)


def _check_target(job: Job, request: Request, file: _File, written: WrittenFiles) -> None:
    """TMG008 where another script's conversion has changed a file in another way, or it would fall out of DIR."""
    if file.target is None or file.source is None:
        return
    other, data = written.parts.get(os.path.abspath(file.target), ("", b""))
    if other and _body(data) != _body(file.data):
        message = f"{file.path} must change with it, and changed in another way with {other}"
        hint = "convert the two scripts into separate folders"
        raise refusal_of("TMG008", job.script.path, message, hint)
    inside = request.mode == "in-place" or request.output is None
    if not inside and os.path.relpath(file.target, request.output).startswith(os.pardir):
        message = f"{file.path} must change with it, and lies outside of the script's folder"
        raise refusal_of("TMG008", job.script.path, message, "convert the folder around both")


def _body(data: bytes) -> str:
    """A file's text without its header, which names the script."""
    return bare(data.decode("latin-1"))


def _result(file: _File, request: Request) -> FileResult:
    result = FileResult(file.target or file.path, "added")
    if file.source:
        result = FileResult(file.path, "converted", encoding=file.source.encoding)
    if request.mode == "print":
        return replace(result, text=file.shown)
    if request.mode == "diff":
        from converter.report.diff import unified

        before, is_new = _before(file)
        diff = unified(before, file.shown, file.path, is_new, request.ignore_space)
        return replace(result, outcome="would change", diff=diff, fix=file.fix)
    if request.mode == "check":
        return replace(result, outcome="would change", output=file.target, fix=file.fix)
    return replace(result, output=file.target)


def _before(file: _File) -> tuple[str, bool]:
    """The old text for a diff, and whether the file is new: the helper module may exist already."""
    if file.source:
        return file.before, False
    if not os.path.exists(file.path):
        return "", True
    return load(file.path).decode("utf-8", "surrogateescape"), False


def _write_all(
    job: Job, request: Request, files: Sequence[_File], results: Sequence[FileResult], written: WrittenFiles
) -> list[FileResult]:
    """Writes the script last; where one file cannot be written, the others are as before."""
    from converter.cli.files.journal import all_or_none

    done: list[FileResult] = []
    changes = [_change(file) for file in files]
    noted = dict(written.record.digests) if written.record is not None else {}
    try:
        with all_or_none(job.script.path, changes, journal=request.mode == "in-place" and not request.compares):
            for file, result in reversed(list(zip(files, results, strict=True))):
                assert file.target is not None
                same = _body(written.parts.get(os.path.abspath(file.target), ("", b""))[1]) == _body(file.data)
                is_new = not same and put(job, request, written, file.target, file.data, file.in_place)
                outcome = ("would change" if is_new else "up to date") if request.compares else result.outcome
                done.insert(0, replace(result, outcome=outcome, written=is_new and not request.compares))
    except Refusal as refusal:
        if written.record is not None:
            written.record.digests = noted
        written.kept |= {os.path.abspath(change.path) for change in changes}
        raise Refusal(_with_script(refusal.diagnostic, job)) from None
    for number, (file, change) in enumerate(zip(files, changes, strict=True)):
        target = os.path.abspath(change.path)
        if number:
            written.beside.add(target)
        if file.source is not None and not request.compares:
            written.originals.setdefault(os.path.abspath(file.path), file.source.data)
        if file.source is not None and number:
            written.parts.setdefault(target, (job.script.path, file.data))
        elif number and file.target != file.path:
            written.originals[os.path.abspath(file.path)] = file.data  # the next script's helpers are added to these
    return done


def _change(file: _File) -> FileChange:
    from converter.cli.files.journal import FileChange

    assert file.target is not None
    there = load(file.target) if os.path.isfile(file.target) else None
    return FileChange(file.target, there if file.in_place is None else file.in_place, file.data)


def _with_script(finding: Diagnostic, job: Job) -> Diagnostic:
    """TMG020 about another file than the script's own, which says that the script is not written either."""
    if finding.code != "TMG020" or finding.path == job.target:
        return finding
    return replace(finding, message=f"{finding.message}; {job.script.path} would change with it, and is not written")


def strictly(findings: Sequence[Diagnostic], path: str) -> Diagnostic | None:
    """TMG031 if there are warnings under --strict; else None."""
    warned = sorted({finding.code for finding in findings if finding.severity == "warning"})
    if not warned:
        return None
    hint = "fix what the warnings name, or accept one on its line: # tf-multigpu: ignore[CODE]"
    return whole_file("TMG031", path, f"--strict takes no warnings, and there is {', '.join(warned)}", hint)


def _hard_links(files: Sequence[_File]) -> list[Diagnostic]:
    """TMG025 for files that are to be written and have other names, which would keep the old text."""
    found = []
    for file in files:
        others = other_names(file.target) if file.target is not None else 0
        if file.target is not None and others and not holds(file.target, file.data):
            names = "1 more name" if others == 1 else f"{others} more names"
            message = f"{file.target} has {names} (hard links), under which the old text stays"
            hint = "link the other names anew when this is done"
            found.append(whole_file("TMG025", file.target, message, hint, severity="warning"))
    return found
