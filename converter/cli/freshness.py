"""Whether a converted file still is what its source gives."""

from __future__ import annotations

import os
import shlex
from contextlib import suppress
from dataclasses import replace

from converter import __version__, conversion
from converter.conversion import Conversion
from converter.diagnostics import Diagnostic, Refusal
from converter.header import Header, HeaderError, find_header, relabel, to_flags
from converter.options import Options
from converter.report.results import FileResult
from converter.source import Source, encode, load, read, same_file

_COMMITS = 50  # of a file's history that are looked into for its original


def header_of(source: Source) -> Header | None:
    """A script's header, None where it was not converted.

    Raises:
        Refusal: TMG010, a header is there, but cannot be read.
    """
    try:
        return find_header(source.text)
    except HeaderError as error:
        hint = "convert the original again, with the version of the tool that knows these options"
        message = f"the header cannot be read: {error}"
        raise Refusal(Diagnostic("TMG010", source.path, error.line, 1, message, hint)) from None


def check_options(converted: Source, header: Header, asked: Options) -> None:
    """Refuses a script that was converted in place before, with other options than this run's.

    Raises:
        Refusal: TMG021.
    """
    held = _as_asked(header.options)
    if asked.target == "auto":  # which is what the script calls for
        held = replace(held, target="auto")
    if held == _as_asked(asked):
        return
    was, wanted = to_flags(held), to_flags(_as_asked(asked))
    message = f"converted before with {shlex.join(was)}; this run asks for {shlex.join(wanted)}"
    hint = (
        f"to keep it: give the options that it was converted with\n"
        f"to change it: restore the original ({_where_original(converted, header)}) and run this again"
    )
    raise Refusal(Diagnostic("TMG021", converted.path, header.line, 1, message, hint))


def _as_asked(options: Options) -> Options:
    """Options as somebody gave them, without what a conversion found out itself."""
    return replace(options, batch=options.asked_batch or options.batch, asked_batch=None, one_gpu=False, traced=())


def _where_original(converted: Source, header: Header) -> str:
    """How to get the text back that a script was converted from, in place."""
    folder, name = os.path.split(os.path.abspath(converted.path))
    import subprocess

    def git(*words: str) -> bytes:
        done = subprocess.run(["git", "-C", folder, *words], capture_output=True, timeout=10)
        return done.stdout if done.returncode == 0 else b""

    from converter.source.text import sha256

    with suppress(OSError, subprocess.SubprocessError):
        for commit in git("log", f"-{_COMMITS}", "--format=%h", "--", name).decode("ascii", "replace").split():
            if sha256(git("show", f"{commit}:./{name}")) == header.sha256:
                return f"git checkout {commit} -- {shlex.quote(converted.path)}"
    return f"the text of {header.source} with sha256 {header.sha256[:12]}…; git does not have it"


def check(converted: Source, header: Header) -> FileResult:
    """Compares a converted script with what its source gives today, under the header's options.

    Raises:
        Refusal: the source is there, but cannot be read.
    """
    origin = os.path.join(os.path.dirname(converted.path), header.source)
    if not os.path.isfile(origin) or same_file(origin, converted.path):
        gone = "was converted in place" if os.path.exists(origin) else f"its source {header.source} is gone"
        finding = Diagnostic(
            "TMG010", converted.path, header.line, 1, f"nothing to compare with: {gone}", severity="info"
        )
        return FileResult(converted.path, "up to date", (finding,))
    source = read(origin)
    if source.sha256 != header.sha256:
        return _stale(converted, header, origin, f"{origin} has changed since the conversion")
    script = read(os.path.join(os.path.dirname(converted.path), header.script)) if header.script else source
    # Files of one project need not have been written together: the script alone comes first.
    for several in (False, True):
        again = conversion.convert(script, header.options, several=several, again=True)
        if _gives(again, source, converted, header):
            return FileResult(converted.path, "up to date")
    if again.text is None:
        reason = f"{script.path} is not converted any more by this version"
        return _stale(converted, header, script.path, reason, again.diagnostics)
    reason = "it, or a file that was converted with it, was edited by hand (converting again needs --force, and "
    reason += "loses the edits)"
    if header.version != __version__:
        reason += f", or version {header.version} wrote it differently from {__version__}"
    return _stale(converted, header, script.path, reason)


def _gives(again: Conversion, source: Source, converted: Source, header: Header) -> bool:
    """Whether a conversion gives just this file; the version in the header alone makes nothing out of date."""
    texts = [part.text for part in again.parts if part.source and same_file(part.source.path, source.path)]
    texts = texts if header.script else [again.text or ""]
    if [encode(source, _named_as(t, header)) for t in texts] != [converted.data]:
        return False
    helpers = (part for part in again.parts if part.source is None and not header.script)
    folder = os.path.dirname(converted.path)
    return all(_holds(os.path.join(folder, os.path.basename(part.path)), part.text) for part in helpers)


def _named_as(text: str, header: Header) -> str:
    """A conversion with the names and the version of another header."""
    return relabel(text, header.source, version=header.version, script=header.script, command=header.command)


def _holds(path: str, text: str) -> bool:
    """Whether a module of helpers has all that a conversion needs; other conversions may need more of it."""
    if not os.path.isfile(path):
        return False
    held = load(path).decode("utf-8", "replace")
    return all(block in held for block in text.split("\n\n\n")[1:])


def _stale(
    converted: Source, header: Header, origin: str, reason: str, more: tuple[Diagnostic, ...] = ()
) -> FileResult:
    again = shlex.join(["tf-multigpu", "convert", origin, "-o", converted.path, *to_flags(header.options)])
    finding = Diagnostic(
        "TMG011", converted.path, header.line, 1, f"not up to date: {reason}", f"convert again: {again}"
    )
    return FileResult(converted.path, "stale", (finding, *more))
