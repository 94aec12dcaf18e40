"""All other files of a folder: an output folder is a whole working tree."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from converter.cli.files.delivery import WrittenFiles, put, strictly
from converter.cli.files.request import Job, Request, trees_of
from converter.diagnostics import Diagnostic, Refusal, Severity, refusal_of, whole_file
from converter.report.results import FileResult
from converter.source import InputFile, load, not_written
from converter.source.ignored import Ignored
from converter.source.tree import TreeEntry, entries_of

MEGABYTE = 1_000_000
MOST = 20_000  # files in one folder: more are unlikely to be one project


def rest_of_trees(request: Request, jobs: Sequence[Job], written: WrittenFiles) -> Iterator[FileResult]:
    """Copies, links or leaves out the files that no script of the run has written; one result for each file."""
    told = {os.path.abspath(job.script.path) for job in jobs if job.copies}
    for root in trees_of(request):
        ignored = Ignored(root, request.excluded)
        found = entries_of(root, ignored, request.data, request.copy_limit * MEGABYTE, request.output)
        for number, entry in enumerate(found):
            path = os.path.join(root, entry.relative)
            if number == MOST:
                message = f"this folder holds more than {MOST:,} files; those that follow are left out"
                hint = "name what is no part of the project: --exclude PATTERN, or in .gitignore"
                yield FileResult(root, "refused", (whole_file("TMG030", root, message, hint),))
                break
            target = os.path.join(request.output or "", entry.relative)
            if os.path.abspath(path) in told:
                continue
            if os.path.abspath(target) in written.targets:
                if entry.how == "copy" and (finding := _taken(path, target, root, written)):
                    yield FileResult(path, "refused", (finding,))
                continue
            try:
                yield from _brought(entry, path, target, request, written)
            except Refusal as refusal:
                yield FileResult(path, "refused", (refusal.diagnostic,))


def _taken(path: str, target: str, root: str, written: WrittenFiles) -> Diagnostic | None:
    """TMG008 where a file of another folder has gone to the same place, and is not the same."""
    other = written.brought.get(os.path.abspath(target))
    if other is None or other == root or not written.record or written.record.knows(target, load(path)):
        return None
    message = f"{target} is a copy of the file in {other} already, which is not the same"
    return whole_file("TMG008", path, message, "convert the folders into separate ones")


def _brought(entry: TreeEntry, path: str, target: str, request: Request, written: WrittenFiles) -> Iterator[FileResult]:
    if entry.how == "leave out":
        severity: Severity = "warning" if "--copy-limit" in entry.why else "info"
        hint = "--data link links it" if entry.links else "copy it by hand if a script needs it"
        hint += "; --copy-limit MB copies it" if severity == "warning" else ""
        finding = whole_file("TMG030", path, f"left out: {entry.why}", hint, severity=severity)
        refusal = strictly((finding,), path) if request.strict else None
        yield FileResult(path, "refused" if refusal else "left out", (finding, *([refusal] if refusal else [])))
    elif entry.how == "folder":
        _make_folder(target, request)
    elif entry.how == "copy":
        job = Job(InputFile(path, entry.relative, False), target, True, True)
        is_new = put(job, request, written, target, load(path))
        written.brought[os.path.abspath(target)] = path[: -len(entry.relative)] or "."
        if request.compares:
            yield FileResult(path, "would change" if is_new else "unchanged", (), target)
        else:
            yield FileResult(path, "copied", (), target, is_new)
    else:
        yield _linked(entry, path, target, request, written)


def _make_folder(target: str, request: Request) -> None:
    if request.compares:
        return
    try:
        os.makedirs(target, exist_ok=True)
    except OSError as error:
        raise not_written(target, error) from error


def _linked(entry: TreeEntry, path: str, target: str, request: Request, written: WrittenFiles) -> FileResult:
    """A link in the output folder: the same one again, or one to the file or folder itself."""
    leads_to = os.readlink(path) if entry.how == "same link" else os.path.realpath(path)
    written.targets.add(os.path.abspath(target))
    if os.path.islink(target) and os.readlink(target) == leads_to:
        return FileResult(path, "unchanged" if request.compares else "linked", (), target)
    if os.path.lexists(target):
        message = f"the output {target} is there already, and not a link to {leads_to}"
        raise refusal_of("TMG020", target, message, "move it away, or name another output")
    if request.compares:
        return FileResult(path, "would change", (), target)
    try:
        os.makedirs(os.path.dirname(target) or ".", exist_ok=True)
        os.symlink(leads_to, target)
    except OSError as error:
        raise not_written(target, error) from error
    return FileResult(path, "linked", (), target, True)
