"""Checks that a converted file is up to date: converting its source again gives the same text."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from converter import __version__
from converter.cli.command_line.table import CONVERT, WHAT
from converter.conversion import Conversion
from converter.conversion.repeat_conversion import convert_again
from converter.diagnostics import Diagnostic, Refusal
from converter.options import Options, fitting
from converter.report.results import FileResult
from converter.source import Source, encode, load, read, same_file
from converter.source.header import (
    Header,
    HeaderError,
    as_asked,
    bare,
    command_flags,
    field_of,
    find_header,
    relabel,
    to_flags,
)
from converter.source.meaning import has_definitions, same_meaning
from converter.source.pragmas import pragmas_in
from converter.source.text import in_cells
from converter.targets.registry import unused_in

if TYPE_CHECKING:
    from converter.cli.files.request import Request

_COMMITS = 50  # commits of a file's history that are searched for its original


class RunOptions(NamedTuple):
    """The options that a run asks for, and who gives each of them: a flag, or a place in a configuration."""

    options: Options
    given_by: Mapping[str, str] = MappingProxyType({})

    @property
    def by_file(self) -> str:
        """In brackets, the places in configuration files that give options; "" if there are none."""
        places = [place for place in self.given_by.values() if not place.startswith("--")]
        return f" ({', '.join(places)})" if places else ""


def run_options(request: Request, path: str) -> RunOptions:
    """The options that a run gives for one script."""
    given = request.layers.set_by(path) if request.layers else {}
    written = {option.name for option in CONVERT.options if option.panel == WHAT}
    return RunOptions(request.options, {name: place for name, place in given.items() if name in written})


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
        raise Refusal(
            in_cells(Diagnostic("TMG010", source.path, error.line, 1, message=message, hint=hint), source)
        ) from None


def check_options(converted: Source, header: Header, asked: RunOptions) -> None:
    """Refuses a script that was converted in place before, with other options than this run's.

    Raises:
        Refusal: TMG021.
    """
    held, wanted = _compared(converted, header.options, asked.options)
    if held == wanted:
        return
    was, now = to_flags(held), to_flags(wanted)
    message = f"converted before with {shlex.join(was)}; this run asks for {shlex.join(now)}{asked.by_file}"
    hint = (
        f"to keep it: give the options that it was converted with\n"
        f"to change it: restore the original ({_where_original(converted, header)}) and run this again"
    )
    raise Refusal(in_cells(Diagnostic("TMG021", converted.path, header.line, 1, message=message, hint=hint), converted))


def _compared(converted: Source, held: Options, wanted: Options) -> tuple[Options, Options]:
    """The options of a header and of a run, without those that a conversion found out itself."""
    held, wanted = as_asked(held), _fitting(converted, held, wanted)
    if wanted.target == "auto":  # which is what the script calls for
        held = replace(held, target="auto")
    if any(pragma.name in ("shared", "batch-axis") for pragma in pragmas_in(converted.text)):
        # Comments go before what the project says of an input, which is not in the header then.
        names = set(held.shared) | {name for name, _ in held.batch_axes}
        over = set(wanted.of_project) - names
        axes = tuple((name, axis) for name, axis in wanted.batch_axes if name not in over)
        wanted = replace(wanted, shared=tuple(n for n in wanted.shared if n not in over), batch_axes=axes)
    return held, as_asked(wanted)


def _fitting(converted: Source, held: Options, wanted: Options) -> Options:
    """The options that a run asks for, without those of the configuration that have no effect for a converted file."""
    options = replace(wanted, target=held.target)
    return fitting(wanted, unused_in(converted.path, converted.data, options))


def _otherwise(converted: Source, header: Header, asked: RunOptions) -> str:
    """Says which options the run sets to other values than the header; "" if there are none."""
    held, wanted = _compared(converted, header.options, asked.options)
    default, found = Options(), []
    for name, place in asked.given_by.items():
        field = field_of(name)
        if getattr(held, field) != getattr(wanted, field):
            was = to_flags(replace(default, **{field: getattr(held, field)}), {name})
            now = to_flags(replace(default, **{field: getattr(wanted, field)}), {name})
            flag = "--" + name.replace("_", "-")
            found.append(
                f"{_given(flag, now)} is asked for{'' if place == flag else f' by {place}'}, and it has "
                f"{_given(flag, was)}"
            )
    return "; ".join(found)


def _given(flag: str, flags: Sequence[str]) -> str:
    """One option among flags with its values."""
    values = [value for name, value in zip(flags[::2], flags[1::2], strict=True) if name == flag]
    return " ".join([flag, *values]) if values else f"no {flag}"


def _where_original(converted: Source, header: Header) -> str:
    """How to restore the original of a script that was converted in place."""
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


def check(converted: Source, header: Header, asked: RunOptions) -> FileResult:
    """Compares a converted script with what its source gives today under the header's options.

    Those must be what is asked for, as far as anybody asks.

    Raises:
        Refusal: the source is there, but cannot be read.
    """
    origin = os.path.join(os.path.dirname(converted.path), header.source)
    if other := _otherwise(converted, header, asked):
        wanted = _fitting(converted, header.options, asked.options)
        return _stale(converted, header, origin, f"it was converted with other options: {other}", options=wanted)
    if not os.path.isfile(origin) or same_file(origin, converted.path):
        gone = "was converted in place" if os.path.exists(origin) else f"its source {header.source} is gone"
        finding = Diagnostic(
            "TMG010", converted.path, header.line, 1, f"nothing to compare with: {gone}", severity="info"
        )
        return FileResult(converted.path, "up to date", (in_cells(finding, converted),))
    source = read(origin)
    if source.sha256 != header.sha256:
        return _stale(converted, header, origin, f"{origin} has changed since the conversion")
    script = read(os.path.join(os.path.dirname(converted.path), header.script)) if header.script else source
    # Files of one project need not have been written together: the script alone comes first.
    folder, home = os.path.dirname(converted.path), os.path.dirname(script.path) or "."

    def held(path: str) -> bytes:
        there = os.path.join(folder, os.path.relpath(path, home))
        return load(there) if os.path.isfile(there) else b""

    for several in (False, True):
        again = convert_again(script, header.options, several, held)
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
    """True if a conversion gives this file, in whatever layout; another version in the header alone does not count."""
    texts = [part.text for part in again.parts if part.source and same_file(part.source.path, source.path)]
    texts = texts if header.script else [again.text or ""]
    texts = [_named_as(text, header) for text in texts]
    if converted.notebook is not None:  # which may have been run since
        if texts != [converted.text]:
            return False
    elif [encode(source, text) for text in texts] != [converted.data] and not _says_the_same(texts, converted, header):
        return False
    helpers = (part for part in again.parts if part.source is None and not header.script)
    folder, origin = os.path.dirname(converted.path), os.path.dirname(again.source.path) or "."
    places = ((os.path.join(folder, os.path.relpath(part.path, origin)), part.text) for part in helpers)
    return all(_holds(path, text) for path, text in places)


def _says_the_same(texts: Sequence[str], converted: Source, header: Header) -> bool:
    """True if a file differs from the text that a conversion gives only in its layout: a formatter may have written it.

    The digest in the header is that of the layout, and the line ends are not the formatter's.
    """
    if len(texts) != 1 or (wanted := find_header(texts[0])) is None:
        return False
    held = replace(header, text=wanted.text)
    ends = [set(re.findall(r"\r\n|\n|\r", text)) for text in (texts[0], converted.text)]
    return held == wanted and ends[0] == ends[1] and same_meaning(bare(texts[0]), bare(converted.text))


def _named_as(text: str, header: Header) -> str:
    """A conversion with the names and the version of another header."""
    return relabel(text, header.source, version=header.version, script=header.script, command=header.command)


def _holds(path: str, text: str) -> bool:
    """Whether a module of helpers has all that a conversion needs, in any layout; other conversions may need more."""
    if not os.path.isfile(path):
        return False
    held = load(path).decode("utf-8", "replace")
    if all(block in held for block in text.split("\n\n\n")[1:]):
        return True
    return has_definitions(held, text)


def _stale(
    converted: Source,
    header: Header,
    origin: str,
    reason: str,
    more: tuple[Diagnostic, ...] = (),
    options: Options | None = None,
) -> FileResult:
    flags = command_flags(options or header.options)
    again = shlex.join(["tf-multigpu", "convert", origin, "-o", converted.path, *flags])
    finding = Diagnostic(
        "TMG011", converted.path, header.line, 1, message=f"not up to date: {reason}", hint=f"convert again: {again}"
    )
    return FileResult(converted.path, "stale", (in_cells(finding, converted), *more))
